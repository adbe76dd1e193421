"""Translates messages and tool calls between Gnomon's form and that of OpenAI's chat protocol."""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from gnomon.core.decoding import Decoding
from gnomon.core.errors import ProviderFault
from gnomon.core.message import Block, FunctionCall, Message, ToolCall, text_of
from gnomon.core.redaction import key_in
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon.spec.provider_table import PROVIDERS, provider_of
from gnomon_agents.models.chat_turn import AS_IT_CAME, TurnRules
from gnomon_agents.models.image_urls import PICTURES

MAX_REPLY_CHARS = 1_000_000

OWN_RULES = re.compile(r"o\d|gpt-[5-9]|ft:|chatgpt|codex")  # OpenAI's models with parameters of their own
# Those of them that reason: they refuse any temperature and top-p, and call the limit of a reply otherwise.
_REASONS = re.compile(r"(?:ft:)?(?:o\d|gpt-[5-9](?!.*-chat)|codex)")
_OTHER_LIMITS = ("max_completion_tokens", "max_output_tokens")  # `options` may set them for max_tokens
_UNWRITABLE = re.compile("[\ud800-\udfff\0]")


def _finite(number: str) -> float:
    if math.isfinite(value := float(number)):
        return value
    raise ValueError(f"{number} is not finite")


# Made once: `json.loads` makes one a call.
_decode = json.JSONDecoder(parse_float=_finite, parse_constant=_finite).decode


def sanitize(text: str) -> str:
    r"""Text that every database and encoder takes: lone surrogates and NUL become U+FFFD, the rest is capped.

    >>> sanitize("a\0b\ud800c")
    'a�b�c'
    """
    if text.isascii() and "\0" not in text:  # nearly all text, and far quicker
        return text[:MAX_REPLY_CHARS]
    return _UNWRITABLE.sub("\ufffd", text[:MAX_REPLY_CHARS])


def messages_out(
    messages: list[Message],
    media: MediaStore,
    *,
    pictures: bool,
    rules: TurnRules = AS_IT_CAME,
    as_url: Callable[[bytes], Any] = bytes.decode,
) -> list[dict[str, Any]]:
    """A conversation as the provider wants it; `as_url` says what stands for the data URL of a picture.

    Raises:
        DataError: a picture is not in the store.
    """
    sent = arranged(rules.chosen(messages), between=rules.provider.between)
    return [message_out(message, media, pictures=pictures, rules=rules, as_url=as_url) for message in sent]


def arranged(messages: list[Message], *, between: str | None = None) -> list[Message]:
    """The conversation in the order in which providers take it: most take no pictures in a tool's message,
    so those of a turn's calls follow as one message of the user, after `between`, words of the assistant.
    """

    def showing(blocks: list[Block]) -> list[Message]:
        words: list[Message] = [{"role": "assistant", "content": between}] if between else []
        return [*words, {"role": "user", "content": blocks}]

    sent: list[Message] = []
    pending: list[Block] = []
    for message in messages:
        if message["role"] != "tool" and pending:
            sent += showing(pending)
            pending = []
        if message["role"] == "tool" and isinstance(message["content"], list):
            shown = [block for block in message["content"] if block["type"] != "text"]
            call_id = message["tool_call_id"].partition("__thought__")[0]  # Gemini's signature, from LiteLLM
            pending += [{"type": "text", "text": f"Pictures of call {call_id}:"}, *shown]
            message = {**message, "content": text_of(message, "")}
        sent.append(message)
    return [*sent, *showing(pending)] if pending else sent


def message_out(
    message: Message,
    media: MediaStore,
    *,
    pictures: bool,
    rules: TurnRules = AS_IT_CAME,
    as_url: Callable[[bytes], Any] = bytes.decode,
) -> dict[str, Any]:
    """A turn: pictures as data URLs, call arguments as JSON objects, and in a turn of the model's own what
    its provider had hung on it. For a model that takes no pictures, words stand in their places.

    Raises:
        DataError: a picture is not in the store.
    """
    out: dict[str, Any] = {name: value for name, value in message.items() if name != "provider_turn"}
    if isinstance(message["content"], list):
        out["content"] = [
            block_out(block, media, pictures=pictures, as_url=as_url) for block in message["content"]
        ]
    elif message["content"] is not None:
        out["content"] = sanitize(message["content"])
    if "tool_calls" in message:
        out["tool_calls"] = [format_tool_call(call) for call in message["tool_calls"]]
    if message["role"] == "assistant":
        rules.put_back(out, message.get("provider_turn"))
    return out


def block_out(
    block: Block, media: MediaStore, *, pictures: bool, as_url: Callable[[bytes], Any] = bytes.decode
) -> dict[str, Any]:
    """A part of a turn: text, or a picture or video as a data URL.

    Raises:
        DataError: the picture or video is not in the store.
    """
    if block["type"] == "text":
        return {"type": "text", "text": sanitize(block["text"])}
    if not pictures:
        return {"type": "text", "text": "(a picture, left out: this model takes text only)"}
    url = as_url(PICTURES.url(block, media))
    if block["type"] == "video":
        return {"type": "video_url", "video_url": {"url": url}}
    return {"type": "image_url", "image_url": {"url": url}}


