"""Hands out permits to call with one provider key, in one process; one request to Redis serves many calls."""

import asyncio
import logging
import math
from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from redis.exceptions import RedisError

from gnomon.core.provider_wait import provider_wait
from gnomon_workers.rate_limit.prefetch import PREFETCH_S, PrefetchedPermits
from gnomon_workers.rate_limit.redis_limiter import LEASE_S, RedisRateLimiter, SyncRequest

BATCH_WINDOW_S = 0.002  # calls within this time ask together, if others came during the last sync
# A call that came back is reported within this time; within PREFETCH_S where nothing is short.
RELEASE_DELAY_S = 0.02
KEEPALIVE_S = LEASE_S / 5  # how often a process with calls in flight shows that it lives
RETRY_S = 0.5  # after Redis did not answer
MAX_BATCH = 500  # calls that one sync asks for
log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Permit:
    """One call's permit. The caller notes what came of it: `used` or `throttled`."""

    tokens: int  # it asked for
    permit: asyncio.Future[None] | None = None  # what it waits for; None: none of that, one was in hand
    used: int | None = None
    throttled: bool = False
    retry_after_s: float = 0.0
    asks_anew: bool = False

    @property
    def is_over(self) -> bool:
        """Whether it does not wait any more."""
        return self.permit is None or self.permit.done()


class PermittedCall:
    """Within, the call has a permit."""

    __slots__ = ("_call", "_client")

    def __init__(self, client: "RateLimitClient", call: Permit) -> None:
        self._client, self._call = client, call

    async def __aenter__(self) -> Permit:
        await self._client.acquire(self._call)
        return self._call

    async def __aexit__(self, *_: object) -> None:
        self._client.release(self._call)


