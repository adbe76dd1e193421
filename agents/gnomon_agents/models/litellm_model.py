"""Calls any provider that LiteLLM knows, with checked usage, prices and faults."""

import asyncio
import copy
import functools
import logging
import os
import warnings
from dataclasses import replace
from types import ModuleType
from typing import Any
from weakref import WeakSet

from gnomon.core.errors import ProviderFault
from gnomon.core.model import Reply, Request
from gnomon.core.redaction import key_in
from gnomon.media import MediaStore
from gnomon.spec.environment import MODE, MODE_VARIABLE, from_environment
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models import chat_format as wire
from gnomon_agents.models.chat_reply import read_completion
from gnomon_agents.models.chat_turn import TurnRules
from gnomon_agents.models.dialect import Dialect
from gnomon_agents.models.endpoint import RESERVED_IN_CHAT, check_options
from gnomon_agents.models.http_errors import fault_of_body
from gnomon_agents.models.litellm_errors import Scrubber, fault_of
from gnomon_agents.models.litellm_wire import changes, listening, portable
from gnomon_agents.models.model_version import version_of
from gnomon_agents.models.prompt_cache import mark, marked_places, wants_marks
from gnomon_agents.models.reply_bounds import with_changes
from gnomon_agents.models.usage import pricing

# What LiteLLM will do to this turn in the next request: of thinking it makes the beginning of the turn.
_MOVED = ("reasoning: thinking between calls of this turn cannot go back in its place",)

UNBOUNDED_CLIENT = (
    "LiteLLM's adapter for this provider uses no HTTP client that it is given, so nothing bounds redirects"
    " and replies; call the provider's OpenAI-compatible service instead (`openai/MODEL` with an `api_base`)"
)
UNBOUNDED_RESPONSES = (
    "LiteLLM would call this model by the Responses API, and bounds neither redirects nor replies there; name"
    " it with `api: responses`, or leave out `client` and options that Gnomon's own client does not take"
)


@functools.cache
def load() -> ModuleType:
    """LiteLLM, imported once and kept quiet: no network and no `.env` at import, unless the environment says
    so, no logs, no telemetry, no callbacks.

    It takes about two seconds; workers call this before they fork.
    """
    os.environ.setdefault(MODE_VARIABLE, MODE)
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import asks the network for prices
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.turn_off_message_logging = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    with warnings.catch_warnings():  # Pydantic warns of LiteLLM's types when the first reply is made
        warnings.simplefilter("ignore")
        litellm.ModelResponse()
    loaded: ModuleType = litellm
    return loaded


_USERS: "WeakSet[LiteLLMModel]" = WeakSet()  # the models of this process that may have open connections


