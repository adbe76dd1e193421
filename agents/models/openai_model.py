"""The fast path: an endpoint that speaks OpenAI's protocol, called over aiohttp, LiteLLM left out."""

import functools
import os
from dataclasses import replace

from agents.models import wire
from agents.models.chat_reply import read_completion
from agents.models.chat_turn import TurnRules
from agents.models.faults import Scrubber
from agents.models.http_client import HttpClient
from agents.models.payload import Payload
from agents.models.prompt_cache import wants_marks
from agents.models.providers import provider_of
from agents.models.usage import pricing
from gnomon.decoding import Decoding
from gnomon.errors import ProviderFault, SpecError
from gnomon.media import MediaStore
from gnomon.model import Reply, Request
from gnomon.price_table import entry_of
from gnomon.spec import ModelSpec

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


def is_fast(spec: ModelSpec) -> bool:
    """Whether a model can do without LiteLLM: an address of one's own, and nothing that only LiteLLM knows.

    Names of OpenAI's models with parameter rules or prices of their own are left to LiteLLM.

    >>> is_fast(ModelSpec(id="openai/qwen", api_base="http://127.0.0.1:8000/v1"))
    True
    >>> is_fast(ModelSpec(id="openai/o3-mini", api_base="http://127.0.0.1:8000/v1"))
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
    return is_fast(spec) or (provider_of(spec.id).is_direct and spec.options.keys() <= PROVIDER_OPTIONS)


class OpenAIModel:
    """One model behind one address. Tries each call once: trying again is the agent's affair."""

    def __init__(self, spec: ModelSpec, media: MediaStore) -> None:
        """For a spec that `is_direct`; calls nobody.

        Raises:
            SpecError: neither the spec nor the table of providers has an address.
        """
        self.id, self.spec, self.media = spec.id, spec, media
        self._rules = TurnRules.of(spec)
        self._provider = self._rules.provider
        base = spec.api_base or self._provider.address
        if base is None:
            message = f"{spec.id} has no known address to be called at directly; name its api_base"
            raise SpecError(message, field="client")
        self._http = HttpClient(f"{base.rstrip('/')}/chat/completions")
        fields = {name: value for name, value in spec.options.items() if name not in Decoding.model_fields}
        self._payload = Payload(
            {**self._provider.fields, **fields, "model": spec.id.partition("/")[2] or spec.id},
            media,
            pictures=spec.pictures,
            rules=self._rules,
            seed_name=self._provider.seed,
            is_marked=spec.prompt_cache == "auto" and wants_marks(spec.id),
        )
        self._price = pricing(spec)
        self._drawn = functools.cache(functools.partial(wire.drawn, spec))

    async def reply(self, request: Request) -> Reply:
        """One call over the network.

        Raises:
            ProviderFault: with the cause `no_api_key`, `rate_limit`, `quota`, `timeout`, `connection`,
                `server_error`, `auth`, `not_found`, `bad_request` or `bad_response`.
            ModelFault: `refused` or `context_overflow`.
            DataError: a picture of the prompt is not in the media store.
        """
        key = wire.key_of(self.spec) or self._usual_key()
        scrub = Scrubber(key)
        pieces = self._payload.pieces(request, self._drawn(request.decoding))
        headers = {"Authorization": f"Bearer {key}"}
        body = await self._http.ask(pieces, headers, timeout_s=request.timeout_s, scrub=scrub)
        reply, _ = read_completion(body, scrub, self._price)
        return replace(reply, request_changes=self._rules.left_out(request.messages))

    def _usual_key(self) -> str:
        """The key in the provider's usual variable, as LiteLLM would look for it.

        Raises:
            ProviderFault: it is not set.
        """
        name = self._provider.key or ""
        if not os.environ.get(name):
            message = f"the environment variable {name} is not set, so {self.id} has no key"
            raise ProviderFault(message, cause="no_api_key", transient=False)
        return os.environ[name]

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._http.close()
