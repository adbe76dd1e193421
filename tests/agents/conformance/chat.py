"""Dialects of OpenAI's chat protocol: how each provider gives its reasoning, and what it refuses.

Where a real provider would lose the reasoning in silence, this one refuses with `LOST`, so that it shows.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tests.agents.conformance.server import ANSWER, CALLS, Refusal, require

LOST = "conformance: this provider would have lost its reasoning in silence"
SIGNATURE = "c2lnbmF0dXJl"
Message = dict[str, Any]
REQUEST_FIELDS = frozenset(
    {"model", "messages", "tools", "tool_choice", "seed", "temperature", "max_tokens", "top_p", "stream"}
)
MESSAGE_FIELDS = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})


def thought(turn: int) -> str:
    return f"thought {turn}: the cameras first; “quoted”, ünï."


def call_id(turn: int, number: int) -> str:
    return f"call_{turn}_{number}"


def problem(message: str, **more: Any) -> tuple[int, dict[str, Any]]:
    return 400, {"error": {"message": message, "type": "invalid_request_error", **more}}


class Chat:
    """A provider that takes anything and gives no reasoning; the others differ from it in a method or two."""

    name = "openai"
    path = "/v1"
    direct, litellm = "openai/m", "openai/m"  # the model's id on either path
    options: Mapping[str, Any] = MappingProxyType({})
    more: Mapping[str, Any] = MappingProxyType({})  # of every answer, beside the choices
    fields = MESSAGE_FIELDS | {"reasoning", "reasoning_content", "reasoning_details"}  # that it takes

    def adorn(self, message: Message, turn: int) -> Message:
        """The message with what the provider hangs on it."""
        return message

    def check(self, message: Message, turn: int, place: int) -> None:
        """Refuse a turn of ours that came back otherwise than we gave it."""

    def check_request(self, body: dict[str, Any]) -> None:
        """Refuse a request whatever its turns."""

    def foreign(self, message: Message, place: int, name: str) -> Refusal:
        return Refusal(*problem(f"'messages.{place}' : property '{name}' is unsupported"))

    def answer(self, body: dict[str, Any], headers: Mapping[str, str], path: str) -> dict[str, Any]:
        self.check_request(body)
        messages, turn, due = body["messages"], 0, []
        for place, message in enumerate(messages):
            for name in message.keys() - self.fields:
                raise self.foreign(message, place, name)
            if message["role"] == "tool":
                require(message["tool_call_id"] in due, *problem("tool message without its call"))
                due.remove(message["tool_call_id"])
                continue
            require(not due, *problem(f"no results for {due}"))
            if message["role"] == "assistant":
                due = [call["id"] for call in message.get("tool_calls") or ()]
                given = [call_id(turn, number) for number in range(CALLS[turn])]
                require(due == given, *problem(f"calls {due} were given as {given}"))
                self.check(message, turn, place)
                turn += 1
        return self.reply(body, turn)

    def reply(self, body: dict[str, Any], turn: int) -> dict[str, Any]:
        is_calling = bool(body.get("tools")) and turn < len(CALLS) and body.get("tool_choice") != "none"
        message: Message = {"role": "assistant", "content": None if is_calling else ANSWER}
        if is_calling:
            name = body["tools"][0]["function"]["name"]
            message["tool_calls"] = [
                {
                    "id": call_id(turn, number),
                    "type": "function",
                    "index": number,
                    "function": {"name": name, "arguments": "{}"},
                }
                for number in range(CALLS[turn])
            ]
        return {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            **self.more,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls" if is_calling else "stop",
                    "message": self.adorn(message, turn),
                }
            ],
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 120,
                "completion_tokens_details": {"reasoning_tokens": 12},
                "prompt_tokens_details": {"cached_tokens": 64},
            },
        }


class Field(Chat):
    """Reasoning in a field of the message, which must come back as it was."""

    field = "reasoning_content"
    missing: Callable[..., str] = staticmethod(lambda place: LOST)

    def value(self, turn: int) -> Any:
        return thought(turn)

    def adorn(self, message: Message, turn: int) -> Message:
        return {**message, self.field: self.value(turn), "refusal": None, "annotations": [], "audio": None}

    def check(self, message: Message, turn: int, place: int) -> None:
        require(message.get(self.field) == self.value(turn), *problem(self.missing(place)))


class DeepSeek(Field):
    name, direct, litellm, path = "deepseek", "deepseek/deepseek-chat", "deepseek/deepseek-chat", ""
    missing = staticmethod(
        lambda place: "The `reasoning_content` in the thinking mode must be passed back to the API."
    )

    def value(self, turn: int) -> str:
        return thought(turn) if turn != 1 else ""  # "even if it is empty"

    def check(self, message: Message, turn: int, place: int) -> None:
        require("reasoning_content" in message, *problem(self.missing(place)))
        super().check(message, turn, place)

    def check_request(self, body: dict[str, Any]) -> None:
        if body.get("tool_choice") == "required":
            raise Refusal(*problem("Thinking mode does not support this tool_choice"))


class Kimi(Field):
    name, direct, litellm = "kimi", "moonshot/kimi-k2.5", "moonshot/kimi-k2.5"
    missing = staticmethod(
        lambda place: (
            "thinking is enabled but reasoning_content is missing in assistant tool call message at index "
            f"{place}"
        )
    )

    def value(self, turn: int) -> str:
        return thought(turn) if turn != 1 else ""

    def check(self, message: Message, turn: int, place: int) -> None:
        came_back = message.get(self.field)
        require(bool(came_back), *problem(self.missing(place)))  # empty is missing; a space is not
        require(came_back == (self.value(turn) or " "), *problem(LOST))

    def check_request(self, body: dict[str, Any]) -> None:
        if body.get("temperature", 1) != 1:
            raise Refusal(*problem("invalid temperature: only 1 is allowed for this model"))


class Glm(Field):
    name, direct, litellm = "glm", "zai/glm-4.7", "zai/glm-4.7"

    def check_request(self, body: dict[str, Any]) -> None:
        if "seed" in body:
            raise Refusal(*problem("unknown parameter: seed"))


class Qwen(Field):
    name, direct, litellm = "qwen", "dashscope/qwen3-max", "dashscope/qwen3-max"

    def check_request(self, body: dict[str, Any]) -> None:
        if body.get("tool_choice") == "required":
            words = (
                "The tool_choice parameter does not support being set to required or object in thinking mode"
            )
            raise Refusal(*problem(words))


class Sglang(Field):
    """SGLang and llama.cpp: `reasoning_content` both ways."""

    name = "sglang"


class Ollama(Field):
    """Ollama's endpoint of OpenAI's protocol."""

    name, field = "ollama", "reasoning"


class Vllm(Field):
    """vLLM since 0.11.2: reads `reasoning` only."""

    name, field, direct, litellm = "vllm", "reasoning", "hosted_vllm/m", "hosted_vllm/m"


class Cerebras(Field):
    name, field, direct, litellm = "cerebras", "reasoning", "cerebras/gpt-oss-120b", "cerebras/gpt-oss-120b"
    fields = MESSAGE_FIELDS | {"reasoning"}


class Groq(Field):
    """Most of Groq's models give their reasoning and refuse it back."""

    name, field, direct, litellm = "groq", "reasoning", "groq/qwen/qwen3-32b", "groq/qwen/qwen3-32b"
    fields, more = MESSAGE_FIELDS, {"service_tier": "on_demand"}

    def check(self, message: Message, turn: int, place: int) -> None:
        return None


