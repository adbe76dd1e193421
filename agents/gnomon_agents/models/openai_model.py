"""Calls an endpoint that speaks OpenAI's chat protocol directly over aiohttp, without LiteLLM."""

import functools
from collections.abc import Mapping
from typing import Any

from gnomon.core.compact_json import dump
from gnomon.core.decoding import Decoding
from gnomon.core.errors import SpecError
from gnomon.core.model import Reply, Request, memoize_by_tools
from gnomon.media import MediaStore
from gnomon.price_table import entry_of
from gnomon.spec.model_spec import ModelSpec
from gnomon.spec.provider_table import provider_of
from gnomon_agents.models import chat_format as wire
from gnomon_agents.models.chat_reply import read_completion
from gnomon_agents.models.chat_turn import TurnRules
from gnomon_agents.models.direct_model import DirectModel, Price
from gnomon_agents.models.endpoint import RESERVED_IN_CHAT, Endpoint
from gnomon_agents.models.json_pieces import Piece, Written, pieces_of, quoted
from gnomon_agents.models.litellm_errors import Scrubber
from gnomon_agents.models.prompt_cache import mark, marked_places, wants_marks

PROVIDERS = ("openai", "hosted_vllm")
BODY_OPTIONS = frozenset(  # of the spec; any other is LiteLLM's affair
    {
        *("top_p", "top_k", "min_p", "stop", "logit_bias", "logprobs", "top_logprobs", "response_format"),
        *("presence_penalty", "frequency_penalty", "repetition_penalty", "parallel_tool_calls", "user"),
        *("chat_template_kwargs", "guided_json", "guided_choice", "guided_regex"),
    }
)
# What providers of the table take besides, as their own documents spell it.
PROVIDER_OPTIONS = BODY_OPTIONS | {
    *("max_completion_tokens", "temperature", "max_tokens", "verbosity", "safe_prompt", "prompt_mode"),
    *("reasoning", "reasoning_effort", "reasoning_split", "thinking", "enable_thinking", "thinking_budget"),
    *("include_reasoning", "provider", "models", "route", "transforms", "service_tier"),
}


def speaks_openai(spec: ModelSpec) -> bool:
    """Whether a model can do without LiteLLM: an address of one's own, and nothing that only LiteLLM knows.

    Names of OpenAI's models with parameter rules or prices of their own are left to LiteLLM.

    >>> speaks_openai(ModelSpec(id="openai/qwen", api_base="http://127.0.0.1:8000/v1"))
    True
    >>> speaks_openai(ModelSpec(id="openai/o3-mini", api_base="http://127.0.0.1:8000/v1"))
    False
    """
    provider, _, name = spec.id.partition("/")
    if not spec.api_base or provider not in PROVIDERS or not spec.options.keys() <= BODY_OPTIONS:
        return False
    if wire.OWN_RULES.match(name):
        return False
    entry = entry_of(spec.id)
    return entry is None or entry.is_plain


def is_direct(spec: ModelSpec) -> bool:
    """Whether a model's calls go to its endpoint directly, LiteLLM left out.

    So do those that are fast, and those of providers of whose turns LiteLLM would lose a part on the way.

    >>> is_direct(ModelSpec(id="mistral/magistral-medium")), is_direct(ModelSpec(id="deepseek/deepseek-chat"))
    (True, False)
    """
    if spec.client != "auto":
        return spec.client == "direct"
    return speaks_openai(spec) or (provider_of(spec.id).is_direct and spec.options.keys() <= PROVIDER_OPTIONS)


class OpenAIModel(DirectModel):
    """One model behind one address."""

    def __init__(self, spec: ModelSpec, media: MediaStore) -> None:
        """For a spec that `is_direct`; calls nobody.

        Raises:
            SpecError: neither the spec nor the table of providers has an address, or `options` holds a name
                that is not the spec's to set.
        """
        provider = provider_of(spec.id, spec.api_base)
        base = provider.base
        if base is None and spec.api_base is None:
            message = f"{spec.id} has no known address to be called at directly; name its api_base"
            raise SpecError(message, field="client")
        endpoint = Endpoint(
            address=base or "",
            path=("chat/completions",),
            key_variable=provider.key or "",
            reserved=RESERVED_IN_CHAT,
        )
        super().__init__(spec, endpoint=endpoint, requests=ChatRequest(spec, media), read=read_chat)


class ChatRequest:
    """Bodies of one model's calls."""

    def __init__(self, spec: ModelSpec, media: MediaStore) -> None:
        self._spec, self._media = spec, media
        self._rules, self._limit = TurnRules.of(spec), wire.limit_name(spec)
        provider = self._rules.provider
        fields = {name: value for name, value in spec.options.items() if name not in Decoding.model_fields}
        stated = {**provider.fields, **fields, "model": spec.id.partition("/")[2] or spec.id}
        self._fields = {name: value for name, value in stated.items() if value is not None}
        self._is_marked = spec.prompt_cache == "auto" and wants_marks(spec.id)
        self._drawn = functools.cache(self._draw)
        self._tools = memoize_by_tools(lambda tools: Written(dump(tools).encode()))

    def pieces(self, request: Request) -> tuple[list[Piece], tuple[str, ...]]:
        """The body and what of the request was changed.

        Raises:
            DataError: a picture is not in the store.
        """
        drawn, absent = self._drawn(request.decoding, request.limit_name or self._limit)
        body = {**self._fields, **drawn}
        if request.seed is not None and self._rules.provider.seed:
            body[self._rules.provider.seed] = request.seed
        if request.tools:
            body |= {"tools": self._tools(request.tools), "tool_choice": request.tool_choice}
        left_out = self._rules.left_out(request.messages)
        return pieces_of({**body, "messages": self._messages(request)}), (*absent, *left_out)

    def _messages(self, request: Request) -> list[dict[str, Any]]:
        pictures = self._spec.pictures
        sent = wire.messages_out(
            request.messages, self._media, pictures=pictures, rules=self._rules, as_url=quoted
        )
        if self._is_marked:
            for place in marked_places(sent, offers_tools=bool(request.tools)):
                sent[place] = mark(sent[place])
        return sent

    def headers(self, key: str) -> dict[str, str]:
        """The key."""
        return {"Authorization": f"Bearer {key}"}

    def _draw(self, protocol: Decoding, limit: str) -> tuple[dict[str, Any], tuple[str, ...]]:
        drawn = wire.sampling_params(self._spec, protocol)
        named = {limit if name == "max_tokens" else name: value for name, value in drawn.items()}
        return named, wire.absent(self._spec, protocol, drawn)


def read_chat(body: Mapping[str, Any], scrub: Scrubber, price: Price) -> Reply:
    """The reply that a completion holds.

    Raises:
        ProviderFault: `bad_response`, where it holds no readable choice; or as the finish reason says.
        ModelFault: `refused` or `malformed_call`.
    """
    return read_completion(body, scrub, price)[0]
