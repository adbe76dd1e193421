"""The fast path: an endpoint that speaks OpenAI's protocol, called over aiohttp, LiteLLM left out."""

import asyncio
import functools
import json
import os
from typing import Any

import aiohttp
from yarl import URL

from agents.models import wire
from agents.models.faults import Scrubber
from agents.models.http_faults import fault_of_body, fault_of_transport
from agents.models.payload import Payload, in_chunks
from gnomon.decoding import Decoding
from gnomon.errors import ModelFault, ProviderFault
from gnomon.media import MediaStore
from gnomon.model import Reply, Request
from gnomon.price_table import Entry, entry_of
from gnomon.spec import ModelSpec

PROVIDERS = ("openai", "hosted_vllm")
BODY_OPTIONS = frozenset(  # of the spec; any other is LiteLLM's affair
    {
        *("top_p", "top_k", "min_p", "stop", "logit_bias", "logprobs", "top_logprobs", "response_format"),
        *("presence_penalty", "frequency_penalty", "repetition_penalty", "parallel_tool_calls", "user"),
        *("chat_template_kwargs", "guided_json", "guided_choice", "guided_regex"),
    }
)
MAX_BODY_BYTES = 50_000_000
KEEP_ALIVE_S = 4.0  # below the 5 s after which many servers hang up
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


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
    entry = _entry(spec)
    return entry is None or entry.is_plain


def _entry(spec: ModelSpec) -> Entry | None:
    provider, _, name = spec.id.partition("/")
    return entry_of(name) if provider == "openai" else None


class OpenAIModel:
    """One model behind one address. Tries each call once: trying again is the agent's affair.

    All its calls share one session, which belongs to the loop of the first call.
    """

    def __init__(self, spec: ModelSpec, media: MediaStore) -> None:
        """For a spec that `is_fast`; calls nobody."""
        self.id, self.spec, self.media = spec.id, spec, media
        self._url = URL(f"{str(spec.api_base).rstrip('/')}/chat/completions")
        fields = {name: value for name, value in spec.options.items() if name not in Decoding.model_fields}
        fields["model"] = spec.id.partition("/")[2]
        self._payload = Payload(fields, media, pictures=spec.pictures)
        self._drawn = functools.cache(functools.partial(wire.drawn, spec))
        self._session: aiohttp.ClientSession | None = None

    async def reply(self, request: Request) -> Reply:
        """One call over the network.

        Raises:
            ProviderFault: with the cause `no_api_key`, `rate_limit`, `quota`, `timeout`, `connection`,
                `server_error`, `auth`, `not_found`, `bad_request` or `bad_response`.
            ModelFault: `refused` or `context_overflow`.
            DataError: a picture of the prompt is not in the media store.
        """
        key = wire.key_of(self.spec)
        pieces = self._payload.pieces(request, self._drawn(request.decoding))
        try:
            async with asyncio.timeout(request.timeout_s):
                status, headers, body = await self._post(pieces, key)
        except TimeoutError:
            message = f"no reply within {request.timeout_s:g} s"
            raise ProviderFault(message, cause="timeout") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise fault_of_transport(error, Scrubber(key)) from None
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            found = None
        if status == 200 and isinstance(found, dict) and "error" not in found:
            return self._read(found, key)
        raise fault_of_body(status, headers, found, body, Scrubber(key))

    async def _post(self, pieces: list[bytes], key: str | None) -> tuple[int, Any, bytes]:
        size = sum(map(len, pieces))
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        if len(pieces) > 1:
            headers["Content-Length"] = str(size)
        data = pieces[0] if len(pieces) == 1 else in_chunks(pieces)
        # A redirect is not followed: the key and the prompt go to the address that was allowed, or nowhere.
        async with self._open().post(
            self._url, data=data, headers=headers, allow_redirects=False
        ) as response:
            return response.status, response.headers, await _body(response)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_S),
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=any(os.environ.get(name) for name in PROXIES),
            )
        return self._session

    def _read(self, found: dict[str, Any], key: str | None) -> Reply:
        try:
            choice = found["choices"][0]
            message = choice["message"]
            text = wire.clean(message.get("content") or "")
            calls = tuple(
                wire.call_in(call.get("id"), call["function"]["name"], call["function"].get("arguments"))
                for call in message.get("tool_calls") or ()
            )
            usage = found.get("usage") or {}
            cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            said = Scrubber(key)(f"the reply has no readable choice: {type(error).__name__}: {error}")
            raise ProviderFault(said, cause="bad_response") from None
        reason = choice.get("finish_reason")
        refusal = message.get("refusal")
        if not text and not calls and (refusal or reason == "content_filter"):
            raise ModelFault(Scrubber(key)(str(refusal or "the provider's content filter")), cause="refused")
        prompt, completion = _counts(usage.get("prompt_tokens"), usage.get("completion_tokens"))
        return Reply(
            text=text,
            tool_calls=calls,
            finish_reason=str(reason or "stop"),
            prompt_tokens=prompt,
            completion_tokens=completion,
            usd=self._price(prompt, completion, cached=cached if isinstance(cached, int) else 0),
        )

    def _price(self, prompt: int | None, completion: int | None, *, cached: int) -> float | None:
        """Dollars: by the spec's price, else by the table of `price_table`; None where neither knows."""
        if prompt is None or completion is None:
            return None
        price = self.spec.price
        if price is not None:
            return (prompt * price.input + completion * price.output) / 1e6
        entry = _entry(self.spec)
        return (entry.usd(prompt=prompt, cached=cached, completion=completion) or None) if entry else None

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        if self._session is not None:
            await self._session.close()
            self._session = None


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """The body, unpacked as it comes, so that a small one that unpacks to gigabytes ends at the limit too.

    Raises:
        ValueError: it is larger than is read.
    """
    body = bytearray()
    async for part in response.content.iter_any():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise ValueError(f"a reply of more than {MAX_BODY_BYTES:,} bytes")
    return bytes(body)


def _counts(prompt: object, completion: object) -> tuple[int | None, int | None]:
    """Tokens as the provider says them; None where it says none, or nonsense. No prompt has zero tokens.

    >>> _counts(11, 7), _counts(0, 0), _counts(11, None)
    ((11, 7), (None, None), (None, None))
    """
    if isinstance(prompt, int) and isinstance(completion, int) and prompt > 0 <= completion:
        return prompt, completion
    return None, None
