"""Results of servers' tools dealt anew: of the same form, consistent, and without what was said."""

import json
import sys

import pytest

from gnomon.conditions.tool_names import presented
from gnomon.core.arm import Arm, Faults
from gnomon.core.sample import Sample, SampleRef
from gnomon.trials.condition import Situation, toolbox_of
from gnomon.trials.dealt_text import dealt, enumerations, said_in, stretched
from gnomon_tools.core.tool import TextResult, ToolContext
from gnomon_tools.servers.listing import ListedTool
from gnomon_tools.servers.server_spec import McpServer, ToolServer
from gnomon_tools.servers.tool import ServerArgs, ServerTool, server_tool

TEXTS = [
    '{"datetime": "2026-11-23T12:46:03+01:00", "day_of_week": "Monday", "is_dst": false}',
    '{\n  "distance_m": 12.5,\n  "n": 3\n}',
    "The bakery is 140 m to the north, open until 18:30.",
    "- first: 12\n- second: 34\n- third: 56",
    "17",
]


@pytest.mark.parametrize("content", TEXTS)
def test_a_deal_keeps_form_and_length_and_is_the_same_for_a_trial(content: str) -> None:
    deals = {dealt(content, key=str(seed), kept=()) for seed in range(20)}
    assert content not in deals
    assert len(deals) > 10
    assert dealt(content, key="1", kept=()) == dealt(content, key="1", kept=())
    for other in deals:
        assert abs(len(other) - len(content)) <= 5  # words of a set differ in length
        if content.startswith("{"):
            assert json.loads(other).keys() == json.loads(content).keys()


def test_what_the_call_said_stays_unless_nothing_else_could_change() -> None:
    kept = frozenset(said_in({"a": 5, "when": "at 12:30", "names": ["x"]}))
    assert {"5", "12:30", "x"} <= kept
    assert dealt("5 plus 7", key="k", kept=kept).startswith("5 plus ")
    assert dealt("5", key="k", kept=kept) != "5"
    assert dealt("nothing to deal", key="k", kept=()) == "nothing to deal"


def test_words_of_the_tools_own_enumerations_are_exchanged() -> None:
    words = tuple(enumerations({"properties": {"colour": {"enum": ["red", "green", "blue"]}}}))
    assert dealt("It is red.", key="k", kept=(), words=words) in ("It is green.", "It is blue.")


def test_no_is_exchanged_as_an_answer_and_not_before_a_noun() -> None:
    assert dealt("Error: no such column: street", key="k", kept=()) == "Error: no such column: street"
    assert dealt("Is it open? No, it rains.", key="k", kept=()) == "Is it closed? Yes, it rains."


def test_a_silent_fault_stretches_numbers_moves_clock_times_and_leaves_dates() -> None:
    wrong = stretched("12 m on 2026-11-23 at 12:30, utf-8, v1.2.3")
    assert wrong == "18 m on 2026-11-23 at 14:07, utf-8, v1.2.3"


def answering(content: str) -> ServerTool:
    listed = ListedTool(shown="s__ask", name="ask", parameters={"type": "object", "properties": {}})
    plain = server_tool("s", ToolServer(mcp=McpServer(command=[sys.executable])), listed)

    def run(_: ToolContext, __: ServerArgs) -> TextResult:
        return TextResult(text=content, pictures=())

    fields = {name: getattr(plain, name) for name in plain.__dataclass_fields__}
    return ServerTool(**{**fields, "run": run})


SAMPLE = Sample(ref=SampleRef(sample_id="s1", task="t", cell="t", cluster="s1"), parts=(), target={})


def observed(content: str, **arm: object):
    fields = {"name": "a", "agent": "react", "tools": ["s__ask"], **arm}
    toolbox = toolbox_of(
        SAMPLE, Situation.of(Arm.model_validate(fields), seed=3), tools=(answering(content),)
    )
    return toolbox.call("s__ask", "{}")


def test_every_kind_of_arm_works_on_a_servers_tool() -> None:
    live = observed("The way is 140 m long.")
    assert (live.content, live.injected) == ("The way is 140 m long.", None)
    placebo = observed("The way is 140 m long.", results="other_scene")
    assert (placebo.injected, placebo.content != live.content) == ("dealt", True)
    assert placebo.content.startswith("The way is ")
    assert observed("Done.", results="other_scene").injected == "neutral"
    assert "says nothing about this question" in observed("140 m", results="neutral").content
    silent = observed("The way is 140 m long.", faults=Faults(kind="silent", rate=1.0))
    assert (silent.content, silent.injected) == ("The way is 210 m long.", "silent_transient")
    explicit = observed("The way is 140 m long.", faults=Faults(kind="explicit", rate=1.0))
    assert (explicit.error, explicit.injected) == ("injected", "explicit_transient")


def test_a_servers_tool_can_be_renamed() -> None:
    arm = Arm(name="a", agent="react", tools=("s__ask",), tool_names="renamed")
    inner = toolbox_of(SAMPLE, Situation.of(arm, seed=3), tools=(answering("7"),))
    toolbox = presented(inner, arm, seed=3)
    (name,) = [schema["function"]["name"] for schema in toolbox.schemas]
    assert name.startswith("tool_")
    assert toolbox.own_name(name) == "s__ask"
    assert toolbox.call(name, "{}").content == "7"
