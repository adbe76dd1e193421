"""Gives LiteLLM an HTTP client that follows no redirect and reads bounded bodies.

LiteLLM takes it in two ways: as `litellm.aclient_session`, for providers that it calls by OpenAI's library,
and as `client=`, for those that it calls itself. An adapter that uses neither is refused.
"""

import asyncio
import ssl
from collections.abc import Mapping
from typing import Any, Literal

import httpx
import litellm
from litellm.llms.custom_httpx.http_handler import (
    AsyncHTTPHandler,
    blocked_cookie_jar,
    get_default_headers,
    get_ssl_configuration,
)
from litellm.main import responses_api_bridge_check

from gnomon_agents.models.http_client import MAX_BODY_BYTES
from gnomon_agents.models.litellm_wire import heard

# Providers whose adapters take `client=`; all others go by OpenAI's library, for which it is another thing.
TAKES_CLIENT = frozenset(
    {
        *("a2a", "anthropic", "azure_ai", "bedrock", "bedrock_mantle", "bytez", "cometapi", "compactifai"),
        *("databricks", "datarobot", "deepseek", "edenai", "fireworks_ai", "gemini", "groq", "heroku"),
        *("hosted_vllm", "huggingface", "langflow", "langgraph", "lemonade", "minimax", "mistral", "nadir"),
        *("ollama", "ollama_chat", "openrouter", "ovhcloud", "snowflake", "together_ai", "vertex_ai"),
        *("vertex_ai_beta", "watsonx", "xai"),
    }
)
UNPACKED = ("content-encoding", "content-length", "transfer-encoding")


class Session(httpx.AsyncClient):
    """A client of httpx on LiteLLM's own transport; it belongs to the loop that runs when it is made."""

    def __init__(self) -> None:
        verify = get_ssl_configuration()
        transport = AsyncHTTPHandler.create_async_transport(
            ssl_context=verify if isinstance(verify, ssl.SSLContext) else None,
            ssl_verify=verify if isinstance(verify, bool) else None,
        )
        super().__init__(
            transport=transport,
            mounts=AsyncHTTPHandler.create_httpx_proxy_mounts(transport, verify=verify, cert=None),
            verify=verify,
            headers=get_default_headers(),
            cookies=blocked_cookie_jar(),
            timeout=None,  # each call has its own
        )
        self.loop = asyncio.get_running_loop()
        self.handler = AsyncHTTPHandler()  # what `client=` takes
        self.handler.client = self

    async def send(self, request: httpx.Request, **arguments: Any) -> httpx.Response:
        """Send a request. No redirect is followed: the prompt, and the keys that some providers take in
        headers of their own, go to the address that was allowed, or nowhere.

        Raises:
            httpx.DecodingError: the body is larger than is read.
        """
        response = await super().send(request, **{**arguments, "follow_redirects": False, "stream": True})
        if arguments.get("stream"):
            heard(request, response)
            return response
        whole = await _whole(response)
        heard(request, whole)
        return whole


def way_of(call: Mapping[str, Any]) -> Literal["client", "session", "responses"]:
    """How LiteLLM makes this call: by an adapter that takes `client=`, by OpenAI's library, which takes the
    session, or by the Responses API, where it takes neither.
    """
    base = call.get("api_base")
    try:
        model, provider, *_ = litellm.get_llm_provider(model=call["model"], api_base=base)
    except Exception:  # noqa: BLE001 an unknown provider: the call itself will say so
        return "session"
    effort, tools = call.get("reasoning_effort"), call.get("tools")
    about, _ = responses_api_bridge_check(
        model=model, custom_llm_provider=provider, tools=tools, reasoning_effort=effort, api_base=base
    )
    if about.get("mode") == "responses":
        return "responses"
    return "client" if provider in TAKES_CLIENT else "session"


def open_session() -> Session:
    """The client of LiteLLM's calls on the loop that is running."""
    session = litellm.aclient_session
    if (
        not isinstance(session, Session)
        or session.is_closed
        or session.loop is not asyncio.get_running_loop()
    ):
        session = litellm.aclient_session = Session()
    return session


async def close_session() -> None:
    """Close its connections; a later call opens another one."""
    if litellm.aclient_session is not None:
        await litellm.aclient_session.aclose()
        litellm.aclient_session = None


async def _whole(response: httpx.Response) -> httpx.Response:
    """The response with its body, unpacked as it comes: one reply could end the process, and with it every
    other trial.

    Raises:
        httpx.DecodingError: it is larger than is read.
    """
    body = bytearray()
    try:
        async for part in response.aiter_bytes():
            body += part
            if len(body) > MAX_BODY_BYTES:
                problem = f"a reply of more than {MAX_BODY_BYTES:,} bytes"
                raise httpx.DecodingError(problem, request=response.request)
    finally:
        await response.aclose()
    return httpx.Response(
        response.status_code,
        headers=[(name, value) for name, value in response.headers.multi_items() if name not in UNPACKED],
        content=bytes(body),
        request=response.request,
        extensions={name: value for name, value in response.extensions.items() if name != "network_stream"},
    )