class LiteLLMModel:
    """One model of one provider. Tries each call once: trying again is the agent's affair."""

    def __init__(self, spec: ModelSpec, media: MediaStore) -> None:
        """Check the spec; imports nothing heavy and calls nobody.

        Raises:
            SpecError: `options` holds a name that is not the spec's to set.
        """
        check_options(spec, RESERVED_IN_CHAT)
        self.id, self.spec, self.media = spec.id, spec, media
        self._price, self._place = pricing(spec), from_environment(spec, by_litellm=True)
        self._rules, self._dialect = TurnRules.of(spec), Dialect()

    async def reply(self, request: Request) -> Reply:
        """One call over the network; a second one where the endpoint asks for another way of writing.

        Raises:
            ProviderFault: with the cause `no_api_key`, `rate_limit`, `timeout`, `connection`, `server_error`,
                `quota`, `auth`, `not_found`, `bad_request` or `bad_response`.
            ModelFault: `refused`, `context_overflow` or `malformed_call`.
            DataError: a picture of the prompt is not in the media store.
        """
        return await self._dialect.ask(request, self._call_once)

    async def _call_once(self, request: Request) -> Reply:
        key = wire.key_of(self.spec) or key_in(self._rules.provider.key or "") or None
        scrub = Scrubber(key)
        wanted = self._call(request, key)
        call = {**self.spec.options, **wanted, "messages": copy.deepcopy(wanted["messages"])}
        if request.tools:
            call["tools"] = portable(request.tools)
        litellm = load()
        # After `load`, which sees to it that LiteLLM is imported without the network.
        from gnomon_agents.models.litellm_session import open_session, way_of

        way, session = way_of(call), open_session()
        _USERS.add(self)
        if way == "responses":
            raise ProviderFault(UNBOUNDED_RESPONSES, cause="bad_request", transient=False)
        if way == "client":
            call["client"] = session.handler
        try:
            async with asyncio.timeout(request.timeout_s):
                with listening() as exchange:
                    response = await litellm.acompletion(**call)
        except TimeoutError:
            message = f"no reply within {request.timeout_s:g} s"
            raise ProviderFault(message, cause="timeout") from None
        except Exception as error:  # noqa: BLE001 LiteLLM's tree is told apart in one place
            raise fault_of(error, scrub, exchange.error) from None  # the chain could hold the key
        if not exchange.is_heard:
            raise ProviderFault(UNBOUNDED_CLIENT, cause="bad_request", transient=False)
        if exchange.error is not None:  # LiteLLM reads some of them as empty replies
            raise fault_of_body(200, {}, exchange.error, b"", scrub)
        is_plain = exchange.completion is not None and exchange.offers(len(request.tools))
        settings = {**self.spec.options, **wanted}
        changed = (
            *self._place,
            *wire.absent(self.spec, request.decoding, wanted),
            *changes(settings, exchange),
            *self._rules.left_out(request.messages),
        )
        completion = exchange.completion if is_plain else None
        reply = with_changes(changed, lambda: self._read(response, completion, scrub))
        if reply.tool_calls and exchange.thinks_between:
            changed += _MOVED
        # What LiteLLM calls the model may be what was asked for, whatever replied.
        version = version_of(exchange.received or {}, scrub) or reply.model_version
        return replace(reply, request_changes=changed, model_version=version)

    def _call(self, request: Request, key: str | None) -> dict[str, Any]:
        spec = self.spec
        call = {
            "model": spec.id,
            "messages": self._messages(request),
            "timeout": request.timeout_s,
            "num_retries": 0,
            "max_retries": 0,
            "api_key": key,
            "api_base": spec.api_base,
            **wire.sampling_params(spec, request.decoding),
            "seed": request.seed if "seed" in _supported(spec.id) else None,
        }
        if request.limit_name and "max_tokens" in call:
            call[request.limit_name] = call.pop("max_tokens")
        if request.tools:
            call |= {"tools": request.tools, "tool_choice": request.tool_choice}
        return {name: value for name, value in call.items() if value is not None}

    def _messages(self, request: Request) -> list[dict[str, Any]]:
        spec = self.spec
        sent = wire.messages_out(request.messages, self.media, pictures=spec.pictures, rules=self._rules)
        for message in sent:
            if isinstance(message.get("content"), list):
                message["content"] = [wire.video_as_file(part) for part in message["content"]]
        if spec.prompt_cache == "auto" and wants_marks(spec.id):
            for place in marked_places(sent, offers_tools=bool(request.tools)):
                sent[place] = mark(sent[place])
        return sent

    def _read(self, response: Any, completion: dict[str, Any] | None, scrub: Scrubber) -> Reply:
        """The completion as it came, where one came: LiteLLM cuts `<think>` out of contents and gives fields
        other names, under which nobody would take them back.
        """
        return read_completion(completion or _completion_of(response), scrub, self._price)[0]

    async def close(self) -> None:
        """Close the connections once the last model that called anybody is closed: LiteLLM shares them."""
        _USERS.discard(self)
        if not _USERS and load.cache_info().currsize:
            from gnomon_agents.models.litellm_session import close_session

            await load().close_litellm_async_clients()
            load().in_memory_llm_clients_cache.flush_cache()  # else the closed ones are used again
            await close_session()


def _completion_of(response: Any) -> dict[str, Any]:
    """LiteLLM's response in the shape of a chat completion. What it makes of items of the Responses API does
    not go back: without the calls' own ids, which it drops, the provider would refuse them.
    """
    body: dict[str, Any] = response.model_dump()
    for choice in body.get("choices") or ():
        if isinstance(choice.get("message"), dict):
            choice["message"].pop("reasoning_items", None)
    return body


@functools.lru_cache(maxsize=64)
def _supported(model: str) -> tuple[str, ...]:
    """The parameters this model's provider takes. The seed is ours and left out where nobody takes one;
    what a user set is sent, and refused by LiteLLM in words where it does not exist.
    """
    try:
        return tuple(load().get_supported_openai_params(model=model) or ())
    except Exception:  # noqa: BLE001 an unknown provider: the call itself will say so
        return ()
