"""Arms that word a question otherwise, show tools otherwise, or ask for a confidence change nothing else."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnomon.conditions.confidence import REQUEST, read_confidence
from gnomon.conditions.tool_names import presented, shown_names
from gnomon.conditions.wording import worded
from gnomon.core.arm import Arm, Wording
from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.sample import Part, Sample, SampleRef
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.report.cluster_codes import plain_design
from gnomon.statistics.design import design
from gnomon.trials.condition import Situation, prompt_of, toolbox_of
from gnomon.trials.recorded_steps import Playback, RecordedResult, RecordedSteps
from gnomon_analyses.statistics.calibration import auroc, calibration
from gnomon_analyses.statistics.spread import spread
from gnomon_published.benchmarks.gtr_bench.prompt import worded_question
from gnomon_published.gazetteer.japan import JAPAN, Gazetteer
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS as ALL_TOOLS
from gnomon_tools.core.toolbox import Toolbox
from gnomon_tools.scene.format import read_scene
from gnomon_worlds.benchmarks.worlds import worlds

SMALL = read_scene(Path(__file__).parents[2] / "examples" / "scenes" / "small.geojson")
REF = SampleRef(sample_id="s", task="t", cell="c", cluster="k")
SAMPLE = Sample(ref=REF, parts=(Part(content="What?"),), target={}, inputs=held(SMALL))
PLAIN = BENCHMARKS.get("sti-bench")  # it has no wordings of its own
TOOLS = ("distance", "list_cameras", "bearing")
GOOD = json.dumps({"start": {"camera": "c1"}, "end": {"camera": "c2"}})
WORDINGS: tuple[tuple[Wording, int], ...] = (("plain", 1), ("formal", 1), ("reordered", 0))
FORM = 'Answer with one JSON object: {"answer": "<letter>"}.'
QUESTION = f"Question: Which camera?\nOptions:\nA. c1\nB. c2\n{FORM}"


def arm_of(**changes: Any) -> Arm:
    return Arm(name="a", agent="react", tools=TOOLS, **changes)


def box(seed: int = 1, **changes: Any) -> Toolbox:
    arm = arm_of(**changes)
    return presented(toolbox_of(SAMPLE, Situation.of(arm, seed=seed)), arm, seed=seed)


def names_of(toolbox: Toolbox) -> list[str]:
    return [schema["function"]["name"] for schema in toolbox.schemas]


def test_an_arm_that_changes_nothing_has_the_toolbox_as_it_is() -> None:
    assert type(box()) is Toolbox


def test_a_renamed_tool_is_the_same_tool() -> None:
    toolbox, shown = box(tool_names="renamed"), shown_names(TOOLS)
    assert names_of(toolbox) == [shown[name] for name in sorted(TOOLS)]
    assert not set(names_of(toolbox)) & set(TOOLS)
    assert toolbox.call(shown["distance"], GOOD) == box().call("distance", GOOD)
    assert toolbox.own_name(shown["distance"]) == "distance"


def test_a_tools_own_name_is_unknown_where_it_is_renamed() -> None:
    toolbox = box(tool_names="renamed")
    observation = toolbox.call("distance", GOOD)
    assert observation.error == "unknown_tool"
    assert ", ".join(names_of(toolbox)) in observation.content


def test_a_toolbox_in_another_keeps_what_it_learns() -> None:
    toolbox = Toolbox([ALL_TOOLS.get("distance")], ToolContext(inputs=held(SMALL)))
    shown = presented(toolbox, Arm(name="a", agent="react", tools=TOOLS, tool_names="renamed"), seed=1)
    assert shown.find(Gazetteer) is None
    shown.learn(JAPAN)
    assert shown.find(Gazetteer) is JAPAN
    assert Playback(RecordedSteps()).toolbox(shown).find(Gazetteer) is JAPAN


def test_schemas_of_renamed_tools_are_one_object_a_process() -> None:
    first, again = box(tool_names="renamed"), box(tool_names="renamed")
    assert [id(schema) for schema in first.schemas] == [id(schema) for schema in again.schemas]


def test_order_follows_the_arm_and_the_seed() -> None:
    by_name = names_of(box())
    assert names_of(box(tool_order="reversed")) == by_name[::-1]
    orders = {tuple(names_of(box(seed, tool_order="shuffled"))) for seed in range(20)}
    assert len(orders) > 1
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(by_name))}
    assert names_of(box(3, tool_order="shuffled")) == names_of(box(3, tool_order="shuffled"))


def test_recorded_results_fit_whatever_tools_are_called() -> None:
    arm = arm_of(tool_names="renamed")
    recorded = RecordedResult(name="distance", arguments=GOOD, observation='{"straight_m": 1.0}')
    playback = Playback(RecordedSteps(results=[recorded]))
    inner = playback.toolbox(toolbox_of(SAMPLE, Situation.of(arm, seed=1)))
    observation = presented(inner, arm, seed=1).call(shown_names(TOOLS)["distance"], GOOD)
    assert observation.content == recorded.observation
    playback.check_used()


@pytest.mark.parametrize("wording", ["plain", "formal", "reordered"])
def test_a_wording_quotes_question_options_and_form(wording: str) -> None:
    text = worded_question(QUESTION, wording)
    assert text is not None
    assert text != QUESTION
    for kept in ("Which camera?", "A. c1\nB. c2", '{"answer": "<letter>"}'):
        assert text.count(kept) == 1


def test_worlds_are_worded_in_the_last_part_alone(tmp_path: Path) -> None:
    samples = worlds.open(
        data=None, select=Select(limit=1), protocol="guarded", media=MediaStore(tmp_path / "media")
    )
    sample = samples.get(samples.refs[0].sample_id)
    other = worded(sample, "formal", worlds)
    assert other.parts[:-1] == sample.parts[:-1]
    assert other.parts[-1] != sample.parts[-1]
    assert worded(sample, "original", worlds) is sample


def test_a_benchmark_without_wordings_keeps_its_words() -> None:
    for wording, place in WORDINGS:
        parts = worded(SAMPLE, wording, PLAIN).parts
        assert len(parts) == 2
        assert parts[place] == SAMPLE.parts[0]


def test_an_official_question_has_no_wording_of_its_own() -> None:
    assert worded_question("Question: x\nOptions:\nA\nRules:\n1. y", "plain") is None


def test_a_confidence_is_asked_for_last() -> None:
    messages = prompt_of(SAMPLE, Situation.of(arm_of(confidence=True), benchmark=PLAIN))
    content = messages[-1]["content"]
    assert isinstance(content, list)
    assert content[-1] == {"type": "text", "text": REQUEST}


@pytest.mark.parametrize(
    ("response", "answer", "confidence"),
    [
        ("A\nConfidence: 80", "A", 0.8),
        ("A\n**Confidence:** 80%", "A", 0.8),
        ("A\nconfidence = 0.75", "A", 0.75),
        ("A\nConfidence: 1", "A", 0.01),
        ("A\nConfidence: 250", "A", None),
        ("Confidence: 10\nA\nConfidence: 90", "A", 0.9),
        ("My confidence: it is A", "My confidence: it is A", None),
        ("", "", None),
    ],
)
def test_a_stated_confidence_is_read_off(response: str, answer: str, confidence: float | None) -> None:
    assert read_confidence(response) == (answer, confidence)


def flat(samples: int, clusters: int) -> Any:
    return design(np.zeros(samples, dtype=np.intp), np.arange(samples, dtype=np.intp) % clusters)


def test_a_planted_spread_is_recovered() -> None:
    chance = np.random.default_rng(5)
    rates = (0.6, 0.6, 0.4, 0.6)
    values = [(chance.random(2_000) < rate).astype(np.float64) for rate in rates]
    apart = spread(values, flat(2_000, 100))
    assert apart.ci95 is not None
    assert apart.p is not None
    assert apart.ci95[0] < 0.1 < apart.ci95[1]
    assert apart.beyond == pytest.approx(0.1, abs=0.03)
    assert apart.p < 1e-6


def test_equal_conditions_have_no_spread() -> None:
    values = np.linspace(0.0, 1.0, 40)
    apart = spread([values, values, values], flat(40, 40))
    assert (apart.observed, apart.beyond, apart.ci95, apart.p) == (0.0, 0.0, None, None)


def test_a_planted_calibration_error_is_recovered() -> None:
    chance = np.random.default_rng(6)
    rates = chance.choice([0.25, 0.45, 0.65], 3_000)
    scores = (chance.random(3_000) < rates).astype(np.float64)
    measured = calibration(rates + 0.2, scores, plain_design([str(at % 100) for at in range(3_000)]))
    assert measured.ece_ci95 is not None
    assert measured.gap_ci95 is not None
    assert measured.ece == pytest.approx(0.2, abs=0.02)
    assert measured.ece_ci95[0] < 0.2 < measured.ece_ci95[1]
    assert measured.gap_ci95[0] < 0.2 < measured.gap_ci95[1]
    assert sum(one.n for one in measured.bins) == 3_000


def test_perfect_confidence_has_an_interval_from_zero() -> None:
    chance = np.random.default_rng(7)
    rates = chance.choice([0.25, 0.65], 400)
    scores = (chance.random(400) < rates).astype(np.float64)
    measured = calibration(rates, scores, plain_design([str(at % 50) for at in range(400)]))
    assert measured.ece_ci95 is not None
    assert measured.ece_ci95[0] == 0.0


def test_auroc_needs_right_and_wrong_answers() -> None:
    assert auroc(np.array([0.5, 0.9]), np.array([True, True])) is None
    assert auroc(np.array([0.1, 0.9]), np.array([False, True])) == 1.0


def test_a_gazetteer_sample_without_tools_is_presented_empty() -> None:
    arm = Arm(name="a", agent="react", tools=(), tool_names="renamed")
    sample = replace(SAMPLE, inputs=held(SMALL, JAPAN))
    toolbox = presented(toolbox_of(sample, Situation.of(arm, seed=1)), arm, seed=1)
    assert toolbox.schemas == []


def test_no_two_tools_are_shown_under_one_name() -> None:
    shown = shown_names(ALL_TOOLS.names())
    assert len(set(shown.values())) == len(shown)
    assert not set(shown.values()) & set(ALL_TOOLS.names())
