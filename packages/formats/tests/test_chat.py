"""Chat lines: each call beside its result, and nothing that a model did not say."""

from typing import Any

from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon_formats.chat import chat_of

ROW = Row(
    job_id="j",
    trial_id="t",
    benchmark="worlds",
    task="GL",
    cell="outdoor.GL",
    sample_id="s1",
    cluster="c",
    model="m",
    arm="tools",
    repeat=0,
    outcome=Outcome.SCORED,
    stop_reason="answered",
    score=1.0,
)
ASKED = {"role": "user", "content": "?"}


def call(number: int, name: str = "speed") -> dict[str, Any]:
    return {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}


def reply(text: str, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "reply", "text": text, "tool_calls": list(calls)}


def result(said: str, name: str = "speed") -> dict[str, Any]:
    return {"kind": "tool", "name": name, "arguments": "{}", "observation": said}


def messages(*steps: dict[str, Any]) -> list[dict[str, Any]]:
    line = chat_of(ROW, {"prompt": [ASKED], "steps": list(steps)})
    assert line is not None
    assert (line["sample_id"], line["arm"], line["score"]) == ("s1", "tools", 1.0)
    said: list[dict[str, Any]] = line["messages"]
    assert said.pop(0) == ASKED
    return said


def test_calls_stand_beside_their_results() -> None:
    said = messages(reply("", call(1), call(2)), result("one"), result("two"), reply("A"))
    assert [message.get("tool_call_id") for message in said] == [None, "c1", "c2", None]
    assert [message["content"] for message in said] == ["", "one", "two", "A"]
    assert said[0]["tool_calls"] == [call(1), call(2)]


def test_a_call_that_was_not_run_is_left_out() -> None:
    said = messages(reply("", call(1), call(2)), result("one"), reply("A", call(3)))
    assert [one["id"] for one in said[0]["tool_calls"]] == ["c1"]
    assert said[-1] == {"role": "assistant", "content": "A"}


def test_a_tool_that_the_agent_called_by_itself_is_no_message() -> None:
    own = result("a plan", "order_visits")
    assert [one["role"] for one in messages(reply("draft"), own)] == ["assistant"]
    assert [one["role"] for one in messages(reply("draft", call(1)), own)] == ["assistant"]


def test_where_nothing_was_said_there_is_no_line() -> None:
    assert chat_of(ROW, None) is None
    assert chat_of(ROW, {"prompt": [ASKED], "steps": [{"kind": "note", "text": "lost"}]}) is None