class GroqGptOss(Field):
    name, field = "groq-gpt-oss", "reasoning"
    direct, litellm = "groq/openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"
    fields, more = MESSAGE_FIELDS | {"reasoning"}, {"service_tier": "on_demand"}


class Xai(Field):
    name, direct, litellm = "xai", "xai/grok-4", "xai/grok-4"
    fields = Chat.fields | {"encrypted_content"}

    def adorn(self, message: Message, turn: int) -> Message:
        return {**super().adorn(message, turn), "encrypted_content": f"{SIGNATURE}{turn}"}

    def check(self, message: Message, turn: int, place: int) -> None:
        super().check(message, turn, place)
        require(message.get("encrypted_content") == f"{SIGNATURE}{turn}", *problem(LOST))


class OpenRouter(Field):
    """Gemini behind OpenRouter, the strictest of those it relays to."""

    name, field = "openrouter", "reasoning_details"
    direct, litellm = "openrouter/google/gemini-3-pro", "openrouter/google/gemini-3-pro"
    missing = staticmethod(
        lambda place: "Gemini models require OpenRouter reasoning details to be preserved in each request."
    )

    def value(self, turn: int) -> Any:
        sealed = {"type": "reasoning.encrypted", "data": f"{SIGNATURE}{turn}", "id": call_id(turn, 0)}
        spoken = {"type": "reasoning.text", "text": thought(turn), "signature": SIGNATURE}
        return [
            {**part, "index": at, "format": "google-gemini-v1"} for at, part in enumerate([spoken, sealed])
        ]

    def adorn(self, message: Message, turn: int) -> Message:
        return {**super().adorn(message, turn), "reasoning": thought(turn)}