class RateLimitClient:
    """Lets calls through as the limiter allows, first come, first served. Use it on one loop.

    While nothing is short, permits are prefetched, and a call need not wait for a sync.
    """

    def __init__(self, limiter: RedisRateLimiter) -> None:
        self._limiter = limiter
        self._waiting: deque[Permit] = deque()
        self._prefetched = PrefetchedPermits()
        self._report = SyncRequest()
        self._in_flight = 0
        self._wake = asyncio.Event()
        self._is_blocked = False  # asked for more than there is: only what comes back can change that
        self._is_plenty = False
        self._is_report_due = False
        self._is_closing = False
        self._pump: asyncio.Task[None] | None = None

    def call(self, tokens: int, *, asks_anew: bool = False) -> "PermittedCall":
        """Wait for a permit for a call of about so many tokens, off the trial's clock.

        Where that takes long, another trial has the slot of this one. With `asks_anew` the call goes, and all
        that ask together with it, though the provider has asked to wait; what it says then is what counts.
        """
        return PermittedCall(self, Permit(tokens=tokens, asks_anew=asks_anew))

    async def acquire(self, call: Permit) -> None:
        """Wait for a permit for this call; it is given back with `release`."""
        if self._try_acquire(call):
            return
        call.permit = permit = asyncio.get_running_loop().create_future()
        try:
            async with provider_wait():
                await self._wait(call, permit)
        except BaseException:
            if permit.done() and not permit.cancelled():
                self.release(call)
            raise

    async def close(self) -> None:
        """Report that nothing is in flight here any more.

        The pump is asked to end, not cancelled: Redis' client may swallow a cancellation.
        """
        if self._pump is not None:
            self._is_closing = True
            self._wake.set()
            await self._pump

    def _try_acquire(self, call: Permit) -> bool:
        """Whether a prefetched permit is enough for it; what that cost beyond its tokens is given back."""
        now_s = asyncio.get_running_loop().time()
        self._prefetched.count(call.tokens, now_s=now_s)
        self._drop_expired(now_s)
        is_paid = not self._waiting and not self._is_closing and self._pay(call)
        if self._is_plenty and self._prefetched.is_low:
            self._wake.set()
        if not is_paid:
            self._drop_expired()  # what is not enough for this call: the next sync asks for more
        return is_paid

    def _pay(self, call: Permit) -> bool:
        """Whether it takes a prefetched permit: none may be enough."""
        paid = self._prefetched.take(call.tokens)
        if paid is None:
            return False
        self._report.token_error -= paid - call.tokens
        self._in_flight += 1
        return True

    async def _wait(self, call: Permit, permit: "asyncio.Future[None]") -> None:
        self._waiting.append(call)
        if not self._is_blocked:
            self._wake.set()
        if self._pump is None or self._pump.done():
            self._pump = asyncio.create_task(self._sync_loop())
        await permit

    def release(self, call: Permit) -> None:
        """The call has come back; what came of it is noted in it."""
        report = self._report
        self._in_flight -= 1
        report.has_asked_anew |= call.asks_anew and (call.throttled or call.used is not None)
        if call.used is not None:
            report.answered += 1
            report.token_error += call.used - call.tokens
        if call.throttled:
            report.throttled += 1
            report.retry_after_s = max(report.retry_after_s, call.retry_after_s)
            self._is_plenty = False
            self._drop_expired()
        if self._is_blocked or call.throttled or call.asks_anew:
            self._wake.set()
        elif not self._is_report_due:
            self._is_report_due = True
            within_s = PREFETCH_S if self._is_plenty else RELEASE_DELAY_S
            asyncio.get_running_loop().call_later(within_s, self._wake.set)

    def _drop_expired(self, now_s: float = math.inf) -> None:
        before = len(self._prefetched)
        self._report.token_error -= self._prefetched.drop(now_s)
        self._report.unused += before - len(self._prefetched)

    async def _sync_loop(self) -> None:
        gather_s = 0.0  # a single call need not wait for others
        while not self._is_closing:
            await asyncio.sleep(gather_s)
            self._wake.clear()
            wait_s = await self._sync()
            gather_s = BATCH_WINDOW_S if self._waiting else 0.0
            if self._is_closing or (self._waiting and not self._is_blocked):
                continue  # closed, or they came, meanwhile
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s if self._is_blocked else KEEPALIVE_S):
                    await self._wake.wait()
        self._drop_expired()
        self._report.in_flight = 0
        with suppress(RedisError, OSError):
            await self._limiter.sync(self._report)

    async def _sync(self) -> float:
        """One sync; return when the next is due, in seconds."""
        while self._waiting and self._waiting[0].is_over:
            self._waiting.popleft()  # cancelled while it waited
        calls = [call for call in self._waiting if not call.is_over][:MAX_BATCH]
        now_s = asyncio.get_running_loop().time()
        self._drop_expired(now_s)
        report, self._report, self._is_report_due = self._report, SyncRequest(), False
        report.in_flight = self._in_flight + len(self._prefetched)
        report.costs = [call.tokens for call in calls]
        report.asks_anew = any(call.asks_anew for call in calls)
        report.prefetch, report.prefetch_cost = self._prefetched.wanted(now_s), self._prefetched.cost
        try:
            result = await self._limiter.sync(report)
        except (RedisError, OSError) as error:
            log.warning("no permits: Redis does not answer (%s)", type(error).__name__)
            self._requeue_report(report)
            self._is_blocked = True
            return RETRY_S
        self._is_blocked = result.granted < len(calls)
        if report.prefetch or self._is_blocked:
            self._is_plenty = result.prefetched == report.prefetch and not self._is_blocked
        for call in calls[: result.granted]:
            if call.permit is not None and not call.permit.done():
                call.permit.set_result(None)
                self._in_flight += 1
        self._prefetched.add(result.prefetched, tokens=report.prefetch_cost, now_s=now_s)
        if self._report.throttled:  # meanwhile
            self._is_plenty = False
            self._drop_expired()
        self._serve_waiting()
        return result.wait_s

    def _serve_waiting(self) -> None:
        """Let calls go that came during the sync, as far as the permits reach that it has brought.

        Else they would wait for the next sync, all that come meanwhile for the one after it, and the permits
        would expire.
        """
        while self._waiting:
            call = self._waiting[0]
            if call.permit is not None and not call.permit.done():
                if not self._pay(call):
                    return
                call.permit.set_result(None)
            self._waiting.popleft()

    def _requeue_report(self, report: SyncRequest) -> None:
        """Report again what Redis has not heard."""
        now = self._report
        now.answered += report.answered
        now.has_asked_anew |= report.has_asked_anew
        now.throttled += report.throttled
        now.unused += report.unused
        now.token_error += max(0, report.token_error)  # it may have been heard: nothing is given back twice
        now.retry_after_s = max(now.retry_after_s, report.retry_after_s)
