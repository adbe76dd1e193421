"""MapEval's prompts, scoring, floors and audit, on a made-up file."""

import json
from pathlib import Path

import pytest

from gnomon.core.benchmark import HasHeuristics, PromptProtocol, SampleSet, ShowsQuestions
from gnomon.core.errors import DataError, SpecError
from gnomon.core.near_equal import find_near_equal
from gnomon.core.sample import SHOWABLE
from gnomon.core.sample_abilities import TellsQuestions
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.spec.rules import parse_spec
from gnomon_analyses.audit.audit import audit
from gnomon_published.benchmarks.mapeval import mapeval
from gnomon_published.benchmarks.mapeval.loader import clusters_of, question_of
from tests.published_maps import CONTEXT, PLACES, ROUTES, ROWS, YES_NO, Row, row, written

FACTS = (*SHOWABLE, "facts")


@pytest.fixture
def made_up(tmp_path: Path) -> Path:
    """A folder with the made-up file."""
    return written(tmp_path)


def opened(folder: Path, protocol: PromptProtocol = "guarded", **select: object) -> SampleSet:
    media = MediaStore(folder / "media")
    return mapeval.open(data=folder, select=Select.model_validate(select), protocol=protocol, media=media)


def prompt(samples: SampleSet, sample_id: str, *, with_facts: bool = False) -> str:
    content = samples.get(sample_id).messages(FACTS if with_facts else SHOWABLE)[0]["content"]
    assert isinstance(content, list)
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def letter_of(samples: SampleSet, sample_id: str, option: str) -> str:
    return next(line[0] for line in prompt(samples, sample_id).splitlines() if line[1:] == f". {option}")


@pytest.mark.parametrize("protocol", ["official", "guarded"])
def test_the_context_is_shown_as_published_where_an_arm_shows_facts_and_nowhere_else(
    made_up: Path, protocol: PromptProtocol
) -> None:
    samples = opened(made_up, protocol)
    assert PLACES in prompt(samples, "2", with_facts=True)
    assert "Quill Lane" not in prompt(samples, "2")
    assert "Is Amberlow Museum open on Tuesday at 4:00 PM?" in prompt(samples, "2")


def test_guarded_options_are_dealt_with_the_unanswerable_one_and_without_empty_ones(made_up: Path) -> None:
    samples = opened(made_up)
    lines = [line for line in prompt(samples, "2").splitlines() if line[1:3] == ". "]
    assert sorted(line[3:] for line in lines) == ["No", "The map data do not answer this.", "Yes"]
    assert [line[0] for line in lines] == ["A", "B", "C"]


def test_the_deal_does_not_know_the_right_option(tmp_path: Path) -> None:
    texts = []
    for correct in (-1, 0, 3):
        rows = [row(1, "Where?", ["a", "b", "c", "d"], correct, PLACES)]
        (tmp_path / "dataset.json").write_text(json.dumps(rows))
        texts.append(prompt(opened(tmp_path), "1"))
    assert len(set(texts)) == 1


def test_positions_of_the_right_option_carry_nothing(tmp_path: Path) -> None:
    rows = [row(number, f"Where is {number}?", ["a", "b", "c", "d"], 0, PLACES) for number in range(400)]
    (tmp_path / "dataset.json").write_text(json.dumps(rows))
    samples = opened(tmp_path)
    letters = [letter_of(samples, str(number), "a") for number in range(400)]
    assert all(50 <= letters.count(letter) <= 110 for letter in "ABCDE")


def test_options_that_read_the_same_are_one_under_guarded_alone(tmp_path: Path) -> None:
    rows = [row(1, "Which?", ["Via A", " Via A", "Via B"], 0, ROUTES)]
    (tmp_path / "dataset.json").write_text(json.dumps(rows))
    assert prompt(opened(tmp_path), "1").count("Via A") == 1
    assert prompt(opened(tmp_path, "official"), "1").count("Via A") == 2


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ('{"option_no": 2, "explanation": "it says so"}', "2"),
        ('Well: {"option_no": 2}. And {"option_no": 1}', "2"),
        ('{"option_no": 0, "explanation": "nothing says"}', "0"),
        ('{"option_no": 5}', None),
        ('{"option_no": -1}', None),
        ('{"option_no": true}', None),
        ('{"answer": 2}', None),
        ("2", None),
        ("{2}", None),
        ("", None),
        ("{" * 9999, None),
    ],
)
def test_the_official_parser_reads_the_first_object_and_nothing_else(
    made_up: Path, response: str, answer: str | None
) -> None:
    score = mapeval.score(opened(made_up, "official").get("1"), response, scoring="official")
    assert score.answer == answer
    assert score.value == float(answer == "2")


