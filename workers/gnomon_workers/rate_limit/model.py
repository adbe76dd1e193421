"""A model within its key's rate: it calls with a permit, and waits where the provider says 429."""

import asyncio
from collections.abc import Awaitable, Callable

from gnomon.core.errors import ProviderFault
from gnomon.core.model import Model, Reply, Request
from gnomon.core.provider_wait import provider_wait, sleep_as_asked
from gnomon.core.retry import DEFAULT_RETRY, RATE_LIMIT_PAUSES, RetryPolicy
from gnomon.tokens import REPLY_TOKENS, TokenEstimator
from gnomon_workers.rate_limit.client import RateLimitClient
from gnomon_workers.wrapped_model import WrappedModel

MEMORY = 0.9  # how much of what was known stays, at each reply


async def _ignore(_message: str, _wait_s: float) -> None:
    """Take no note of a wait."""


class RateLimitedModel(WrappedModel):
    """Any model, held to the rate of its key. A 429 costs no try and no second of the trial: it waits.

    A call waits for `retry.total_wait_s` in all, and for `retry.cap_s` at a time, whatever the provider asks.

    `client_for` gives the rate limit client of the key as it is now; None: there is no key, and the model
    says so. `waits` is called with what the provider said, and for how many seconds it is not called. With
    `asks_anew` calls go though the provider has asked to wait, and a 429 is a fault as any other: for those
    who ask whether it still says so.
    """

    def __init__(
        self,
        model: Model,
        client_for: Callable[[], RateLimitClient | None],
        *,
        waits: Callable[[str, float], Awaitable[None]] = _ignore,
        asks_anew: bool = False,
        retry: RetryPolicy = DEFAULT_RETRY,
    ) -> None:
        super().__init__(model)
        self._client_for, self._waits, self._asks_anew, self._retry = client_for, waits, asks_anew, retry
        self._tokens = TokenEstimator()
        self._tokens_per_estimate = 1.0  # tokens that were used, for each that was estimated

    async def reply(self, request: Request) -> Reply:
        """The model's reply."""
        client = self._client_for()
        if client is None:
            return await self._model.reply(request)
        if self._asks_anew:
            return await self._ask_anew(request, client)
        began_s = asyncio.get_running_loop().time()
        estimate = self._tokens.prompt(request) + REPLY_TOKENS
        pauses = 0  # for which the provider gave no time
        while True:
            try:
                return await self._try(request, client, estimate)
            except ProviderFault as fault:
                waited_s = asyncio.get_running_loop().time() - began_s
                is_passing = fault.cause == "rate_limit" and self._retry.is_transient(fault)
                if not is_passing or waited_s > self._retry.total_wait_s:
                    raise
                again_s, message = fault.retry_after_s, fault.message
            if again_s is None:
                pauses += 1
                again_s = self._retry.capped_s(RATE_LIMIT_PAUSES.pause_s(pauses))
            async with provider_wait():
                await self._waits(message, self._retry.capped_s(again_s))
            await sleep_as_asked(again_s, retry=self._retry)

    async def _ask_anew(self, request: Request, client: RateLimitClient) -> Reply:
        try:
            return await self._try(request, client, self._tokens.prompt(request) + REPLY_TOKENS)
        except ProviderFault as fault:
            if fault.cause == "rate_limit" and fault.retry_after_s is not None:
                await self._waits(fault.message, self._retry.capped_s(fault.retry_after_s))
            raise

    async def _try(self, request: Request, client: RateLimitClient, estimate: int) -> Reply:
        tokens = max(1, round(estimate * self._tokens_per_estimate))
        async with client.call(tokens, asks_anew=self._asks_anew) as call:
            try:
                reply = await self._model.reply(request)
            except ProviderFault as fault:
                call.throttled = fault.cause == "rate_limit"
                asked_s = fault.retry_after_s or 0.0
                call.retry_after_s = self._retry.capped_s(asked_s) if call.throttled else 0.0
                raise
            call.used = call.tokens
            if reply.prompt_tokens is not None and reply.completion_tokens is not None:
                call.used = reply.prompt_tokens + reply.completion_tokens
                self._tokens_per_estimate += (1 - MEMORY) * (call.used / estimate - self._tokens_per_estimate)
            return reply