def video_as_file(part: dict[str, Any]) -> dict[str, Any]:
    """A video as LiteLLM takes it; every other part as it is.

    >>> video_as_file({"type": "video_url", "video_url": {"url": "data:video/mp4;base64,AAAA"}})["file"]
    {'file_data': 'data:video/mp4;base64,AAAA', 'format': 'video/mp4'}
    """
    if part["type"] != "video_url":
        return part
    url = part["video_url"]["url"]
    return {"type": "file", "file": {"file_data": url, "format": url[5 : url.index(";")]}}


def format_tool_call(call: ToolCall) -> ToolCall:
    """Several providers parse the history's arguments and fail on bad JSON, so that travels wrapped. Numbers
    that are not finite are no JSON.

    The trace keeps what the model wrote, and the tool message tells the model what was wrong with it.
    """
    arguments = call["function"]["arguments"]
    try:
        if isinstance(_decode(arguments), dict):
            return call
    except (ValueError, RecursionError):
        pass
    wrapped = json.dumps({"not_a_json_object": arguments})
    return {**call, "function": {"name": call["function"]["name"], "arguments": wrapped}}


def parse_tool_call(call_id: object, name: object, arguments: object) -> ToolCall:
    """A provider's tool call as it was written; nothing is repaired."""
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments if arguments is not None else {})
    function: FunctionCall = {"name": sanitize(str(name or "")), "arguments": sanitize(arguments)}
    return {"id": sanitize(str(call_id or "")), "type": "function", "function": function}


def sampling_params(spec: ModelSpec, protocol: Decoding) -> dict[str, Any]:
    """How a call's reply is drawn: what the model's entry or its `options` set; for the rest, the protocol.

    Models that would refuse a temperature and top-p but their own get none of the protocol's.

    >>> sampling_params(ModelSpec(id="openai/qwen", max_tokens=900), Decoding(temperature=0, max_tokens=100))
    {'temperature': 0.0, 'max_tokens': 900}
    >>> sampling_params(ModelSpec(id="openai/o3-mini"), Decoding(temperature=0, max_tokens=100))
    {'max_tokens': 100}
    """
    own = {name: spec.options[name] for name in Decoding.model_fields if name in spec.options}
    own |= {"temperature": spec.temperature} if spec.temperature is not None else {}
    own |= {"max_tokens": spec.max_tokens} if spec.max_tokens is not None else {}
    from_protocol = protocol.known()
    refusing = provider_of(spec.id, spec.api_base).own_decoding or _REASONS
    if refusing.match(_name(spec)):
        from_protocol = {name: value for name, value in from_protocol.items() if name == "max_tokens"}
    if _has_other_limit(spec):
        from_protocol.pop("max_tokens", None)
    return from_protocol | own


def absent(spec: ModelSpec, protocol: Decoding, sent: Mapping[str, Any]) -> tuple[str, ...]:
    """In words, what a protocol sets and the model does not get, for it would refuse it.

    >>> absent(ModelSpec(id="openai/o3"), Decoding(temperature=0, max_tokens=9), {"max_tokens": 9})
    ('temperature: 0.0 → absent',)
    """
    return tuple(
        f"{name}: {value} → absent"
        for name, value in protocol.known().items()
        if name not in sent and not (name == "max_tokens" and _has_other_limit(spec))
    )


def limit_name(spec: ModelSpec) -> str:
    """What a model's endpoint of OpenAI's chat protocol calls the limit of a reply.

    >>> limit_name(ModelSpec(id="openai/o3-mini")), limit_name(ModelSpec(id="moonshot/kimi-k2.5"))
    ('max_completion_tokens', 'max_tokens')
    """
    is_openais = provider_of(spec.id, spec.api_base) is PROVIDERS["openai"]
    return "max_completion_tokens" if is_openais and _REASONS.match(_name(spec)) else "max_tokens"


def _name(spec: ModelSpec) -> str:
    return spec.id.rpartition("/")[2]


def _has_other_limit(spec: ModelSpec) -> bool:
    return any(name in spec.options for name in _OTHER_LIMITS)


def key_of(spec: ModelSpec) -> str | None:
    """The provider's key, or a stand-in for an endpoint of one's own, which would get the user's general
    key else. None: the provider's usual variable holds it.

    Raises:
        ProviderFault: the variable that the spec names is not set.
    """
    if spec.api_key_env is None:
        return "none" if spec.api_base else None
    return key_for(spec, spec.api_key_env)


def key_for(spec: ModelSpec, variable: str) -> str:
    """The key of a model in that variable.

    Raises:
        ProviderFault: `no_api_key`: it is not set.
    """
    key = key_in(variable)
    if not key:
        message = f"the environment variable {variable} is not set, so {spec.id} has no key"
        raise ProviderFault(message, cause="no_api_key", transient=False)
    return key
