"""What tools work on: a new kind of input is a type and a tool, and no file of Gnomon's own."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from gnomon.core.arm import Arm
from gnomon.core.sample import Sample, SampleRef
from gnomon.trials.condition import Situation, toolbox_of
from gnomon.trials.donors import Donors
from gnomon_published.gazetteer.japan import JAPAN, Gazetteer
from gnomon_tools.core.inputs import BlindInput, held
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.core.toolbox import Toolbox


@dataclass(frozen=True)
class Heights(BlindInput):
    """Heights above the sea by place."""

    by_place_m: tuple[tuple[str, float], ...]

    def stand_in(self, other: "Heights | None", *, seed: int) -> "Heights | None":
        """The places of this one with the heights of the other."""
        pairs = zip(self.by_place_m, other.by_place_m, strict=False) if other else ()
        return Heights(tuple((own[0], theirs[1]) for own, theirs in pairs))


class HeightArgs(ToolArgs):
    """Which place."""

    place: str


class Height(ToolResult):
    """Its height."""

    height_m: float


def run(context: ToolContext, args: HeightArgs) -> Height:
    """Look it up."""
    heights = context.find(Heights)
    assert heights is not None
    return Height(height_m=dict(heights.by_place_m)[args.place])


height = Tool(name="height", description="Tell a height.", args=HeightArgs, run=run, needs=Heights)


def sample_of(number: int, heights: Heights | None) -> Sample:
    ref = SampleRef(sample_id=f"s{number}", task="t", cell="t", cluster=f"c{number}")
    return Sample(ref=ref, parts=(), target={}, inputs=held(heights))


SAMPLES = {
    f"s{number}": sample_of(number, Heights((("hut", 100.0 * number), ("peak", 500.0 * number))))
    for number in (1, 2, 3)
}


class AllSamples:
    """The three of them."""

    faults: Any = ()
    refs = tuple(sample.ref for sample in SAMPLES.values())

    def get(self, sample_id: str) -> Sample:
        return SAMPLES[sample_id]


def answer(sample: Sample, results: Any = "live") -> Any:
    arm = Arm(name="a", agent="react", results=results)
    donors = Donors(sample, AllSamples(), seed=1)
    box = toolbox_of(sample, Situation.of(arm, seed=1, donors=donors), tools=(height,))
    return box.call("height", json.dumps({"place": "hut"}))


def test_a_tool_works_on_a_new_kind_of_input() -> None:
    assert json.loads(answer(SAMPLES["s2"]).content) == {"height_m": 200.0}
    assert answer(sample_of(4, None)).error == "unknown_tool"


def test_another_sample_answers_for_it_under_a_blind_placebo() -> None:
    observed = answer(SAMPLES["s2"], "other_scene")
    assert json.loads(observed.content)["height_m"] in (100.0, 300.0)
    assert observed.injected == "other_scene"


@pytest.mark.parametrize("need", ["trip", "nothing", int, Heights(())])
def test_a_need_that_is_no_type_of_input_is_refused_by_name_of_what_is_allowed(need: Any) -> None:
    with pytest.raises(TypeError, match=r"the tool 'height': needs=.* allowed: None, .*Heights \(.*Scene \("):
        Tool(name="height", description="Tell a height.", args=HeightArgs, run=run, needs=need)


def test_a_value_that_is_no_input_is_refused() -> None:
    with pytest.raises(TypeError, match="str is no type of input"):
        held("trip")  # type: ignore[arg-type]


def test_what_is_at_hand_anywhere_is_found_where_no_question_is_asked() -> None:
    assert ToolContext(is_free=True).find(Gazetteer) is JAPAN
    assert ToolContext().find(Gazetteer) is None
    assert ToolContext(is_free=True).find(Heights) is None
    toolbox = Toolbox([height], ToolContext())
    toolbox.learn(SAMPLES["s1"].inputs[Heights])
    assert [schema["function"]["name"] for schema in toolbox.schemas] == ["height"]
