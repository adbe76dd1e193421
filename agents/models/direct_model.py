"""A model behind a protocol of its provider's own, called directly: LiteLLM would change its turns."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from agents.models.endpoint import Endpoint
from agents.models.http_client import HttpClient
from agents.models.json_pieces import Piece
from agents.models.litellm_errors import Scrubber
from agents.models.reply_bounds import with_changes
from agents.models.usage import TokenUsage, pricing
from gnomon.core.model import Reply, Request
from gnomon.spec.job_spec import ModelSpec


class Requests(Protocol):
    """Writes one model's requests in the words of its protocol."""

    def pieces(self, request: Request) -> tuple[Sequence[Piece], tuple[str, ...]]:
        """The body, in pieces to be sent one after another, and what of the request was changed, by name.

        Raises:
            DataError: a picture is not in the store.
        """
        ...

    def headers(self, key: str) -> dict[str, str]: ...


Price = Callable[[TokenUsage], float | None]
Read = Callable[[Mapping[str, Any], Scrubber, Price], Reply]


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
        self._price = pricing(spec)

    async def reply(self, request: Request) -> Reply:
        """One call over the network.

        Raises:
            ProviderFault: with the cause `no_api_key`, `rate_limit`, `quota`, `timeout`, `connection`,
                `server_error`, `auth`, `not_found`, `bad_request` or `bad_response`.
            ModelFault: `refused`, `context_overflow` or `malformed_call`.
            DataError: a picture of the prompt is not in the media store.
        """
        key = self._endpoint.key(self.spec)
        scrub = Scrubber(key)
        pieces, changes = self._requests.pieces(request)
        body = await self._http.ask(
            pieces,
            self._requests.headers(key),
            timeout_s=request.timeout_s,
            scrub=scrub,
            statuses=self._statuses,
        )
        return with_changes(changes, lambda: self._read(body, scrub, self._price))

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._http.close()