class MiniMax(Chat):
    """The whole content comes back, its `<think>` included."""

    name, direct, litellm = "minimax", "minimax/MiniMax-M2", "minimax/MiniMax-M2"

    def content(self, message: Message, turn: int) -> str:
        return f"<think>\n{thought(turn)}\n</think>\n\n{message['content'] or ''}"

    def adorn(self, message: Message, turn: int) -> Message:
        return {**message, "content": self.content(message, turn), "audio_content": ""}

    def check(self, message: Message, turn: int, place: int) -> None:
        whole = self.content({"content": None}, turn)
        require(message["content"] == whole, *problem(LOST))


class MiniMaxSplit(Field):
    """MiniMax with its reasoning apart."""

    name, direct, litellm = "minimax-split", "minimax/MiniMax-M2", "minimax/MiniMax-M2"
    field, options = "reasoning_details", {"reasoning_split": True}

    def value(self, turn: int) -> Any:
        return [
            {
                "type": "reasoning.text",
                "id": f"r{turn}",
                "format": "MiniMax-response-v1",
                "text": thought(turn),
            }
        ]

    def check_request(self, body: dict[str, Any]) -> None:
        require(body.get("reasoning_split"), *problem("reasoning_split was asked for"))


class Mistral(Chat):
    """Chunks of the content; anything unknown is forbidden."""

    name, direct, litellm = "mistral", "mistral/magistral-medium-latest", "mistral/magistral-medium-latest"
    fields = MESSAGE_FIELDS | {"prefix"}

    def content(self, turn: int, said: str) -> list[dict[str, Any]]:
        spoken = [{"type": "text", "text": thought(turn)}]
        return [{"type": "thinking", "thinking": spoken, "closed": True}, {"type": "text", "text": said}]

    def adorn(self, message: Message, turn: int) -> Message:
        return {
            **message,
            "content": self.content(turn, message["content"] or "Let me see."),
            "prefix": False,
        }

    def foreign(self, message: Message, place: int, name: str) -> Refusal:
        where = ["body", "messages", place, message["role"], name]
        fault = {"type": "extra_forbidden", "loc": where, "msg": "Extra inputs are not permitted"}
        return Refusal(422, {"object": "error", "message": {"detail": [fault]}})

    def check(self, message: Message, turn: int, place: int) -> None:
        require(message["content"] == self.content(turn, "Let me see."), *problem(LOST))

    def check_request(self, body: dict[str, Any]) -> None:
        for name in body.keys() - REQUEST_FIELDS - {"random_seed"} | body.keys() & {"seed"}:
            fault = {
                "type": "extra_forbidden",
                "loc": ["body", name],
                "msg": "Extra inputs are not permitted",
            }
            raise Refusal(422, {"object": "error", "message": {"detail": [fault]}})


class GeminiOpenAI(Chat):
    """Google's endpoint of OpenAI's protocol: a signature on the first call of each turn."""

    name, path, direct, litellm = (
        "gemini-openai",
        "/v1beta/openai",
        "gemini/gemini-3-pro",
        "openai/gemini-3-pro",
    )

    def signature(self, turn: int) -> dict[str, Any]:
        return {"google": {"thought_signature": f"{SIGNATURE}{turn}"}}

    def adorn(self, message: Message, turn: int) -> Message:
        calls = message.get("tool_calls")
        if calls:
            calls[0]["extra_content"] = self.signature(turn)
        return message

    def check(self, message: Message, turn: int, place: int) -> None:
        words = "Function call is missing a thought_signature in functionCall parts."
        first, *others = message["tool_calls"]
        for one, wanted in ((first, self.signature(turn)), *((other, None) for other in others)):
            require(one.get("extra_content") == wanted, *problem(words, status="INVALID_ARGUMENT"))


DIALECTS: tuple[Chat, ...] = (
    Chat(),
    *(kind() for kind in (DeepSeek, Kimi, Glm, Qwen, Sglang, Ollama, Vllm, Cerebras, Groq, GroqGptOss)),
    *(kind() for kind in (Xai, OpenRouter, MiniMax, MiniMaxSplit, Mistral, GeminiOpenAI)),
)