def test_zero_is_right_where_the_evidence_does_not_answer(made_up: Path) -> None:
    sample = opened(made_up, "official").get("7")
    assert mapeval.score(sample, '{"option_no": 0}', scoring="official").value == 1.0
    assert mapeval.score(sample, '{"option_no": 1}', scoring="official").value == 0.0
    guarded = opened(made_up)
    letter = letter_of(guarded, "7", "The map data do not answer this.")
    assert mapeval.score(guarded.get("7"), f"Answer: {letter}", scoring="strict").value == 1.0


def test_strict_scoring_wants_one_option(made_up: Path) -> None:
    samples = opened(made_up)
    right, wrong = letter_of(samples, "1", "4.5"), letter_of(samples, "1", "4.1")
    sample = samples.get("1")
    assert mapeval.score(sample, right, scoring="strict").value == 1.0
    assert mapeval.score(sample, wrong, scoring="strict").value == 0.0
    assert mapeval.score(sample, f"{right} or {wrong}", scoring="strict").answer is None
    official = opened(made_up, "official").get("1")
    for response in ("2", "Option 2", '{"option_no": 2}', "4.5"):
        assert mapeval.score(official, response, scoring="strict").value == 1.0
    assert mapeval.score(official, "1 or 2", scoring="strict").answer is None


def test_a_record_is_scored_with_its_published_answer() -> None:
    record = {"answer": {"options": ["a", "b"], "correct": 1}, "response": '{"option_no": 2}'}
    assert mapeval.score_record(record, scoring="official").value == 1.0
    assert mapeval.score_record({**record, "response": None}, scoring="official").answer is None
    with pytest.raises(SpecError) as caught:
        mapeval.score_record({"answer": {"options": ["a"], "correct": 4}, "response": ""}, scoring="strict")
    assert caught.value.field == "answer.correct"


def test_official_jobs_show_the_context_unless_an_arm_says_what_it_shows(made_up: Path) -> None:
    spec = {
        "benchmark": "mapeval",
        "data": str(made_up),
        "models": [{"id": "reference"}],
        "arms": [{"name": "usual", "agent": "direct"}, {"name": "bare", "agent": "direct", "show": []}],
    }
    official = parse_spec({**spec, "protocol": "official", "scoring": "official"}, agents=("direct",))
    assert [arm.show for arm in official.arms] == [FACTS, ()]
    guarded = parse_spec({**spec, "protocol": "guarded"}, agents=("direct",))
    assert guarded.arms[0].show == SHOWABLE


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"answer": None}, "answer"),
        ({"answer": {"options": "ab", "correct": 0}}, "answer.options"),
        ({"answer": {"options": ["a"], "correct": True}}, "answer.correct"),
        ({"question": " "}, "question"),
        ({"context": None}, "context"),
        ({"classification": "cooking"}, "classification"),
        ({"id": None}, "id"),
    ],
)
def test_a_row_that_cannot_be_asked_names_its_field(change: Row, field: str) -> None:
    with pytest.raises(SpecError) as caught:
        question_of({**row(1, "Where?", ["a", "b"], 0, PLACES), **change})
    assert caught.value.field == field


def test_bad_and_repeated_rows_are_faults_and_the_others_are_asked(tmp_path: Path) -> None:
    good = row(1, "Where?", ["a", "b"], 0, PLACES)
    (tmp_path / "dataset.json").write_text(json.dumps([good, good, 3, {**good, "id": 2, "answer": 0}]))
    samples = opened(tmp_path)
    assert [fault.kind for fault in samples.faults] == ["duplicate", "malformed", "malformed"]
    assert [ref.sample_id for ref in samples.refs] == ["1"]
    (tmp_path / "dataset.json").write_text("{}")
    with pytest.raises(DataError, match="no list"):
        opened(tmp_path)


