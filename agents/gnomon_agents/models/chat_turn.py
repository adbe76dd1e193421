"""Keeps what a provider adds to a turn beside text and calls, and sends it back with that turn.

The body of a turn is a part of the message as it came: `reasoning_content`, `reasoning_details`, … under
their own names; `content` where it is more than text; `tool_calls` with what each call had besides its
function, by place.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from gnomon.core.message import Message, ProviderTurn
from gnomon.spec.model_spec import ModelSpec, ReasoningHistory
from gnomon.spec.provider_table import UNKNOWN, Provider, provider_of

MAX_BODY_CHARS = 4_000_000
_OPENING, _TAG = re.compile(r"\s*<(think|thinking)>"), re.compile(r"<(/?)(think|thinking)>")
# What a message has by the protocol itself; what else it holds is the provider's own.
_OWN = frozenset({"role", "content", "tool_calls", "function_call", "refusal", "annotations", "audio"})
_OWN_OF_CALL = frozenset({"id", "type", "function", "index"})
_WORDS = ("text", "output_text")  # kinds of parts that are what the model says
_READABLE = ("reasoning_content", "reasoning", "thinking")
_LISTS = frozenset({"reasoning_details", "thinking_blocks"})


def text_of(content: Any) -> str:
    """The words of a message's content: a text, or the text parts of a list.

    >>> text_of([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "A"}, "B"])
    'AB'

    Raises:
        TypeError: it is neither.
    """
    if content is None:
        return ""
    words = _whole_text(content)
    parted = thought_and_answer(words)
    return parted[1] if parted else words


def thought_and_answer(words: str) -> tuple[str, str] | None:
    """The reasoning in `<think>` at the beginning of a text, and the rest; None where there is none.

    MiniMax writes so, and servers without a parser. Some templates put the opening tag into the prompt, and
    a reply may be cut before the closing one.

    >>> [thought_and_answer(text) for text in ("<think>hm</think> A", "hm</think>A", "<think>hm", "A")]
    [('hm', 'A'), ('hm', 'A'), ('hm', ''), None]
    """
    if "<" not in words:
        return None
    opened = _OPENING.match(words)
    start = opened.end() if opened else 0
    for tag in _TAG.finditer(words, start):
        if opened and (tag[1], tag[2]) != ("/", opened[1]):
            continue  # a thought may speak of tags
        if not tag[1]:
            return None  # it begins with an answer
        return words[start : tag.start()].strip(), words[tag.end() :].lstrip()
    return (words[start:].strip(), "") if opened else None


def _whole_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, Sequence):
        raise TypeError(f"content is a {type(content).__name__}")
    return "".join(_words(part, "text") for part in content if _kind(part) in _WORDS)


def refusal_of(message: Mapping[str, Any]) -> str:
    """The words in which the model refused; empty where it did not."""
    content = message.get("content")
    parts = content if isinstance(content, list) else ()
    refusals = [message.get("refusal"), *(part.get("refusal") for part in parts if _kind(part) == "refusal")]
    return "\n".join(str(words) for words in refusals if words)


def reasoning_of(message: Mapping[str, Any]) -> str:
    """What can be read of the model's reasoning, under whatever name it came.

    >>> reasoning_of({"content": "<think>hm</think>A"}), reasoning_of({"reasoning": "hm"})
    ('hm', 'hm')
    """
    for name in _READABLE:
        if isinstance(message.get(name), str) and message[name].strip():
            return str(message[name])
    content = message.get("content")
    parted = thought_and_answer(_whole_text(content or ""))
    if not (isinstance(content, list) or message.keys() & _LISTS):
        return parted[0] if parted else ""
    found_in = [
        *_listed(message.get("reasoning_details")),
        *_listed(message.get("thinking_blocks")),
        *(part for part in _listed(content) if _kind(part) not in (*_WORDS, "refusal")),
    ]
    texts = "\n".join(words for part in found_in if (words := _thought(part)))
    return texts or (parted[0] if parted else "")


def kept_of(message: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The fields of a provider's turn to send back; None if it has text and calls alone, or no sound JSON.

    Fields that are null or empty say nothing and are left out, but for `reasoning_content`, which some
    providers want back even if it is empty.

    >>> kept_of({"role": "assistant", "content": "A", "reasoning_content": "", "audio": None}, [])
    {'reasoning_content': ''}
    """
    body: dict[str, Any] = {
        name: value
        for name, value in message.items()
        if name not in _OWN and (value or (name == "reasoning_content" and value == ""))
    }
    content = message.get("content")
    is_mixed = isinstance(content, list) and any(_kind(part) not in _WORDS for part in content)
    if is_mixed or (isinstance(content, str | list) and thought_and_answer(_whole_text(content))):
        body["content"] = content
    extras = [
        {name: value for name, value in call.items() if name not in _OWN_OF_CALL and value} for call in calls
    ]
    if any(extras):
        body["tool_calls"] = extras
    if not body:
        return None
    try:
        written = json.dumps(body, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return None
    return body if len(written) <= MAX_BODY_CHARS else None


@dataclass(frozen=True, slots=True)
class TurnRules:
    """Rules for sending a model's own turns back to its provider: which turns, and which fields of them."""

    provider: Provider = UNKNOWN
    history: ReasoningHistory = "auto"

    @classmethod
    def of(cls, spec: ModelSpec) -> Self:
        """What a spec asks for."""
        return cls(provider_of(spec.id, spec.api_base), spec.reasoning_history)

    @property
    def sends_all(self) -> bool:
        """Whether every turn goes back whole, wherever it stands."""
        return self.history in ("auto", "all")

    def chosen(self, messages: list[Message]) -> list[Message]:
        """The conversation with the turns that go back whole: under `last` those since the user last spoke,
        which is the tool loop that is under way.

        >>> turn = {"role": "assistant", "content": "A", "provider_turn": {"dialect": "chat", "body": {}}}
        >>> talk = [{"role": "user", "content": "?"}, turn, {"role": "user", "content": "!"}, turn]
        >>> ["provider_turn" in message for message in TurnRules(history="last").chosen(talk)]
        [False, False, False, True]
        """
        if self.sends_all:
            return messages
        users = [place for place, message in enumerate(messages) if message["role"] == "user"]
        start = (users[-1] if users else -1) if self.history == "last" else len(messages)
        return [
            _without_turn(message) if place < start and "provider_turn" in message else message
            for place, message in enumerate(messages)
        ]

    def put_back(self, out: dict[str, Any], turn: ProviderTurn | None) -> None:
        """Put what the provider hung on its turn back into the message on its way out, which is changed.

        >>> out = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_0"}]}
        >>> body = {"reasoning": "hm", "tool_calls": [{"extra_content": {"signature": "s"}}]}
        >>> TurnRules().put_back(out, {"dialect": "chat", "body": body})
        >>> out["reasoning"], out["tool_calls"]
        ('hm', [{'id': 'call_0', 'extra_content': {'signature': 's'}}])
        """
        body = turn["body"] if turn is not None and turn["dialect"] == "chat" else None
        if isinstance(body, dict):
            for name, value in (self.provider.taken_back(body) if self.history == "auto" else body).items():
                if name == "tool_calls":
                    if out.get("tool_calls"):
                        out["tool_calls"] = _with_extras(out["tool_calls"], value)
                elif name == "content" or name not in _OWN:
                    out[name] = value
        if self.history != "none" and out.get("tool_calls"):
            for name, filler in self.provider.always.items():
                out[name] = out.get(name) or filler

    def left_out(self, messages: Iterable[Message]) -> tuple[str, ...]:
        """In words, if a part of the provider's own turns does not go back because it would refuse it."""
        if self.history != "auto" or self.provider.only is None:
            return ()
        bodies = [turn["body"] for message in messages if (turn := message.get("provider_turn"))]
        count = sum(isinstance(body, dict) and bool(body.keys() - self.provider.only) for body in bodies)
        return (f"reasoning: left out of {count} of {len(bodies)} turns",) if count else ()


AS_IT_CAME = TurnRules()


def _without_turn(message: Message) -> Message:
    bare = message.copy()
    del bare["provider_turn"]
    return bare


def _with_extras(calls: Iterable[Mapping[str, Any]], extras: Any) -> list[dict[str, Any]]:
    """The calls, renamed or the first of them alone, each with what came with it at its place."""
    extras = extras if isinstance(extras, list) else []
    return [
        {**call, **(extras[place] if place < len(extras) and isinstance(extras[place], dict) else {})}
        for place, call in enumerate(calls)
    ]


def _kind(part: Any) -> str:
    if isinstance(part, str):
        return "text"
    return str(part.get("type", "text" if "text" in part else "")) if isinstance(part, Mapping) else ""


def _words(part: Any, name: str) -> str:
    text = part if isinstance(part, str) else part.get(name)
    return text if isinstance(text, str) else ""


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _thought(part: Any) -> str:
    """The words of one piece of reasoning, whatever its shape: Mistral's chunk, a block, a detail."""
    if not isinstance(part, Mapping):
        return ""
    inner = part.get("thinking")
    if isinstance(inner, list):
        return "".join(_words(piece, "text") for piece in inner if isinstance(piece, str | Mapping))
    return next(
        (part[name] for name in ("thinking", "text", "summary") if isinstance(part.get(name), str)), ""
    )
