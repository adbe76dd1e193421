"""Asks addresses of outside agents: one session, bounded answers, no redirects, keys out of every message."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

from gnomon.core.errors import AgentFault, ProviderFault
from gnomon.core.outside_agent import OutsideAgent
from gnomon.core.redaction import key_in
from gnomon_agents.models.http_client import HttpSession, parsed
from gnomon_agents.models.http_errors import fault_of_body, fault_of_transport
from gnomon_agents.models.litellm_errors import Scrubber

MAX_ANSWER_BYTES = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAnswer:
    """The body of an answer, as JSON where it is some, and its headers."""

    json: Any
    body: bytes
    headers: Mapping[str, str]


class Web(HttpSession):
    """Calls addresses with the key of one agent."""

    def __init__(self, spec: OutsideAgent) -> None:
        self._spec = spec

    async def post(
        self, url: str, body: Any, *, timeout_s: float, headers: Mapping[str, str] | None = None
    ) -> WebAnswer:
        """Send JSON; the answer to it.

        Raises:
            ProviderFault: it cannot be reached, or answers with a status that is no success.
            AgentFault: `timeout`, or `too_large`.
        """
        data = await asyncio.to_thread(_encoded, body)
        return await self._call("POST", url, data, timeout_s, headers or {})

    async def get(self, url: str, *, timeout_s: float, headers: Mapping[str, str] | None = None) -> WebAnswer:
        """What an address shows.

        Raises:
            ProviderFault, AgentFault: as `post`.
        """
        return await self._call("GET", url, None, timeout_s, headers or {})

    async def _call(
        self, method: str, url: str, data: bytes | None, timeout_s: float, headers: Mapping[str, str]
    ) -> WebAnswer:
        key = self._key()
        scrub = Scrubber(key)
        sent = {"Content-Type": "application/json", "Accept": "application/json", **headers}
        if key:
            sent["Authorization"] = f"Bearer {key}"
        try:
            async with (
                asyncio.timeout(timeout_s),
                # A redirect is not followed: key and question go to the address that was allowed, or nowhere.
                self.open().request(method, url, data=data, headers=sent, allow_redirects=False) as response,
            ):
                body = await _bounded(response)
                status, received = response.status, response.headers
        except TimeoutError:
            raise AgentFault(f"no answer within {timeout_s:g} s", cause="timeout") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise fault_of_transport(error, scrub) from None
        content = await asyncio.to_thread(parsed, body)
        if not 200 <= status < 300:
            raise fault_of_body(status, received, content, body, scrub)
        return WebAnswer(json=content, body=body, headers=received)

    def _key(self) -> str:
        variable = self._spec.api_key_env
        if variable is None:
            return ""
        key = key_in(variable)
        if not key:
            message = f"the environment variable {variable} is not set, so {self._spec.label} has no key"
            raise ProviderFault(message, cause="no_api_key", transient=False)
        return key


def json_of(answer: WebAnswer) -> Any:
    """The JSON of an answer.

    Raises:
        AgentFault: `bad_json`: it is none.
    """
    if answer.json is None and answer.body.strip() != b"null":
        shown = " ".join(answer.body[:400].decode(errors="replace").split())[:200]
        said = f"the answer is no JSON: {shown!r}" if shown else "the answer is empty"
        raise AgentFault(said, cause="bad_json")
    return answer.json


def _encoded(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for part in response.content.iter_any():
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            raise AgentFault(f"an answer of more than {MAX_ANSWER_BYTES:,} bytes", cause="too_large")
    return bytes(body)
