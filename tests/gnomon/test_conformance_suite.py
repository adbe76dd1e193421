"""The public conformance suite finds what is wrong, and says what would be right."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from gnomon.core.agent import AgentContext
from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.model import Reply, Request
from gnomon.core.score import Score
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast
from gnomon_conformance import NotKept, checks
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult


class Args(ToolArgs):
    """A number."""

    metres: float | None = Field(default=None, description="some metres")
    short: int = Field(default=1, description="few")


class Loose(ToolResult):
    """A number without a unit."""

    far: float


def crash(_: ToolContext, args: Args) -> Loose:
    return Loose(far=1 / args.short)


class Chatty:
    """An agent that never ends and answers otherwise than its model."""

    name, uses_tools, description = "chatty", True, "Talks"

    async def answer(self, context: AgentContext) -> str:
        return f"I think {(await context.generate(context.prompt)).text}"


class Careless:
    """Worlds, whose scorer fails on what no model should write."""

    def __init__(self) -> None:
        self._worlds = BENCHMARKS.get("worlds")

    def __getattr__(self, name: str) -> Any:
        return "" if name == "version" else getattr(self._worlds, name)

    def score(self, sample: Any, response: str, **_: Any) -> Score:
        return Score(value=float(response[0] == "A"))

    def score_record(self, record: Mapping[str, Any], **_: Any) -> Score:
        return Score(value=0.0)


class Wordless:
    """A provider whose model leaves out the text of a reply that has a call."""

    name, calls_network, description = "wordless", False, "Calls the tool it is offered."

    def __init__(self) -> None:
        self.id = "wordless/model"

    def open(self, *_: Any) -> "Wordless":
        return self

    async def reply(self, request: Request) -> Reply:
        return Reply(text=None if request.tools else "Paris")  # type: ignore[arg-type]

    async def close(self) -> None:
        return None


def same(options: PresetOptions, _: Any) -> ArmPlan:
    arms = (options.arm("a"), options.arm("b"))
    return ArmPlan(arms=arms, contrasts=(contrast("a", "b", "", "tools"),))


def faults(plugin: Any, **more: Any) -> dict[str, str]:
    found = {}
    for check in checks(plugin, **more):
        try:
            check()
        except (NotKept, IndexError) as error:
            found[str(check)] = f"{type(error).__name__}: {error}"
    return found


def parts(found: Mapping[str, str], words: Mapping[str, str]) -> Sequence[bool]:
    assert set(found) == set(words), found
    return [words[name] in found[name] for name in words]


def test_a_tool_is_told_what_it_lacks() -> None:
    tool = Tool(name="far", description="Too short", args=Args, run=crash, needs=None)
    words = {
        "says_what_it_does": "41 to 299 characters",
        "describes_every_argument": "argument 'short': Field(description=…)",
        "has_a_plain_schema": "holds ",
        "results_carry_units_and_an_error": "*error*",
        "answers_whatever_a_model_sends": "ZeroDivisionError",
    }
    found = faults(tool)
    found.pop("has_a_plain_schema", None)
    words.pop("has_a_plain_schema")
    assert all(parts(found, words)), found


def test_an_agent_is_told_what_it_does_otherwise() -> None:
    words = {
        "says_what_it_is": "ends with a full stop",
        "hands_back_the_text_of_the_model": "'I think Paris'",
        "ends_with_a_model_that_only_ever_calls_tools": "the model never answered",
        "runs_tools_only_if_it_says_so": "uses_tools is True",
    }
    assert all(parts(faults(Chatty()), words))


def test_a_benchmark_is_told_what_its_scorer_cannot_bear(tmp_path: Path) -> None:
    words = {
        "says_what_it_is": "version: a text",
        "scores_whatever_a_model_writes": "IndexError",
        "refuses_records_that_lack_what_scoring_needs": "nothing was raised",
    }
    assert all(parts(faults(Careless()), words))


def test_a_preset_is_told_that_its_arms_are_the_same() -> None:
    preset = Preset(name="same", description="Two of a kind.", options=PresetOptions, plan=same)
    words = {
        "makes_arms_that_all_differ": "'a' and 'b' are the same",
        "contrasts_differ_in_what_they_name_alone": "say what it isolates",
    }
    assert all(parts(faults(preset), words))


def test_a_model_is_told_what_it_gets_wrong_where_there_is_a_tool() -> None:
    assert all(parts(faults(Wordless()), {"opens_a_model_that_replies": "its text is a str"}))


@pytest.mark.parametrize("plugin", [Chatty, 3, "tool"])
def test_what_is_no_plugin_is_refused(plugin: object) -> None:
    with pytest.raises(TypeError, match=r"is a class|is no Tool and no Preset"):
        checks(plugin)
