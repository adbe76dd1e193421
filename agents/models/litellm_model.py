"""LiteLLM behind the Model seam: any provider it knows, with honest usage, prices and faults."""

import asyncio
import copy
import functools
import logging
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any
from weakref import WeakSet

from agents.models import wire
from agents.models.faults import Scrubber, fault_of
from gnomon.errors import ModelFault, ProviderFault, SpecError
from gnomon.media import MediaStore
from gnomon.model import Reply, Request
from gnomon.spec import ModelSpec

# What a spec may not pass on: who is asked and with which key, what is said, and whatever would
# answer in the model's place.
RESERVED = frozenset(
    {"model", "messages", "tools", "tool_choice", "functions", "stream", "n", "timeout"}
    | {"api_key", "api_base", "base_url", "headers", "client", "custom_llm_provider"}
    | {"num_retries", "max_retries", "fallbacks", "context_window_fallback_dict", "caching", "cache"}
    | {"mock_response", "mock_tool_calls", "callbacks", "success_callback", "failure_callback"}
)


@functools.cache
def load() -> ModuleType:
    """LiteLLM, imported once and kept quiet: no network at import, no logs, no telemetry, no callbacks.

    It takes about two seconds; workers call this before they fork.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import asks the network for prices
    import httpx
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.turn_off_message_logging = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    for client in (httpx.Client, httpx.AsyncClient):
        client.send = _stays(client.send)  # type: ignore[method-assign]  # LiteLLM has no setting for it
    return litellm


def _stays(send: Callable[..., Any]) -> Callable[..., Any]:
    """The `send` of httpx that follows no redirect: the prompt, and the keys that some providers take in
    headers of their own, go to the address that was allowed, or nowhere.
    """

    @functools.wraps(send)
    def sent(client: object, request: object, **given: Any) -> Any:
        return send(client, request, **{**given, "follow_redirects": False})

    return sent


_USERS: "WeakSet[LiteLLMModel]" = WeakSet()  # the models of this process that may have open connections


class LiteLLMModel:
    """One model of one provider. Tries each call once: trying again is the agent's affair."""

    def __init__(self, spec: ModelSpec, media: MediaStore) -> None:
        """Check the spec; imports nothing heavy and calls nobody.

        Raises:
            SpecError: `options` holds a name that is not the spec's to set.
        """
        for name in spec.options:
            if name.lower() in RESERVED:
                allowed = "anything else that the provider's API knows"
                raise SpecError(f"{name!r} may not be set here; allowed: {allowed}", field=f"options.{name}")
        self.id, self.spec, self.media = spec.id, spec, media

    async def reply(self, request: Request) -> Reply:
        """One call over the network.

        Raises:
            ProviderFault: with the cause `no_api_key`, `rate_limit`, `timeout`, `connection`, `server_error`,
                `auth`, `not_found`, `bad_request` or `bad_response`.
            ModelFault: `refused` or `context_overflow`.
            DataError: a picture of the prompt is not in the media store.
        """
        key = wire.key_of(self.spec)
        scrub = Scrubber(key)
        call = {**self.spec.options, **self._call(request, key)}
        litellm = load()
        _USERS.add(self)
        try:
            async with asyncio.timeout(request.timeout_s):
                response = await litellm.acompletion(**call)
        except TimeoutError:
            message = f"no reply within {request.timeout_s:g} s"
            raise ProviderFault(message, cause="timeout") from None
        except Exception as error:  # noqa: BLE001 LiteLLM's tree is told apart in one place
            raise fault_of(error, scrub) from None  # the chain could hold the key
        return self._read(response, scrub)

    def _call(self, request: Request, key: str | None) -> dict[str, Any]:
        spec = self.spec
        call = {
            "model": spec.id,
            "messages": wire.messages_out(request.messages, self.media, pictures=spec.pictures),
            "timeout": request.timeout_s,
            "num_retries": 0,
            "max_retries": 0,
            "api_key": key,
            "api_base": spec.api_base,
            **wire.drawn(spec, request.decoding),
            "seed": request.seed if "seed" in _supported(spec.id) else None,
        }
        if request.tools:
            # A copy, for LiteLLM rewrites schemas in place for some providers, and these are everybody's.
            call |= {"tools": copy.deepcopy(request.tools), "tool_choice": request.tool_choice}
        return {name: value for name, value in call.items() if value is not None}

    def _read(self, response: Any, scrub: Scrubber) -> Reply:
        try:
            choice = response.choices[0]
            message = choice.message
            text = wire.clean(message.content or "")
            calls = tuple(
                wire.call_in(call.id, call.function.name, call.function.arguments)
                for call in message.tool_calls or ()
            )
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            text = scrub(f"the reply has no readable choice: {type(error).__name__}: {error}")
            raise ProviderFault(text, cause="bad_response") from None
        refusal = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
        if not text and not calls and (refusal or choice.finish_reason == "content_filter"):
            raise ModelFault(scrub(str(refusal or "the provider's content filter")), cause="refused")
        prompt_tokens, completion_tokens = wire.usage_in(response)
        return Reply(
            text=text,
            tool_calls=calls,
            finish_reason=str(choice.finish_reason or "stop"),
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            usd=self._price(response, prompt_tokens, completion_tokens),
        )

    def _price(self, response: Any, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """Dollars: by the spec's price, else by LiteLLM's table; None where neither knows.

        A zero in the table says that nobody published a price, not that the call was free.
        """
        if prompt_tokens is None or completion_tokens is None:
            return None
        price = self.spec.price
        if price is not None:
            return (prompt_tokens * price.input + completion_tokens * price.output) / 1e6
        try:
            usd = float(load().completion_cost(completion_response=response, model=self.id))
        except Exception:  # noqa: BLE001 a model without a price raises a bare Exception
            return None
        return usd or None

    async def close(self) -> None:
        """Close the connections once the last model that called anybody is closed: LiteLLM shares them."""
        _USERS.discard(self)
        if not _USERS and load.cache_info().currsize:
            await load().close_litellm_async_clients()
            load().in_memory_llm_clients_cache.flush_cache()  # else the closed ones are used again


@functools.lru_cache(maxsize=64)
def _supported(model: str) -> tuple[str, ...]:
    """The parameters this model's provider takes. The seed is ours and left out where nobody takes one;
    what a user set is sent, and refused by LiteLLM in words where it does not exist.
    """
    try:
        return tuple(load().get_supported_openai_params(model=model) or ())
    except Exception:  # noqa: BLE001 an unknown provider: the call itself will say so
        return ()