def test_questions_about_a_common_place_are_kin() -> None:
    questions = [
        question_of(row(1, "?", ["a"], 0, "Information of <b>X</b>:\n")),
        question_of(row(2, "?", ["a"], 0, "Information of <b>x</b>:\nInformation of <b>Y</b>:\n")),
        question_of(
            row(3, "?", ["a"], 0, "Nearby Cafes of Y are (sorted by distance in ascending order):\n")
        ),
        question_of(row(4, "?", ["a"], 0, "Information of <b>Z</b>:\n")),
    ]
    clusters = clusters_of(questions)
    assert clusters["1"] == clusters["2"] == clusters["3"] != clusters["4"]


def test_floors_and_views_of_every_question(made_up: Path) -> None:
    samples = opened(made_up)
    assert isinstance(mapeval, HasHeuristics)
    assert isinstance(mapeval, ShowsQuestions)
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        floors = mapeval.heuristic_scores(sample)
        assert floors["unanswerable"] == float(ref.task == "unanswerable")
        assert all(0 <= value <= 1 for value in floors.values())
        assert sum(option.right == "right" for option in mapeval.question_view(sample).options) == 1


def test_the_audit_says_how_many_lines_are_behind_tools(tmp_path: Path) -> None:
    rows = [row(1, "Open?", YES_NO, 0, CONTEXT), row(2, "Rated?", ["4.5", "3"], 0, PLACES)]
    (tmp_path / "dataset.json").write_text(json.dumps(rows))
    findings = audit(mapeval, data=tmp_path, select=Select(), media=MediaStore(tmp_path / "media"))
    behind = len([line for line in (CONTEXT + PLACES).splitlines() if line.strip()]) - 1
    assert findings.remarks[0].startswith(
        f"Lines of evidence behind tools: {behind} of {behind + 1}; all of 1"
    )
    assert "place 4" in findings.remarks[1]
    assert findings.fault_counts["not_behind_tools"] == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"id": "x" * 201}, "id: has 201 characters; at most 200 are read"),
        ({"question": "?" * 10_001}, "question: has 10,001 characters"),
        ({"context": "x" * 100_001}, "context: has 100,001 characters"),
        ({"answer": {"options": ["x" * 2_001], "correct": 0}}, "answer.options: has 2,001 characters"),
        ({"question": "Where\0?"}, "question: holds what no database can hold"),
        ({"id": "\ud800"}, "id: holds what no database can hold"),
        ({"answer": {"options": ["Yes", " "], "correct": 1}}, "answer.correct: names an empty option"),
        ({"answer": {"options": ["", " "], "correct": -1}}, "answer.options: has empty texts alone"),
    ],
)
def test_a_row_with_a_text_that_cannot_be_asked_is_malformed(
    tmp_path: Path, change: dict[str, object], says: str
) -> None:
    good = row(1, "Where?", ["a", "b"], 0, PLACES)
    (tmp_path / "dataset.json").write_text(json.dumps([good, {**good, "id": 2, **change}]))
    samples = opened(tmp_path)
    assert [ref.sample_id for ref in samples.refs] == ["1"]
    [fault] = samples.faults
    assert fault.kind == "malformed"
    assert fault.detail.startswith(says)


def test_a_question_under_another_id_is_near_equal_to_itself(tmp_path: Path) -> None:
    options = {"type": "mcq", "options": ROWS[0]["answer"]["options"][::-1], "correct": 2}
    rows = [*ROWS, {**ROWS[0], "id": 99, "answer": options}]
    (tmp_path / "dataset.json").write_text(json.dumps(rows))
    samples = opened(tmp_path)
    assert isinstance(samples, TellsQuestions)
    found = find_near_equal(samples.asked())
    assert found.groups == (("1", "99"),)
    assert found.contradictions == ()
