"""TravelPlanner's samples, prompts, replies, floors and data faults, on a made-up file."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.benchmark import (
    HasHeuristics,
    PromptProtocol,
    PutsVerdictsInWords,
    SampleSet,
    ShowsQuestions,
)
from gnomon.core.errors import DataError, SpecError
from gnomon.core.sample import SHOWABLE, Sample, SampleRef
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_analyses.audit.audit import audit
from gnomon_tools.core.inputs import held
from gnomon_trips.benchmarks.travelplanner import travelplanner
from gnomon_trips.benchmarks.travelplanner.floors import first_listed_plan, greedy_plan
from gnomon_trips.benchmarks.travelplanner.loader import task_of
from gnomon_trips.benchmarks.travelplanner.scoring import read_plan
from tests.published_trips import EASY, GOOD_PLAN, HARD, rows, written

FACTS = (*SHOWABLE, "facts")
TEXT_PLAN = "\n".join(
    f"**Day {day['days']}:**\nCurrent City: {day['current_city']}\nTransportation: {day['transportation']}\n"
    f"Breakfast: {day['breakfast']}\n**Attraction:** {day['attraction']}\nLunch: {day['lunch']}\n"
    f"Dinner: {day['dinner']}\nAccommodation: {day['accommodation']}\n"
    for day in GOOD_PLAN
)


@pytest.fixture
def made_up(tmp_path: Path) -> Path:
    """A folder with the made-up file."""
    return written(tmp_path)


def opened(folder: Path, protocol: PromptProtocol = "guarded", **select: object) -> SampleSet:
    media = MediaStore(folder / "media")
    return travelplanner.open(
        data=folder, select=Select.model_validate(select), protocol=protocol, media=media
    )


def prompt(sample: Sample, *, with_facts: bool) -> str:
    content = sample.messages(FACTS if with_facts else SHOWABLE)[0]["content"]
    assert isinstance(content, list)
    return "\n".join(block["text"] for block in content if block["type"] == "text")


@pytest.mark.parametrize("protocol", ["official", "guarded"])
def test_the_information_is_shown_where_an_arm_shows_facts_and_nowhere_else(
    made_up: Path, protocol: PromptProtocol
) -> None:
    sample = opened(made_up, protocol).get("1")
    assert "Brine Spice" in prompt(sample, with_facts=True)
    assert "Brine Spice" not in prompt(sample, with_facts=False)
    assert EASY in prompt(sample, with_facts=False)
    assert "Brine Diner 0" not in prompt(sample, with_facts=False)


def test_levels_are_cells_and_tasks_with_a_common_city_are_kin(made_up: Path) -> None:
    refs = {ref.sample_id: ref for ref in opened(made_up).refs}
    assert (refs["1"].cell, refs["2"].cell) == ("easy", "hard")
    assert refs["1"].cluster == refs["2"].cluster
    assert [ref.sample_id for ref in opened(made_up, tasks=("hard",)).refs] == ["2"]


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("{", "malformed"),
        ({**rows()[0], "idx": 3, "query": "Somewhere nice, please."}, "malformed"),
        ({**rows()[0], "idx": 3, "query": EASY.replace("Brine", "Calder")}, "malformed"),
        ({**rows()[0], "idx": 3, "reference_information": {"Weather": []}}, "malformed"),
        ({**rows()[0], "idx": 3, "query": EASY.replace("March 1st", "February 30th")}, "malformed"),
        ({**rows()[0], "idx": 3, "query": EASY.replace("$1", "$" + 5_000 * "1")}, "malformed"),
        (rows()[0], "duplicate"),
    ],
)
def test_what_cannot_be_read_is_a_data_fault(tmp_path: Path, row: object, kind: str) -> None:
    samples = opened(written(tmp_path, row))  # type: ignore[arg-type] # a row, or a line that is none
    assert [fault.kind for fault in samples.faults] == [kind]
    assert len(samples.refs) == 2


def test_a_fault_says_which_line_and_what_is_wrong_with_it(tmp_path: Path) -> None:
    broken, repeated = opened(written(tmp_path, '{"idx": ', "", rows()[0])).faults
    assert (broken.sample_id, broken.detail) == ("line 3", "Expecting value: line 1 column 9 (char 8)")
    assert repeated.detail == "line 5 repeats the idx; the first one counts"


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps({"plan": GOOD_PLAN}),
        f"Here it is:\n```json\n{json.dumps(GOOD_PLAN)}\n```\nEnjoy!",
        f"<think>{json.dumps({'plan': GOOD_PLAN[:1]})}</think>{json.dumps({'plan': GOOD_PLAN})}",
        f"{json.dumps({'plan': GOOD_PLAN[:2]})} No, rather: {json.dumps({'plan': GOOD_PLAN})}",
        f"Travel Plan:\n{TEXT_PLAN}",
    ],
)
def test_a_plan_is_read_in_any_of_its_forms(made_up: Path, reply: str) -> None:
    sample = opened(made_up).get("1")
    for scoring in ("strict", "official"):
        score = travelplanner.score(sample, reply, scoring=scoring)  # type: ignore[arg-type] # two names
        assert (score.value, score.flags) == (1.0, ())
        assert score.metrics["final_pass"] == 1.0


@pytest.mark.parametrize("reply", ["", "I cannot.", "[]", '{"plan": []}', '{"plan": [1]}', "[" * 5000])
def test_nothing_is_delivered(made_up: Path, reply: str) -> None:
    score = travelplanner.score(opened(made_up).get("1"), reply, scoring="strict")
    flag = "not_delivered" if reply else "not_delivered: the answer is empty"
    assert (score.value, score.flags, score.metrics["delivered"]) == (0.0, (flag,), 0.0)


_texts = st.text() | st.sampled_from(["-", "Brine", "from Amberlow to Brine", "Brine House, Brine", "from"])
_fields = st.sampled_from([*GOOD_PLAN[0], "more"])
_plans = st.lists(st.dictionaries(_fields, _texts | st.none() | st.integers() | st.lists(_texts)), max_size=5)


@given(reply=st.text() | _plans.map(lambda plan: json.dumps({"plan": plan})))
def test_whatever_a_model_writes_gets_a_score(reply: str) -> None:
    task = task_of(rows()[0])
    ref = SampleRef(sample_id="1", task="easy", cell="easy", cluster="1")
    sample = Sample(ref=ref, parts=(), target={"task": task}, inputs=held(task.sandbox))
    for scoring in ("strict", "official"):
        score = travelplanner.score(sample, reply, scoring=scoring)  # type: ignore[arg-type] # two names
        assert score.value is not None
        assert isinstance(travelplanner, PutsVerdictsInWords)
        assert travelplanner.verdict_in_words(sample, score.answer or "", score.metrics)


def test_thousands_of_blank_lines_are_read_at_once() -> None:
    assert read_plan("\n" * 90_000 + "Day 1:\n" + " " * 5_000) is None


def test_verdicts_are_in_words(made_up: Path) -> None:
    sample = opened(made_up).get("1")
    assert isinstance(travelplanner, PutsVerdictsInWords)
    good = travelplanner.score(sample, json.dumps(GOOD_PLAN), scoring="strict")
    assert travelplanner.verdict_in_words(sample, good.answer or "", {}) == (
        "Every rule that applies is kept; the plan costs $460 of $1,000."
    )
    bad = travelplanner.score(sample, json.dumps(GOOD_PLAN[:2]), scoring="strict")
    assert "complete (2 days instead of 3)" in travelplanner.verdict_in_words(sample, bad.answer or "", {})
    assert isinstance(travelplanner, ShowsQuestions)
    assert travelplanner.question_view(sample).facts["Budget"] == "$1,000"


def test_a_record_is_scored_with_a_reply_or_a_plan() -> None:
    row = {"id": "7", **rows()[0]}
    assert travelplanner.score_record({**row, "plan": GOOD_PLAN}, scoring="official").value == 1.0
    assert travelplanner.score_record({**row, "response": TEXT_PLAN}, scoring="strict").value == 1.0
    assert travelplanner.score_record({**row, "plan": None}, scoring="strict").flags == ("not_delivered",)
    with pytest.raises(SpecError, match="query"):
        travelplanner.score_record({"id": "7", "response": "", "query": ""}, scoring="strict")


def test_greedy_plans_are_floors(made_up: Path) -> None:
    samples = opened(made_up)
    assert isinstance(travelplanner, HasHeuristics)
    scores = {
        ref.sample_id: travelplanner.heuristic_scores(samples.get(ref.sample_id)) for ref in samples.refs
    }
    assert scores["1"] == {"greedy by cost": 0.0, "first listed": 0.0}  # both take the lodging of 3 nights
    easy = task_of(rows()[0]).sandbox
    assert greedy_plan(easy) != first_listed_plan(easy)
    minding = greedy_plan(easy, {"minimum_nights"})
    assert minding is not None
    assert minding[0]["accommodation"] == "Brine Shared, Brine"


def test_the_audit_judges_the_peoples_plans(made_up: Path) -> None:
    findings = audit(travelplanner, data=made_up, select=Select(), media=MediaStore(made_up / "media"))
    assert "Of 1 people's plans 1 keep every rule." in findings.remarks
    assert "The exact planner plans 2 of 2 tasks and proves 0 infeasible." in findings.remarks


def test_a_folder_without_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"train\.jsonl"):
        opened(tmp_path)


def test_the_hard_task_is_read_whole(made_up: Path) -> None:
    task = opened(made_up).get("2").target["task"]
    assert task.query == HARD
    assert task.sandbox.cities == ("Brine", "Calder")
    assert task.sandbox.ride("taxi", "Brine", "Calder").price_usd == 300
