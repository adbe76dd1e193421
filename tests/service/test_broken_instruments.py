"""An endpoint that spoils one arm's replies makes no verdict: a report names it, and its advice mends it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gnomon_workers.store.store import Store
from tests.chat_provider import ChatProvider, Refusal
from tests.workers.desk import Desk, Spec

QUESTIONS, OF_A_CLUSTER = 24, 2
CALL = {"name": "describe_path", "arguments": {"points": [[0, 0], [10, 0]]}}
JSON, NAME, ARGUMENTS = json.dumps(CALL), CALL["name"], json.dumps(CALL["arguments"])
AS_TEXT = {
    "bare JSON": JSON,
    "a fence": f"```json\n{JSON}\n```",
    "Hermes": f"<tool_call>\n{JSON}\n</tool_call>",
    "Mistral": f"[TOOL_CALLS][{JSON}]",
    "Llama": f"<function={NAME}>{ARGUMENTS}</function>",
    "DeepSeek": f"<｜tool▁call▁begin｜>{NAME}<｜tool▁sep｜>{ARGUMENTS}<｜tool▁call▁end｜>",
}


class Spoiling(ChatProvider):
    """A model that knows every second answer by itself, and all with a tool; its server has one fault."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        text = json.dumps(request["messages"])
        number = int(re.findall(r"Number (\d+) is", text)[-1])
        has_looked = any(message["role"] == "tool" for message in request["messages"])
        has_looked = has_looked or "Observation" in json.dumps(request["messages"][1:])
        offers = bool(request.get("tools")) or "Action:" in text
        answer = number if number % 2 or has_looked else number + 1
        message: dict[str, Any] = {"role": "assistant", "content": f"Answer: {answer}"}
        if not offers:
            return message
        if self.fault == "malformed" and request.get("tools"):
            raise Refusal(500, "The model's output does not match the expected peg-native format")
        if self.is_spoilt(request):
            return {**message, **SPOILT[self.fault]}
        if has_looked and not (self.fault == "repeated" and not request.get("temperature")):
            return message
        if not request.get("tools"):
            return {**message, "content": f"Action: {json.dumps(CALL)}"}
        if self.fault in AS_TEXT:
            return {**message, "content": AS_TEXT[self.fault]}
        function = {"name": CALL["name"], "arguments": json.dumps(CALL["arguments"])}
        call = {"id": "c1", "type": "function", "function": function}
        return {**message, "content": None, "tool_calls": [call]}

    def is_spoilt(self, request: dict[str, Any]) -> bool:
        """Whether the server's fault shows in the reply to this request with tools."""
        match self.fault:
            case "cut":
                return int(request.get("max_tokens") or 0) < 1000
            case "thought only" | "empty":
                return bool(request.get("chat_template_kwargs", {}).get("enable_thinking", True))
            case "unreadable":
                return bool(request.get("tools"))
            case "never called":
                return request.get("tool_choice") != "required" and not any(
                    message["role"] == "tool" for message in request["messages"]
                )
        return False

    def finish_reason(self, request: dict[str, Any]) -> str:
        is_cut = self.fault == "cut" and request.get("tools") and self.is_spoilt(request)
        return "length" if is_cut else "stop"


SPOILT: dict[str, dict[str, Any]] = {
    "cut": {"content": "Let me work this out step by step: first"},
    "thought only": {"content": "", "reasoning_content": "It must be the number that was named."},
    "empty": {"content": ""},
    "unreadable": {"content": "I have looked at the path, and all of it is done."},
    "never called": {"content": "Answer: 1"},
}
MENDED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {  # by fault: model, arm, words of the advice
    "cut": ({"max_tokens": 2000}, {}, "Raise `models[].max_tokens` above 200."),
    "thought only": (
        {"options": {"chat_template_kwargs": {"enable_thinking": False}}},
        {},
        "`chat_template_kwargs: {enable_thinking: false}`",
    ),
    "empty": (
        {"options": {"chat_template_kwargs": {"enable_thinking": False}}},
        {},
        "or turn thinking off in the model's `options`",
    ),
    "repeated": ({"temperature": 0.7}, {}, "Raise `models[].temperature`"),
    "unreadable": ({}, {"agent": "text-react"}, "change the `scorer` or the arm's `agent`"),
    "malformed": ({}, {"agent": "text-react"}, "give the arm `agent: text-react`"),
    "never called": ({}, {"tool_choice": "required"}, "set `tool_choice: required`"),
    **{form: ({"tool_calls": "text"}, {}, "Set the model's `tool_calls: text`") for form in AS_TEXT},
}
SAID = {  # and calls as text
    **{fault: fault for fault in ("cut", "thought only", "unreadable", "empty")},
    "repeated": "spent on the same call",
    "malformed": "unreadable",
}
KINDS = {
    "thought only": "thought_only",
    "never called": "never_called",
    "repeated": "repeated_calls",
    "malformed": "unreadable",
}


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> Desk:
    lines = [
        {
            "id": f"q{number:02}",
            "question": f"Number {number} is the number. Which is it?",
            "answer": str(number),
            "scorer": "number",
            "cluster": f"c{number // OF_A_CLUSTER}",
        }
        for number in range(QUESTIONS)
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return Desk(store, tmp_path, str(path))


@pytest.mark.parametrize("fault", list(MENDED))
def test_a_broken_instrument_is_named_and_its_advice_mends_it(desk: Desk, fault: str) -> None:
    model_fix, arm_fix, words = MENDED[fault]

    def report(model: Spec, arm: Spec) -> Spec:
        tools = {"name": "tools", "agent": "react", "tools": ["describe_path"], **arm}
        arms = [{"name": "raw", "agent": "direct"}, tools]
        model = {"max_tokens": 200, **model}
        analysis = {"primary": ["raw", "tools"]}
        return desk.run(desk.post(provider.url, model, arms=arms, analysis=analysis, concurrency=8))

    with Spoiling(fault) as provider:
        broken = report({}, {})
        mended = report(model_fix, arm_fix)
    [contrast] = [each for each in broken["contrasts"] if each["scope"] == "all"]
    kind = "call_in_text" if fault in AS_TEXT else KINDS.get(fault, fault)
    [told] = [alert for alert in broken["alerts"] if alert["kind"] == kind]
    if fault in SAID or fault in AS_TEXT:
        said = SAID.get(fault, "calls written as text")
        assert contrast["verdict"] == "undecided"
        assert contrast["diff"] == -0.5
        assert contrast["reasons"][0] == f"{QUESTIONS} of {QUESTIONS} replies of “tools” were {said}"
        assert told["example"] or fault == "empty"
    assert (told["model"], told["arm"], told["share"], told["n"]) == ("m", "tools", 1.0, QUESTIONS)
    assert words in told["advice"]
    [contrast] = [each for each in mended["contrasts"] if each["scope"] == "all"]
    assert (contrast["verdict"], contrast["diff"], mended["alerts"]) == ("helps", 0.5, [])
