"""Own questions as a benchmark: options dealt anew, floors, audit, tools, and what people are shown."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gnomon.benchmarks.questions import questions
from gnomon.benchmarks.questions.question import displayed_in
from gnomon.core.benchmark import (
    BENCHMARKS,
    ReadsOwnFiles,
    sketch_of,
    verdict_of,
    view_of,
)
from gnomon.core.errors import DataError, FaultyFile, SpecError
from gnomon.core.sample import Sample
from gnomon.core.select import Select
from gnomon.core.tool_inputs import usable_tools
from gnomon.core.transforms import RefusesTransforms, Transforms
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.rules import Context, check_spec, open_samples
from gnomon_analyses.audit.audit import audit
from gnomon_tools.core.toolbox import TOOLS
from gnomon_tools.scene.scene import Scene
from gnomon_workers.open_job import open_spec

EXAMPLES = Path(__file__).parents[3] / "examples" / "questions"
ARMS = [{"name": "raw", "agent": "direct"}]
SPEC: dict[str, Any] = {"benchmark": "questions", "models": [{"id": "reference"}], "arms": ARMS}
CONTEXT = Context(agents=("direct", "react"), is_request=False, is_trusted=True)
DIRECTIONS = ["north", "south", "east", "west"]


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def choices(count: int) -> list[dict[str, Any]]:
    """Questions of which the first option is always right."""
    return [
        {
            "id": str(at),
            "question": f"Where is hill {at}?",
            "options": DIRECTIONS,
            "answer": "A",
            "task": "hill",
        }
        for at in range(count)
    ]


def opened(path: Path, protocol: Any = "guarded", **select: Any) -> Any:
    media = MediaStore(path.parent / "media")
    return questions.open(data=path, select=Select(**select), protocol=protocol, media=media)


def samples_of(path: Path, protocol: Any = "guarded", **select: Any) -> dict[str, Sample]:
    samples = opened(path, protocol, **select)
    return {ref.sample_id: samples.get(ref.sample_id) for ref in samples.refs}


def held(spec: dict[str, Any], folder: Path) -> tuple[JobSpec, Any]:
    checked = check_spec({**SPEC, **spec}, CONTEXT)
    return checked, open_samples(checked, MediaStore(folder / "media"))


def test_guarded_prompts_deal_the_options_anew_and_official_ones_keep_them(tmp_path: Path) -> None:
    path = written(tmp_path, choices(40))
    assert {displayed_in(sample).gold for sample in samples_of(path, "official").values()} == {"A"}
    golds = [displayed_in(sample).gold for sample in samples_of(path).values()]
    assert set(golds) == set("ABCD")
    for sample in samples_of(path).values():
        question = displayed_in(sample)
        assert question.options[question.gold] == "north"
        assert questions.score(sample, question.gold, scoring="strict").value == 1
        assert f"{question.gold}. north" in str(sample.parts[-1].content)


def test_the_audit_finds_that_the_first_option_is_always_right_and_that_guarding_ends_it(
    tmp_path: Path,
) -> None:
    rows = [
        *choices(40),
        {"id": "same", "question": "Where is hill 0?", "options": DIRECTIONS, "answer": "B"},
    ]
    rows += [
        {"id": f"n{at}", "question": f"Name {at}?", "answer": "Oslo", "context": "In Oslo."} for at in (1, 2)
    ]
    path = written(tmp_path, rows)
    findings = audit(questions, data=path, select=Select(), media=MediaStore(tmp_path / "media"))
    first = {
        accuracy.view: accuracy.value
        for accuracy in findings.accuracies
        if (accuracy.shortcut, accuracy.cell) == ("first option", "hill")
    }
    assert first["official"] == 1.0
    assert first["guarded"] < 0.6
    kinds = {(fault.kind, fault.sample_id) for fault in findings.faults}
    assert {kind for kind, _ in kinds} == {"contradiction", "answer_in_prompt", "same_prompt"}
    assert ("answer_in_prompt", "n1") in kinds
    assert not findings.surviving


def test_floors_are_the_first_and_longest_option_and_the_answers_of_other_questions(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "o", "question": "Q", "options": ["a", "longer"], "answer": "longer"},
        *(
            {"id": f"n{at}", "question": "Q", "answer": value, "scorer": "number"}
            for at, value in enumerate([1, 5, 5, 9])
        ),
        *({"id": f"t{at}", "question": "Q", "answer": value} for at, value in enumerate(["x", "x", "y"])),
        {"id": "alone", "question": "Q", "answer": "z", "task": "other"},
    ]
    samples = samples_of(written(tmp_path, rows), "official")
    floors = {sample_id: dict(questions.heuristic_scores(sample)) for sample_id, sample in samples.items()}  # type: ignore[attr-defined]
    assert floors["o"] == {"first option": 0.0, "longest option": 1.0}
    medians = [floors[f"n{at}"]["median of the other answers"] for at in range(4)]
    assert medians == [0.0, 1.0, 1.0, 0.0]
    common = [floors[f"t{at}"]["most common other answer"] for at in range(3)]
    assert common == [1.0, 1.0, 0.0] or common == [0.0, 1.0, 0.0]
    assert floors["alone"] == {}


def test_options_are_permuted_and_answers_mapped_back(tmp_path: Path) -> None:
    path = written(tmp_path, choices(1))
    sample = samples_of(path)["0"]
    assert isinstance(questions, Transforms)
    turned = questions.transformed(
        sample, "permute_options", seed=1, show=(), media=MediaStore(tmp_path / "media")
    )
    question = displayed_in(turned)
    assert question.options[question.gold] == "north"
    assert question.gold != displayed_in(sample).gold
    assert questions.score(turned, question.gold, scoring="strict").value == 1
    assert questions.answer_in_original(turned, question.gold) == {
        "original_answer": displayed_in(sample).gold
    }


def test_a_transform_of_questions_without_options_is_refused_with_the_tasks_that_have_some(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, [*choices(2), {"question": "Q", "answer": "a", "task": "name"}])
    spec = {"data": str(path), "arms": [{**ARMS[0], "transform": "permute_options"}]}
    assert isinstance(opened(path), RefusesTransforms)
    with pytest.raises(SpecError, match=r"1 of 3 questions have no options.*those of: hill") as refused:
        held(spec, tmp_path)
    assert refused.value.field == "arms.0.transform"
    _, samples = held({**spec, "select": {"tasks": ["hill"]}}, tmp_path)
    assert len(samples.refs) == 2


def test_tasks_are_those_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, [*choices(2), {"question": "Q", "answer": "a", "task": "name"}])
    _, samples = held({"data": str(path), "select": {"tasks": ["name"]}}, tmp_path)
    assert [ref.cell for ref in samples.refs] == ["name"]
    with pytest.raises(SpecError, match="no 'nmae'; allowed: hill, name") as refused:
        held({"data": str(path), "select": {"tasks": ["nmae"]}}, tmp_path)
    assert refused.value.field == "select.tasks"


def test_columns_and_scorer_of_a_spec_reach_the_file_and_are_left_out_of_other_specs(tmp_path: Path) -> None:
    path = written(tmp_path, [{"prompt": "How far?", "answer": 5}])
    scorer = {"number": {"tolerance": 1, "unit": "m"}}
    spec, samples = held({"data": str(path), "columns": {"question": "prompt"}, "scorer": scorer}, tmp_path)
    sample = samples.get("1")
    assert spec.plugin().score(sample, "Answer: 5.5 m", scoring="strict").value == 1
    assert spec.model_dump(mode="json")["scorer"] == scorer
    plain = check_spec({**SPEC, "data": str(path)}, CONTEXT).model_dump(mode="json")
    assert not {"columns", "scorer"} & set(plain)


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"columns": {"answr": "a"}}, "columns", "no column 'answr'; allowed: id, question"),
        ({"scorer": "numbr"}, "scorer", "no 'numbr'; allowed: option"),
        ({"scorer": {"point": {}}}, "scorer.point.within_m", "required"),
        ({"data": None}, "data", "needs your file of questions"),
        ({"data": "nowhere.jsonl"}, "data", "does not exist"),
    ],
)
def test_a_spec_of_own_questions_is_refused_by_its_field(
    change: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(SpecError) as refused:
        check_spec({**SPEC, "data": str(EXAMPLES), **change}, CONTEXT)
    assert refused.value.field == field
    assert words in refused.value.message


def test_a_faulty_file_keeps_its_lines_when_a_spec_is_checked(tmp_path: Path) -> None:
    path = written(tmp_path, [{"question": "Q", "answer": "a", "images": "gone.png"}])
    with pytest.raises(FaultyFile, match=r"1 fault in 1 of 1 lines\n  line 1: images"):
        held({"data": str(path)}, tmp_path)


def test_the_examples_hold_pictures_and_scenes_that_tools_can_measure(tmp_path: Path) -> None:
    samples = samples_of(shutil.copytree(EXAMPLES, tmp_path / "questions"), limit=5)
    assert set(samples) == {"harbour", "old-town", "hillside", "park", "square"}
    for sample in samples.values():
        assert sample.scene is not None
        assert not sample.missing
        view = view_of(questions, sample)
        assert len(view.pictures) == 1
        assert view.truth_text
        assert view.facts["Scorer"] in ("number", "option", "set")
    assert {"distance", "bearing", "look_closer"} <= set(usable_tools(questions))
    assert "find_place" not in usable_tools(questions)


def test_people_are_shown_the_truth_and_where_an_answer_lies(tmp_path: Path) -> None:
    rows = [
        {"id": "p", "question": "Where?", "answer": "60.17, 24.94", "scorer": {"point": {"within_m": 50}}},
        {"id": "i", "question": "When?", "answer": "10-20", "scorer": "interval", "tags": "night, rain"},
    ]
    samples = samples_of(written(tmp_path, rows))
    point, interval = samples["p"], samples["i"]
    view = view_of(questions, point)
    assert view.truth.plane == "earth"
    assert view.truth.marks
    assert sketch_of(questions, point, "Answer: 60.2, 24.9").marks
    score = questions.score(point, "60.17, 24.95", scoring="strict")
    assert "m away" in verdict_of(questions, point, score.answer, score.metrics)
    whole = "I looked at the map for long.\nAnswer: 12-18"
    metrics = questions.score(interval, whole, scoring="strict").metrics
    assert verdict_of(questions, interval, whole, metrics) == "Answered 12-18; right is 10-20 (overlap 60%)."
    assert view_of(questions, interval).truth.spans[0].end_s == 20
    assert view_of(questions, interval).facts["Tags"] == "night, rain"
    assert verdict_of(questions, interval, None, {}) == "No answer could be read."


def test_records_are_scored_with_the_scorer_they_name() -> None:
    record = {"answer": "right", "options": ["left", "right"], "response": "(B)"}
    assert questions.score_record(record, scoring="strict").value == 1
    assert questions.score_record({"answer": "a", "response": None}, scoring="strict").value == 0
    own = BENCHMARKS.get("questions")
    assert isinstance(own, ReadsOwnFiles)
    by_number = own.reading({}, "number")
    assert by_number.score_record({"answer": 5, "response": "5.0"}, scoring="strict").value == 1
    with pytest.raises(SpecError, match="response may be null"):
        questions.score_record({"answer": "a"}, scoring="strict")


def test_without_a_file_there_are_no_questions(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="needs a file"):
        questions.open(data=None, select=Select(), protocol="guarded", media=MediaStore(tmp_path))


def test_tags_select_questions_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    rows = [{**row, "tags": ["night"] if at % 2 else ["day", "rain"]} for at, row in enumerate(choices(6))]
    path = written(tmp_path, rows)

    def chosen(*tags: str) -> int:
        samples = questions.open(
            data=path, select=Select(tags=tags), protocol="guarded", media=MediaStore(tmp_path / "media")
        )
        return len(samples.refs)

    assert (chosen("night"), chosen("rain"), chosen("rain", "night")) == (3, 3, 6)
    with pytest.raises(SpecError, match="no 'dusk'; allowed: day, rain, night"):
        chosen("dusk")


COLUMNS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "an empty scene": {"scene": ""},
    "a scene": {"scene": "square.geojson"},
}


def with_all_tools(arms: Any, path: Path, **change: Any) -> list[set[str]]:
    return [set(arm.tools) for arm in held({"data": str(path), "arms": arms, **change}, path.parent)[0].arms]


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
@pytest.mark.parametrize("held_in_a_row", list(COLUMNS))
def test_all_tools_are_those_for_which_some_row_of_the_file_has_something(
    tmp_path: Path, suffix: str, held_in_a_row: str
) -> None:
    shutil.copy(EXAMPLES / "square.geojson", tmp_path)
    columns = COLUMNS[held_in_a_row]
    rows = [{"id": "a", "question": "Which way?", "answer": "b"} | dict.fromkeys(columns, "")]
    rows += [{"id": "b", "question": "How far?", "answer": "c"} | columns]
    path = tmp_path / f"questions.{suffix}"
    if suffix == "csv":
        path.write_text("\n".join(",".join(row) for row in (rows[0].keys(), *(r.values() for r in rows))))
    else:
        path.write_text("\n".join(map(json.dumps, rows)))
    tools = {tool.name for tool in TOOLS.own() if tool.needs is None}
    if held_in_a_row == "a scene":
        tools |= {tool.name for tool in TOOLS.own() if tool.needs is Scene}
    arm = {"name": "tools", "agent": "react", "tools": "all"}
    assert with_all_tools([ARMS[0], arm], path) == [set(), tools]
    assert with_all_tools({"preset": "ladder"}, path)[-1] == tools
    dropped = with_all_tools({"preset": "leave_one_out", "tools": "all"}, path)
    assert len(dropped) == len(tools) + 1


def test_a_column_of_another_name_counts_for_all_tools_and_a_list_is_left_as_it_is(tmp_path: Path) -> None:
    scene = json.loads((EXAMPLES / "square.geojson").read_text())
    path = written(tmp_path, [{"question": "Which way?", "answer": "b", "town": scene}])
    arm = {"name": "tools", "agent": "react", "tools": "all"}
    (without,) = with_all_tools([arm], path)
    (with_scene,) = with_all_tools([arm], path, columns={"scene": "town"})
    assert "bearing" in with_scene - without
    assert with_all_tools([{**arm, "tools": ["bearing"]}], path) == [{"bearing"}]


def test_a_file_that_cannot_be_read_is_refused_as_ever_whatever_tools_there_are(tmp_path: Path) -> None:
    arm = {"name": "tools", "agent": "react", "tools": "all"}
    path = tmp_path / "questions.jsonl"
    with pytest.raises(SpecError, match="does not exist"):
        with_all_tools([arm], path)
    path.write_text("{")
    with pytest.raises(FaultyFile, match="is no JSON"):
        with_all_tools([arm], path)


def test_a_job_goes_on_with_no_other_file_than_that_it_was_frozen_with(tmp_path: Path) -> None:
    path = written(tmp_path, choices(3))
    media = MediaStore(tmp_path / "media")
    spec, _ = held({"data": str(path)}, tmp_path)
    assert spec.data_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert len(open_spec(spec, media).samples.refs) == 3
    written(tmp_path, [*choices(2), {**choices(3)[2], "answer": "B"}])
    named = rf"{path.name} is not the file .* {spec.data_sha256[:12]}"
    with pytest.raises(DataError, match=named):
        open_spec(spec, media)
    with pytest.raises(DataError, match=named):  # nor does a posted spec of another file
        held({"data": str(path), "data_sha256": spec.data_sha256}, tmp_path)
    older = spec.model_copy(update={"data_sha256": None})  # jobs of versions that kept no hash
    assert len(open_spec(older, media).samples.refs) == 3
