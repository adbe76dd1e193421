"""Calls a model by its provider's own protocol, without LiteLLM, which would change its turns."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, Protocol

from gnomon.core.errors import ProviderFault
from gnomon.core.message import ToolCall
from gnomon.core.model import Reply, Request
from gnomon.spec.environment import from_environment
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models import chat_format as wire
from gnomon_agents.models.dialect import Dialect
from gnomon_agents.models.endpoint import Endpoint
from gnomon_agents.models.http_client import HttpClient
from gnomon_agents.models.json_pieces import Piece
from gnomon_agents.models.litellm_errors import Scrubber
from gnomon_agents.models.reply_bounds import with_changes
from gnomon_agents.models.usage import TokenUsage, counts_of, pricing


class Requests(Protocol):
    """Writes one model's requests in the words of its protocol."""

    def pieces(self, request: Request) -> tuple[list[Piece], tuple[str, ...]]:
        """The body, in pieces to be sent one after another, and what of the request was changed, by name.

        The list is the caller's, who may empty it.

        Raises:
            DataError: a picture is not in the store.
        """
        ...

    def headers(self, key: str) -> dict[str, str]: ...


Price = Callable[[TokenUsage], float | None]
Read = Callable[[Mapping[str, Any], Scrubber, Price], Reply]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The model's turn: `body` in the words of its protocol, and what that holds."""

    body: Any
    text: str
    reasoning: str
    calls: tuple[ToolCall, ...]
    usage: TokenUsage
    version: str
    refusal: str = ""

    def reply(self, *, dialect: Literal["anthropic", "responses"], finish_reason: str, price: Price) -> Reply:
        """The turn as a reply that keeps its body, so that it can go back as it came."""
        return Reply(
            text=wire.sanitize(self.text),
            tool_calls=self.calls,
            finish_reason=finish_reason,
            **counts_of(self.usage, price),
            reasoning=wire.sanitize(self.reasoning),
            provider_turn={"dialect": dialect, "body": self.body},
            model_version=self.version,
        )


def readable(turn: Callable[[], Turn], scrub: Scrubber, *, lack: str) -> Turn:
    """The turn that is read, sound enough to go back; `lack` says what an unreadable one does not have.

    Raises:
        ProviderFault: `bad_response`: it cannot be read.
    """
    try:
        read = turn()
        json.dumps(read.body, allow_nan=False)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        message = scrub(f"{lack}: {type(error).__name__}: {error}")
        raise ProviderFault(message, cause="bad_response") from None
    return read


def call_of(call_id: object, name: object, arguments: object) -> ToolCall:
    """A call as it was written; nothing is repaired.

    Raises:
        TypeError: its id or name is no text: its turn could not go back.
    """
    for word in (call_id, name):
        if not isinstance(word, str):
            raise TypeError(f"{word!r} is no id or name of a call")
    return wire.parse_tool_call(call_id, name, arguments)


class DirectModel:
    """One model of one provider. Tries each call once: trying again is the agent's affair."""

    def __init__(
        self,
        spec: ModelSpec,
        *,
        endpoint: Endpoint,
        requests: Requests,
        read: Read,
        statuses: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """Check the spec; calls nobody. `statuses` are those that errors in the body of a 200 stand for.

        Raises:
            SpecError: `options` holds a name that is not the spec's to set.
        """
        endpoint.check(spec)
        self.id, self.spec = spec.id, spec
        self._endpoint, self._requests, self._read, self._statuses = endpoint, requests, read, statuses
        self._http = HttpClient(endpoint.url(spec))
        self._price, self._place = pricing(spec), from_environment(spec)
        self._dialect = Dialect()
        self._scrub = Scrubber()  # of the key that was last used, as it reads the whole environment

    async def reply(self, request: Request) -> Reply:
        """One call over the network; a second one where the endpoint asks for another way of writing.

        Raises:
            ProviderFault: with the cause `no_api_key`, `rate_limit`, `quota`, `timeout`, `connection`,
                `server_error`, `auth`, `not_found`, `bad_request` or `bad_response`.
            ModelFault: `refused`, `context_overflow` or `malformed_call`.
            DataError: a picture of the prompt is not in the media store.
        """
        return await self._dialect.ask(request, self._call)

    async def _call(self, request: Request) -> Reply:
        key = self._endpoint.key(self.spec)
        if key != self._scrub.key:
            self._scrub = Scrubber(key)
        scrub = self._scrub
        pieces, changes = self._requests.pieces(request)
        body = await self._http.ask(
            pieces,
            self._requests.headers(key),
            timeout_s=request.timeout_s,
            scrub=scrub,
            statuses=self._statuses,
        )
        return with_changes((*self._place, *changes), lambda: self._read(body, scrub, self._price))

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._http.close()
