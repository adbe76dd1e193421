"""Endpoints of many kinds: one that is fit, and those that lack one thing that a job may rest on."""

import json
import threading
import time
from typing import Any

from gnomon.fitness.examine import CODE_WORD, SHORT_TOKENS, SYSTEM_WORD
from tests.chat_provider import ChatProvider, Refusal


class FitEndpoint(ChatProvider):
    """Does all that a check asks for."""

    def choice(self, request: dict[str, Any]) -> dict[str, Any]:
        is_short = request.get("max_tokens") == SHORT_TOKENS
        message = {"role": "assistant", "content": "1 2 3 4"} if is_short else self.reply(request)
        reason = "length" if is_short else "tool_calls" if message.get("tool_calls") else "stop"
        return {"index": 0, "finish_reason": reason, "message": message}

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        first, last = request["messages"][0], request["messages"][-1]
        has_called = any(message["role"] == "tool" for message in request["messages"])
        if isinstance(last["content"], list):
            return self.say("Yellow, then green." if has_called else "Red, then blue.")
        if has_called:
            return self.say(f"The word is {CODE_WORD}.")
        if request.get("tools"):
            return self.call(request["tools"][0]["function"]["name"])
        if first["role"] == "system":
            return self.say(f"{SYSTEM_WORD} OK")
        return self.say("It has feathers.\nAnswer: B")

    def call(self, name: str) -> dict[str, Any]:
        function = {"name": name, "arguments": "{}"}
        calls = [{"id": "call_1", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    def say(self, text: str) -> dict[str, Any]:
        return {"role": "assistant", "content": text}


class Hanging(FitEndpoint):
    """Takes a request, and never replies until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.released = threading.Event()

    def choice(self, request: dict[str, Any]) -> dict[str, Any]:
        self.released.wait(60)
        return super().choice(request)

    def __exit__(self, *of: object) -> None:
        self.released.set()
        super().__exit__(*of)


class Slow(FitEndpoint):
    """Takes its time for each reply, or for the first `slow_calls`."""

    seconds, slow_calls = 3.0, 1_000

    def choice(self, request: dict[str, Any]) -> dict[str, Any]:
        if len(self.requests) <= self.slow_calls:
            time.sleep(self.seconds)
        return super().choice(request)


class WithoutTools(FitEndpoint):
    """Refuses requests that offer tools."""

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        if request.get("tools"):
            raise Refusal(400, '"auto" tool choice requires --enable-auto-tool-choice to be set')
        return super().reply(request)


class CallsAsText(FitEndpoint):
    """Writes its calls into the content, as models do whose server has no parser for them."""

    def call(self, name: str) -> dict[str, Any]:
        return self.say(json.dumps({"name": name, "arguments": {}}))


class ThinksOnly(FitEndpoint):
    """Says everything in the field of its reasoning, and nothing beside it."""

    def say(self, text: str) -> dict[str, Any]:
        return {"role": "assistant", "content": "", "reasoning_content": text}


class Cutting(FitEndpoint):
    """Cuts each reply at its limit."""

    def choice(self, request: dict[str, Any]) -> dict[str, Any]:
        message = self.say("It is a bird because it has")
        return {"index": 0, "finish_reason": "length", "message": message}


class Blind(FitEndpoint):
    """Takes text alone, in prompts and in results of tools."""

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        if any(isinstance(message.get("content"), list) for message in request["messages"]):
            raise Refusal(400, "content must be a string")
        return super().reply(request)


class Repeating(FitEndpoint):
    """Calls again whatever comes back."""

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        tools = request.get("tools")
        return self.call(tools[0]["function"]["name"]) if tools else super().reply(request)
