"""Protocols of a shape of their own that LiteLLM alone speaks for us: Gemini's, and Ollama's."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tests.agents.conformance.chat import LOST, SIGNATURE, problem, thought
from tests.agents.conformance.server import ANSWER, CALLS, require


class Gemini:
    """A signature on the first call of each step, at its place; the current turn is validated."""

    name, path, litellm = "gemini", "/v1beta", "gemini/gemini-3-pro-preview"
    options: Mapping[str, Any] = MappingProxyType({})

    def parts(self, tool: str, turn: int) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = [
            {"functionCall": {"name": tool, "args": {}}} for _ in range(CALLS[turn])
        ]
        calls[0]["thoughtSignature"] = f"{SIGNATURE}{turn}"
        return [{"text": thought(turn), "thought": True}, *calls]

    def answer(self, body: dict[str, Any], headers: Mapping[str, str], path: str) -> dict[str, Any]:
        words = "Function call is missing a thought_signature in functionCall parts."
        turns = [content["parts"] for content in body["contents"] if content["role"] == "model"]
        for turn, parts in enumerate(turns):
            calls = [part for part in parts if part.keys() & {"functionCall", "function_call"}]
            signed = [part.get("thoughtSignature") for part in calls]
            wanted = [f"{SIGNATURE}{turn}", *[None] * (CALLS[turn] - 1)]
            require(signed == wanted, *problem(words, code=400, status="INVALID_ARGUMENT"))
        offered = [
            tool
            for group in body.get("tools", ())
            for tool in group.get("functionDeclarations", group.get("function_declarations", ()))
        ]
        if offered and len(turns) < len(CALLS):
            given = self.parts(offered[0]["name"], len(turns))
        else:
            given = [{"text": ANSWER, "thoughtSignature": SIGNATURE}]
        return {
            "candidates": [
                {"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": given}}
            ],
            "usageMetadata": {
                "promptTokenCount": 100,
                "candidatesTokenCount": 8,
                "thoughtsTokenCount": 12,
                "cachedContentTokenCount": 64,
                "totalTokenCount": 120,
            },
            "modelVersion": "gemini-3-pro",
            "responseId": "r",
        }


class Ollama:
    """Ollama's own endpoint: `thinking` both ways, and no ids of calls."""

    name, path, litellm = "ollama-own", "", "ollama_chat/qwen3"
    options: Mapping[str, Any] = MappingProxyType({})

    def answer(self, body: dict[str, Any], headers: Mapping[str, str], path: str) -> dict[str, Any]:
        if path.endswith("/show"):
            return {"capabilities": ["tools", "thinking"]}
        turns = [message for message in body["messages"] if message["role"] == "assistant"]
        for turn, message in enumerate(turns):
            require(message.get("thinking") == thought(turn), *problem(LOST))
        message: dict[str, Any] = {"role": "assistant", "content": "", "thinking": thought(len(turns))}
        if body.get("tools") and len(turns) < len(CALLS):
            function = {"name": body["tools"][0]["function"]["name"], "arguments": {}}
            message["tool_calls"] = [{"function": function}] * CALLS[len(turns)]
        else:
            message["content"] = ANSWER
        counts = {"prompt_eval_count": 100, "eval_count": 20}
        return {
            "model": "m",
            "created_at": "x",
            "message": message,
            "done": True,
            "done_reason": "stop",
            **counts,
        }


DIALECTS = (Gemini(), Ollama())
