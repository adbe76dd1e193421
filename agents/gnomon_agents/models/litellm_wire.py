"""Records what really went to the provider and what came back, before and after LiteLLM's changes."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from gnomon_agents.models.chat_turn import kept_of
from gnomon_agents.models.error_body import holds_error
from gnomon_tools.core.json_text import json_value

# What bounds a schema; a provider's adapter that leaves one out makes the model guess.
_BOUNDS = frozenset(
    {"const", "enum", "oneOf", "anyOf", "allOf", "minimum", "maximum", "exclusiveMinimum"}
    | {"exclusiveMaximum", "minItems", "maxItems", "minLength", "maxLength", "pattern", "format", "required"}
)
_SAME_CHOICE = {"any": "required", "ANY": "required", "AUTO": "auto", "NONE": "none"}
_SAME_BOUND = {"oneOf": "anyOf", "const": "enum"}
_ABSENT = "absent"
_THINKING = ("thinking", "redacted_thinking")
_SETTINGS = {  # by our names, and what providers call them
    "temperature": ("temperature",),
    "top_p": ("top_p", "topP"),
    "seed": ("seed", "random_seed"),
    "max_tokens": (
        *("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"),
        *("maxTokens", "num_predict"),
    ),
}
_HOLDERS = ("generationConfig", "inferenceConfig", "options", "extra_body")  # Gemini, Bedrock, Ollama
_ROLES = {"developer": "system"}  # OpenAI's newer name


@dataclass(slots=True)
class Exchange:
    """The bodies of one call, None where they are no JSON objects; whether any request was heard of."""

    sent: dict[str, Any] | None = None
    received: dict[str, Any] | None = None
    status: int = 200
    is_heard: bool = False

    def note(self, sent: bytes, received: bytes, status: int = 200) -> None:
        """Keep the bodies of a request that asked something; a login on the way is none."""
        body = _object(sent)
        if body is not None and ("messages" in body or "contents" in body or "input" in body):
            self.sent, self.received, self.status = body, _object(received), status

    @property
    def error(self) -> dict[str, Any] | None:
        """What came back, if it is an error under the status of a success."""
        is_error = self.status == 200 and self.received is not None and holds_error(self.received)
        return self.received if is_error else None

    @property
    def completion(self) -> dict[str, Any] | None:
        """What came back, if it is a chat completion as OpenAI's protocol has it."""
        is_chat = isinstance((self.received or {}).get("choices"), list) and "messages" in (self.sent or {})
        return self.received if is_chat else None

    @property
    def thinks_between(self) -> bool:
        """Whether what came back is a turn in Anthropic's shape, or in Bedrock's, with thinking after
        words or calls: LiteLLM sends all thinking back before them.
        """
        received = self.received or {}
        output = received.get("output")
        message = output.get("message") if isinstance(output, Mapping) else received
        content = message.get("content") if isinstance(message, Mapping) else None
        blocks = (
            [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []
        )
        kinds = [block.get("type") in _THINKING or "reasoningContent" in block for block in blocks]
        return kinds != sorted(kinds, reverse=True)

    def offers(self, tools: int) -> bool:
        """Whether so many tools were offered. LiteLLM offers one of its own to have a format kept, and makes
        the text of the reply of the call: what came back is not what the model was asked for.
        """
        return len((self.sent or {}).get("tools") or ()) == tools


_LISTENING: ContextVar[Exchange | None] = ContextVar("litellm_exchange", default=None)


@contextmanager
def listening() -> Iterator[Exchange]:
    """Within, the bodies of the calls that this task has LiteLLM make are kept."""
    exchange = Exchange()
    mark = _LISTENING.set(exchange)
    try:
        yield exchange
    finally:
        _LISTENING.reset(mark)


def heard(request: Any, response: Any) -> None:
    """Tell whoever listens of an httpx request and its response; those that stream are not read."""
    exchange = _LISTENING.get()
    if exchange is not None:
        exchange.is_heard = True
    if exchange is not None and response.is_closed:
        with suppress(RuntimeError):  # a body that was sent as a stream
            exchange.note(request.content, response.content, response.status_code)


def _object(data: bytes) -> dict[str, Any] | None:
    value = json_value(data)
    return value if isinstance(value, dict) else None


def changes(wanted: Mapping[str, Any], exchange: Exchange) -> tuple[str, ...]:
    """What an adapter made of a request besides writing it in the provider's own shape.

    >>> sent = Exchange(sent={"messages": [], "temperature": 1.0})
    >>> changes({"messages": [], "tool_choice": "required"}, sent)
    ('tool_choice: required → absent', 'temperature: unset → 1.0')
    """
    sent = exchange.sent
    if sent is None:
        return ()
    try:
        # In a shape of the provider's own roles and turns have no counterpart.
        messages = _messages(wanted["messages"], sent["messages"]) if exchange.completion else ()
        return (*_settings(wanted, sent), *_tools(wanted, sent), *messages)
    except (AttributeError, KeyError, TypeError):  # a shape that nobody here has met must not cost a trial
        return ("request: in a shape that could not be compared",)


def _settings(wanted: Mapping[str, Any], sent: Mapping[str, Any]) -> Iterator[str]:
    choice, now = wanted.get("tool_choice"), _choice(sent)
    if choice is not None and choice != now and (choice, now) != ("auto", _ABSENT):
        yield f"tool_choice: {choice} → {now}"
    for name, spellings in _SETTINGS.items():
        before = next((wanted[spelling] for spelling in spellings if spelling in wanted), None)
        after = next(
            (value for spelling in spellings if (value := _setting(sent, spelling)) is not None), None
        )
        if before != after:
            sides = (("unset", before), (_ABSENT, after))
            yield f"{name}: {' → '.join(word if value is None else str(value) for word, value in sides)}"


def _setting(sent: Mapping[str, Any], name: str) -> Any:
    for place in (sent, *map(sent.get, _HOLDERS)):
        if isinstance(place, Mapping) and place.get(name) is not None:
            return place[name]
    return None


def _choice(sent: Mapping[str, Any]) -> str:
    config = sent.get("toolConfig") or sent.get("tool_config")
    if isinstance(config, Mapping) and "tools" in config:  # Bedrock's
        mode: Any = next(iter(config.get("toolChoice") or ()), None)
    elif isinstance(config, Mapping):
        calling = config.get("functionCallingConfig") or config.get("function_calling_config") or {}
        mode = calling.get("mode") if isinstance(calling, Mapping) else None
    else:
        mode = sent.get("tool_choice")
        mode = mode.get("type") if isinstance(mode, Mapping) else mode
    return _SAME_CHOICE.get(mode, str(mode)) if mode else _ABSENT


def _tools(wanted: Mapping[str, Any], sent: Mapping[str, Any]) -> Iterator[str]:
    before = wanted.get("tools") or []
    after = sent.get("tools") or (sent.get("toolConfig") or {}).get("tools") or []
    if before == after:
        return
    declared = [
        tool.get("functionDeclarations") or tool.get("function_declarations") or [tool] for tool in after
    ]
    count = sum(map(len, declared))
    if count != len(before):
        yield f"tools: {len(before)} → {count}"
    lost = sorted(_bounds(before) - _bounds(after))
    if lost and count:
        yield f"schemas: {', '.join(lost)} dropped"


def _bounds(value: Any) -> set[str]:
    """The bounds that schemas hold; `oneOf` counts as `anyOf`, and `const` as `enum`: they say the same."""
    if isinstance(value, Mapping):
        inner = [
            _bounds(inner_value)
            for name, inner_value in value.items()
            if name not in ("enum", "const", "required")
        ]
        own = {_SAME_BOUND.get(str(name), str(name)) for name in value if name in _BOUNDS}
        return own.union(*inner)
    none: set[str] = set()
    return none.union(*map(_bounds, value)) if isinstance(value, list) else none


def _messages(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> Iterator[str]:
    roles = [[_ROLES.get(message["role"], message["role"]) for message in side] for side in (before, after)]
    if roles[0] != roles[1]:
        yield f"messages: {len(before)} → {len(after)}"
        return
    pairs = list(zip(before, after, strict=True))
    if count := sum(_said(then) != _said(now) for then, now in pairs):
        yield f"content: changed in {count} of {len(pairs)} messages"
    turns = [(_own(then), _own(now)) for then, now in pairs if then["role"] == "assistant"]
    if count := sum(not then.items() <= now.items() for then, now in turns):
        yield f"reasoning: dropped from {count} of {len(turns)} turns"
    if count := sum(bool(now.keys() - then.keys()) for then, now in turns):
        yield f"reasoning: filled into {count} of {len(turns)} turns"


def _said(message: Mapping[str, Any]) -> tuple[str, int]:
    """The words of a message, and how many parts it has that are none, such as pictures."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content, 0
    texts = [part.get("text") or "" for part in content if part.get("type") == "text"]
    others = [part for part in content if part.get("type") not in ("text", "thinking")]
    return "".join(texts), len(others)


def _own(message: Mapping[str, Any]) -> dict[str, str]:
    """What a turn holds of its provider's own, field by field as JSON."""
    kept = kept_of(message, message.get("tool_calls") or ()) or {}
    return {name: json.dumps(value, sort_keys=True) for name, value in kept.items()}


def portable(value: Any) -> Any:
    """A copy of tool schemas that LiteLLM may rewrite in place, in words that all of its adapters know: for
    Gemini it makes an empty schema of `oneOf`, and any object of a `const`.

    >>> portable([{"const": 1}, {"oneOf": [{"type": "null"}]}])
    [{'enum': [1]}, {'anyOf': [{'type': 'null'}]}]
    """
    if isinstance(value, list):
        return [portable(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    fields = {name: portable(inner) for name, inner in value.items()}
    if "const" in fields and not isinstance(fields["const"], dict):
        fields = {"enum" if name == "const" else name: inner for name, inner in fields.items()}
        fields["enum"] = [fields["enum"]]
    if isinstance(fields.get("oneOf"), list):
        fields = {"anyOf" if name == "oneOf" else name: inner for name, inner in fields.items()}
    return fields
