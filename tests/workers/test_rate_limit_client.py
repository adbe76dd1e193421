"""One process' client of the rate limiter: which calls wait, which start, and what it reports."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from gnomon.core.errors import ProviderFault, SpecError
from gnomon.core.model import Reply, Request
from gnomon.core.retry import RetryPolicy
from gnomon.core.timeout import timeout_paused, trial_timeout
from gnomon.spec.model_spec import ModelSpec, Rate
from gnomon_workers.rate_limit.client import RateLimitClient
from gnomon_workers.rate_limit.config import bucket_key, parse_rates
from gnomon_workers.rate_limit.model import RateLimitedModel
from gnomon_workers.rate_limit.prefetch import PREFETCH_S
from gnomon_workers.rate_limit.redis_limiter import SyncRequest, SyncResult

ASK = Request(messages=[{"role": "user", "content": "hi"}], tools=[])


class FakeRateLimiter:
    """Grants up to `room` calls at once, prefetched ones too if `plenty`; fails the first `away` syncs."""

    def __init__(self, room: int = 100, *, away: int = 0, plenty: bool = False, takes_s: float = 0.0) -> None:
        self.room, self.away, self.plenty, self.takes_s = room, away, plenty, takes_s
        self.syncs: list[SyncRequest] = []

    async def sync(self, request: SyncRequest) -> SyncResult:
        await asyncio.sleep(self.takes_s)
        if self.away:
            self.away -= 1
            raise RedisConnectionError("away")
        self.syncs.append(replace(request))
        granted = max(0, min(len(request.costs), self.room - request.in_flight))
        prefetched = min(request.prefetch, self.room - request.in_flight - granted) if self.plenty else 0
        return SyncResult(granted=granted, wait_s=0.01, cap=0, prefetched=prefetched)


class Busy:
    """A model that says 429 some times before it answers, and counts who is inside."""

    id = "busy"

    def __init__(self, *, refusals: int = 0, retry_after_s: float | None = 0.0) -> None:
        self.refusals, self.retry_after_s = refusals, retry_after_s
        self.now = self.most = self.calls = 0

    async def reply(self, request: Request) -> Reply:
        self.calls += 1
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        if self.refusals:
            self.refusals -= 1
            raise ProviderFault("slow down", cause="rate_limit", retry_after_s=self.retry_after_s)
        return Reply(text="A", prompt_tokens=900, completion_tokens=100)

    async def close(self) -> None:
        return


@pytest.fixture
async def new_client():
    clients = []

    def make(limiter: FakeRateLimiter) -> RateLimitClient:
        clients.append(RateLimitClient(limiter))
        return clients[-1]

    yield make
    for client in clients:
        await client.close()


NewClient = Callable[[FakeRateLimiter], RateLimitClient]


async def test_no_more_calls_run_than_have_permits_and_all_run_in_the_end(new_client: NewClient) -> None:
    busy, client = Busy(), new_client(FakeRateLimiter(room=3))
    model = RateLimitedModel(busy, lambda: client)
    await asyncio.gather(*(model.reply(ASK) for _ in range(20)))
    assert (busy.most, busy.calls) == (3, 20)


async def test_calls_that_come_together_share_a_sync(new_client: NewClient) -> None:
    limiter = FakeRateLimiter()
    client = new_client(limiter)
    model = RateLimitedModel(Busy(), lambda: client)
    await asyncio.gather(*(model.reply(ASK) for _ in range(50)))
    assert len(limiter.syncs) < 20


async def test_while_permits_are_plentiful_few_calls_wait_for_a_sync(new_client: NewClient) -> None:
    limiter = FakeRateLimiter(room=1_000, plenty=True)
    client = new_client(limiter)
    model = RateLimitedModel(Busy(), lambda: client)

    async def trial() -> None:
        for _ in range(20):
            await model.reply(ASK)

    await asyncio.gather(*(trial() for _ in range(10)))
    assert sum(len(request.costs) for request in limiter.syncs) < 100  # of 200


async def test_what_a_sync_has_prefetched_serves_the_calls_that_came_during_it(new_client: NewClient) -> None:
    limiter = FakeRateLimiter(plenty=True, takes_s=0.05)
    client = new_client(limiter)
    model = RateLimitedModel(Busy(), lambda: client)
    first = asyncio.create_task(model.reply(ASK))
    await asyncio.sleep(0.01)  # its sync is under way
    await asyncio.gather(first, model.reply(ASK), model.reply(ASK))
    assert [len(request.costs) for request in limiter.syncs if request.costs] == [1]


async def test_prefetched_permits_let_no_more_calls_run_than_have_permits(new_client: NewClient) -> None:
    limiter, busy = FakeRateLimiter(room=7, plenty=True), Busy()
    client = new_client(limiter)
    model = RateLimitedModel(busy, lambda: client)
    await asyncio.gather(*(model.reply(ASK) for _ in range(100)))
    assert (busy.most, busy.calls) == (7, 100)
    assert max(request.in_flight for request in limiter.syncs) <= 7


async def test_a_call_waits_for_a_rate_limit_as_long_as_its_policy_says(new_client: NewClient) -> None:
    busy, client = Busy(refusals=10**6, retry_after_s=3_600.0), new_client(FakeRateLimiter())
    waits: list[float] = []

    async def note(_message: str, wait_s: float) -> None:
        waits.append(wait_s)

    policy = RetryPolicy(cap_s=1.0, total_wait_s=1.5)
    with pytest.raises(ProviderFault, match="slow down"):
        await RateLimitedModel(busy, lambda: client, waits=note, retry=policy).reply(ASK)
    assert len(waits) == busy.calls - 1 > 1
    assert set(waits) == {1.0}
    final = RetryPolicy(final_causes=("rate_limit",))
    calls = busy.calls
    with pytest.raises(ProviderFault, match="slow down"):
        await RateLimitedModel(busy, lambda: client, waits=note, retry=final).reply(ASK)
    assert busy.calls == calls + 1


async def test_a_permit_that_is_not_used_in_time_is_returned_with_its_tokens(new_client: NewClient) -> None:
    limiter = FakeRateLimiter(plenty=True)
    client = new_client(limiter)
    async with client.call(100) as call:
        call.used = 100
    prefetched = limiter.syncs[0].prefetch * limiter.syncs[0].prefetch_cost
    assert prefetched > 0
    await asyncio.sleep(2 * PREFETCH_S)
    async with client.call(100):
        last = limiter.syncs[-1]
    assert last.in_flight == 0
    assert sum(request.token_error for request in limiter.syncs) == -prefetched


async def test_after_a_429_no_permit_from_before_is_used(new_client: NewClient) -> None:
    limiter = FakeRateLimiter(plenty=True)
    client = new_client(limiter)
    with contextlib.suppress(ProviderFault):
        async with client.call(1) as call:
            call.throttled = True
            raise ProviderFault("slow down", cause="rate_limit")
    limiter.plenty = False
    async with client.call(1):
        assert [len(request.costs) for request in limiter.syncs if request.costs] == [1, 1]


async def test_a_429_during_a_sync_drops_the_permits_that_it_prefetched(new_client: NewClient) -> None:
    limiter = FakeRateLimiter(plenty=True, takes_s=0.1)
    client = new_client(limiter)
    with contextlib.suppress(ProviderFault):
        async with client.call(1) as call:
            other = asyncio.create_task(RateLimitedModel(Busy(), lambda: client).reply(ASK))
            await asyncio.sleep(0.03)  # a sync is under way, for the other
            call.throttled = True
            raise ProviderFault("slow down", cause="rate_limit")
    await other
    limiter.plenty = False
    before = sum(len(request.costs) for request in limiter.syncs)
    async with client.call(1):
        assert sum(len(request.costs) for request in limiter.syncs) == before + 1


async def test_a_permit_for_a_small_call_is_not_enough_for_a_large_one(new_client: NewClient) -> None:
    limiter = FakeRateLimiter(room=1_000, plenty=True)
    client = new_client(limiter)
    for tokens in (*[10] * 40, *[20_000] * 3):
        async with client.call(tokens) as call:
            call.used = tokens
    paid = sum(sum(request.costs) + request.prefetch * request.prefetch_cost for request in limiter.syncs)
    assert [request.costs for request in limiter.syncs if 20_000 in request.costs] != []
    await client.close()
    returned = -sum(request.token_error for request in limiter.syncs)
    assert paid - returned == 40 * 10 + 3 * 20_000


async def test_a_429_costs_no_attempt_and_is_reported(new_client: NewClient) -> None:
    limiter = FakeRateLimiter()
    client, busy = new_client(limiter), Busy(refusals=6)
    assert (await RateLimitedModel(busy, lambda: client).reply(ASK)).text == "A"
    assert busy.calls == 7
    assert sum(request.throttled for request in limiter.syncs) == 6


async def test_a_call_that_asks_anew_says_so_and_gets_a_429_as_any_fault(new_client: NewClient) -> None:
    limiter, busy, messages = FakeRateLimiter(), Busy(refusals=1, retry_after_s=3600.0), []
    client = new_client(limiter)

    async def waits(message: str, wait_s: float) -> None:
        messages.append((message, wait_s))

    model = RateLimitedModel(busy, lambda: client, waits=waits, asks_anew=True)
    with pytest.raises(ProviderFault, match="slow down"):
        await model.reply(ASK)
    assert (await model.reply(ASK)).text == "A"
    await client.close()
    assert messages == [("slow down", 600.0)]
    assert [request.asks_anew for request in limiter.syncs if request.costs] == [True, True]
    assert sum(request.has_asked_anew for request in limiter.syncs) == 2


async def test_other_faults_go_to_the_agent_at_once(new_client: NewClient) -> None:
    class Broken(Busy):
        async def reply(self, request: Request) -> Reply:
            raise ProviderFault("broken", cause="server_error")

    client = new_client(FakeRateLimiter())
    with pytest.raises(ProviderFault, match="broken"):
        await RateLimitedModel(Broken(), lambda: client).reply(ASK)


async def test_without_redis_no_call_runs_and_none_is_lost(new_client: NewClient) -> None:
    limiter, busy = FakeRateLimiter(away=2), Busy()
    client = new_client(limiter)
    asking = asyncio.create_task(RateLimitedModel(busy, lambda: client).reply(ASK))
    await asyncio.sleep(0.1)
    assert busy.calls == 0
    assert (await asking).text == "A"


async def test_a_cancelled_call_waits_no_longer(new_client: NewClient) -> None:
    limiter, busy = FakeRateLimiter(room=0), Busy()
    client = new_client(limiter)
    model = RateLimitedModel(busy, lambda: client)
    first = asyncio.create_task(model.reply(ASK))
    await asyncio.sleep(0.05)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    limiter.room = 1
    assert (await model.reply(ASK)).text == "A"
    assert busy.calls == 1
    await asyncio.sleep(0.05)
    assert limiter.syncs[-1].in_flight == 0


async def test_estimates_of_tokens_learn_from_what_was_used(new_client: NewClient) -> None:
    limiter = FakeRateLimiter()
    client = new_client(limiter)
    model = RateLimitedModel(Busy(), lambda: client)
    for _ in range(40):
        await model.reply(ASK)
    estimates = [request.costs[0] for request in limiter.syncs if request.costs]
    assert estimates[0] < 400
    assert 950 < estimates[-1] < 1_050


async def test_the_timeout_of_a_trial_is_paused_while_it_waits_for_a_permit() -> None:
    async with trial_timeout(0.2) as clock:
        with timeout_paused():
            await asyncio.sleep(0.4)
        with timeout_paused(), timeout_paused():
            await asyncio.sleep(0.2)
    assert not clock.is_over
    assert clock.paused_s >= 0.59, "both waits, and the inner one once"


async def test_the_timeout_of_a_trial_goes_on_after_a_pause() -> None:
    async def trial() -> None:
        async with trial_timeout(0.1):
            with timeout_paused():
                await asyncio.sleep(0.15)
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        await trial()


def test_equal_keys_share_a_bucket_whatever_their_variable_is_called() -> None:
    first = ModelSpec(id="openai/a", api_base="http://h:1/v1", api_key_env="ONE")
    second = ModelSpec(id="openai/b", api_base="http://h:1/v2", api_key_env="OTHER")
    assert bucket_key(first, "secret-key") == bucket_key(second, "secret-key") != bucket_key(first, "another")
    assert "secret" not in bucket_key(first, "secret-key")


@pytest.mark.parametrize(
    "text", ["openai", "openai=", "openai=rpm", "openai=rpm:0", "openai=rph:5", "openai=rpm:5 x"]
)
def test_a_rate_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="GNOMON_RATE_LIMITS"):
        parse_rates(text)


def test_rates_are_read_by_provider_and_host() -> None:
    rates = parse_rates("openai = rpm:500, tpm:200000 ; 10.0.0.7:8000=in_flight:4;")
    assert rates == {
        "openai": Rate(requests_per_minute=500, tokens_per_minute=200_000),
        "10.0.0.7:8000": Rate(in_flight=4),
    }


async def test_a_client_closes_though_redis_swallows_cancellations(new_client: NewClient) -> None:
    class Deaf(FakeRateLimiter):
        async def sync(self, request: SyncRequest) -> SyncResult:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
            return await super().sync(request)

    limiter = Deaf()
    client = new_client(limiter)
    await RateLimitedModel(Busy(), lambda: client).reply(ASK)
    async with asyncio.timeout(20):
        await client.close()
    assert limiter.syncs[-1].in_flight == 0
