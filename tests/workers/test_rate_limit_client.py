"""One process' gate: who waits, who goes, and what the ledger is told."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from gnomon.core.errors import ProviderFault, SpecError
from gnomon.core.model import Reply, Request
from gnomon.core.retry import RetryPolicy
from gnomon.spec.job_spec import ModelSpec, Rate
from gnomon.trials.timeout import timeout_paused, trial_timeout
from workers.rate_limit.client import RateLimitClient
from workers.rate_limit.config import bucket_key, parse_rates
from workers.rate_limit.model import RateLimitedModel
from workers.rate_limit.prefetch import PREFETCH_S
from workers.rate_limit.redis_limiter import SyncRequest, SyncResult

ASK = Request(messages=[{"role": "user", "content": "hi"}], tools=[])


class FakeLedger:
    """Grants up to `room` at once, in advance too where there is `plenty`; may be away for some visits."""

    def __init__(self, room: int = 100, *, away: int = 0, plenty: bool = False, takes_s: float = 0.0) -> None:
        self.room, self.away, self.plenty, self.takes_s = room, away, plenty, takes_s
        self.visits: list[SyncRequest] = []

    async def sync(self, visit: SyncRequest) -> SyncResult:
        await asyncio.sleep(self.takes_s)
        if self.away:
            self.away -= 1
            raise RedisConnectionError("away")
        self.visits.append(replace(visit))
        granted = max(0, min(len(visit.costs), self.room - visit.in_flight))
        ahead = min(visit.prefetch, self.room - visit.in_flight - granted) if self.plenty else 0
        return SyncResult(granted=granted, wait_s=0.01, cap=0, prefetched=ahead)


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
async def new_gate():
    gates = []

    def make(ledger: FakeLedger) -> RateLimitClient:
        gates.append(RateLimitClient(ledger))
        return gates[-1]

    yield make
    for gate in gates:
        await gate.close()


NewGate = Callable[[FakeLedger], RateLimitClient]


async def test_no_more_calls_go_than_have_leave_and_all_go_in_the_end(new_gate: NewGate) -> None:
    busy, gate = Busy(), new_gate(FakeLedger(room=3))
    model = RateLimitedModel(busy, lambda: gate)
    await asyncio.gather(*(model.reply(ASK) for _ in range(20)))
    assert (busy.most, busy.calls) == (3, 20)


async def test_calls_that_come_together_ask_together(new_gate: NewGate) -> None:
    ledger = FakeLedger()
    gate = new_gate(ledger)
    model = RateLimitedModel(Busy(), lambda: gate)
    await asyncio.gather(*(model.reply(ASK) for _ in range(50)))
    assert len(ledger.visits) < 20


async def test_while_nothing_is_short_few_calls_wait_for_a_visit(new_gate: NewGate) -> None:
    ledger = FakeLedger(room=1_000, plenty=True)
    gate = new_gate(ledger)
    model = RateLimitedModel(Busy(), lambda: gate)

    async def trial() -> None:
        for _ in range(20):
            await model.reply(ASK)

    await asyncio.gather(*(trial() for _ in range(10)))
    assert sum(len(visit.costs) for visit in ledger.visits) < 100  # of 200


async def test_leave_in_advance_never_lets_more_calls_go_than_have_leave(new_gate: NewGate) -> None:
    ledger, busy = FakeLedger(room=7, plenty=True), Busy()
    gate = new_gate(ledger)
    model = RateLimitedModel(busy, lambda: gate)
    await asyncio.gather(*(model.reply(ASK) for _ in range(100)))
    assert (busy.most, busy.calls) == (7, 100)
    assert max(visit.in_flight for visit in ledger.visits) <= 7


async def test_a_call_waits_for_a_rate_limit_as_long_as_its_policy_says(new_gate: NewGate) -> None:
    busy, gate = Busy(refusals=10**6, retry_after_s=3_600.0), new_gate(FakeLedger())
    waits: list[float] = []

    async def note(_message: str, wait_s: float) -> None:
        waits.append(wait_s)

    policy = RetryPolicy(cap_s=0.01, total_wait_s=0.05)
    with pytest.raises(ProviderFault, match="slow down"):
        await RateLimitedModel(busy, lambda: gate, waits=note, retry=policy).reply(ASK)
    assert len(waits) == busy.calls - 1 > 1
    assert set(waits) == {0.01}
    final = RetryPolicy(final_causes=("rate_limit",))
    calls = busy.calls
    with pytest.raises(ProviderFault, match="slow down"):
        await RateLimitedModel(busy, lambda: gate, waits=note, retry=final).reply(ASK)
    assert busy.calls == calls + 1


async def test_leave_that_is_not_used_in_time_is_given_back_with_its_tokens(new_gate: NewGate) -> None:
    ledger = FakeLedger(plenty=True)
    gate = new_gate(ledger)
    async with gate.call(100) as call:
        call.used = 100
    held = ledger.visits[0].prefetch * ledger.visits[0].prefetch_cost
    assert held > 0
    await asyncio.sleep(2 * PREFETCH_S)
    async with gate.call(100):
        last = ledger.visits[-1]
    assert last.in_flight == 0
    assert sum(visit.token_error for visit in ledger.visits) == -held


async def test_after_a_429_no_leave_from_before_is_used(new_gate: NewGate) -> None:
    ledger = FakeLedger(plenty=True)
    gate = new_gate(ledger)
    with contextlib.suppress(ProviderFault):
        async with gate.call(1) as call:
            call.throttled = True
            raise ProviderFault("slow down", cause="rate_limit")
    ledger.plenty = False
    async with gate.call(1):
        assert [len(visit.costs) for visit in ledger.visits if visit.costs] == [1, 1]


async def test_a_429_that_comes_during_a_visit_leaves_nothing_of_what_it_brings(new_gate: NewGate) -> None:
    ledger = FakeLedger(plenty=True, takes_s=0.1)
    gate = new_gate(ledger)
    with contextlib.suppress(ProviderFault):
        async with gate.call(1) as call:
            other = asyncio.create_task(RateLimitedModel(Busy(), lambda: gate).reply(ASK))
            await asyncio.sleep(0.03)  # a visit is under way, for the other
            call.throttled = True
            raise ProviderFault("slow down", cause="rate_limit")
    await other
    ledger.plenty = False
    before = sum(len(visit.costs) for visit in ledger.visits)
    async with gate.call(1):
        assert sum(len(visit.costs) for visit in ledger.visits) == before + 1


async def test_leave_for_a_small_call_is_not_enough_for_a_large_one(new_gate: NewGate) -> None:
    ledger = FakeLedger(room=1_000, plenty=True)
    gate = new_gate(ledger)
    for tokens in (*[10] * 40, *[20_000] * 3):
        async with gate.call(tokens) as call:
            call.used = tokens
    paid = sum(sum(visit.costs) + visit.prefetch * visit.prefetch_cost for visit in ledger.visits)
    assert [visit.costs for visit in ledger.visits if 20_000 in visit.costs] != []
    await gate.close()
    given_back = -sum(visit.token_error for visit in ledger.visits)
    assert paid - given_back == 40 * 10 + 3 * 20_000


async def test_a_429_costs_no_try_and_is_told(new_gate: NewGate) -> None:
    ledger = FakeLedger()
    gate, busy = new_gate(ledger), Busy(refusals=6)
    assert (await RateLimitedModel(busy, lambda: gate).reply(ASK)).text == "A"
    assert busy.calls == 7
    assert sum(visit.throttled for visit in ledger.visits) == 6


async def test_who_asks_anew_says_so_and_hears_a_429_as_any_fault(new_gate: NewGate) -> None:
    ledger, busy, heard = FakeLedger(), Busy(refusals=1, retry_after_s=3600.0), []
    gate = new_gate(ledger)

    async def waits(said: str, wait_s: float) -> None:
        heard.append((said, wait_s))

    model = RateLimitedModel(busy, lambda: gate, waits=waits, asks_anew=True)
    with pytest.raises(ProviderFault, match="slow down"):
        await model.reply(ASK)
    assert (await model.reply(ASK)).text == "A"
    await gate.close()
    assert heard == [("slow down", 600.0)]
    assert [visit.asks_anew for visit in ledger.visits if visit.costs] == [True, True]
    assert sum(visit.has_asked_anew for visit in ledger.visits) == 2


async def test_other_faults_go_to_the_agent_at_once(new_gate: NewGate) -> None:
    class Broken(Busy):
        async def reply(self, request: Request) -> Reply:
            raise ProviderFault("broken", cause="server_error")

    gate = new_gate(FakeLedger())
    with pytest.raises(ProviderFault, match="broken"):
        await RateLimitedModel(Broken(), lambda: gate).reply(ASK)


async def test_without_redis_nobody_calls_and_nothing_is_lost(new_gate: NewGate) -> None:
    ledger, busy = FakeLedger(away=2), Busy()
    gate = new_gate(ledger)
    asking = asyncio.create_task(RateLimitedModel(busy, lambda: gate).reply(ASK))
    await asyncio.sleep(0.1)
    assert busy.calls == 0
    assert (await asking).text == "A"


async def test_who_gives_up_waiting_leaves_its_place(new_gate: NewGate) -> None:
    ledger, busy = FakeLedger(room=0), Busy()
    gate = new_gate(ledger)
    model = RateLimitedModel(busy, lambda: gate)
    first = asyncio.create_task(model.reply(ASK))
    await asyncio.sleep(0.05)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    ledger.room = 1
    assert (await model.reply(ASK)).text == "A"
    assert busy.calls == 1
    await asyncio.sleep(0.05)
    assert ledger.visits[-1].in_flight == 0


async def test_guesses_of_tokens_learn_from_what_was_used(new_gate: NewGate) -> None:
    ledger = FakeLedger()
    gate = new_gate(ledger)
    model = RateLimitedModel(Busy(), lambda: gate)
    for _ in range(40):
        await model.reply(ASK)
    asked = [visit.costs[0] for visit in ledger.visits if visit.costs]
    assert asked[0] < 400
    assert 950 < asked[-1] < 1_050


async def test_the_seconds_of_a_trial_stand_still_while_it_waits_for_leave() -> None:
    async with trial_timeout(0.2) as clock:
        with timeout_paused():
            await asyncio.sleep(0.4)
        with timeout_paused(), timeout_paused():
            await asyncio.sleep(0.2)
    assert not clock.is_over
    assert clock.paused_s >= 0.59, "both waits, and the inner one once"


async def test_and_go_on_afterwards() -> None:
    async def trial() -> None:
        async with trial_timeout(0.1):
            with timeout_paused():
                await asyncio.sleep(0.15)
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        await trial()


def test_equal_keys_share_an_account_whatever_their_variable_is_called() -> None:
    one = ModelSpec(id="openai/a", api_base="http://h:1/v1", api_key_env="ONE")
    other = ModelSpec(id="openai/b", api_base="http://h:1/v2", api_key_env="OTHER")
    assert bucket_key(one, "secret-key") == bucket_key(other, "secret-key") != bucket_key(one, "another")
    assert "secret" not in bucket_key(one, "secret-key")


@pytest.mark.parametrize(
    "text", ["openai", "openai=", "openai=rpm", "openai=rpm:0", "openai=rph:5", "openai=rpm:5 x"]
)
def test_a_rate_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="GNOMON_RATE_LIMITS"):
        parse_rates(text)


def test_rates_are_read_by_provider_and_host() -> None:
    found = parse_rates("openai = rpm:500, tpm:200000 ; 10.0.0.7:8000=in_flight:4;")
    assert found == {
        "openai": Rate(requests_per_minute=500, tokens_per_minute=200_000),
        "10.0.0.7:8000": Rate(in_flight=4),
    }


async def test_a_gate_closes_though_redis_swallows_cancellations(new_gate: NewGate) -> None:
    class Deaf(FakeLedger):
        async def sync(self, visit: SyncRequest) -> SyncResult:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
            return await super().sync(visit)

    ledger = Deaf()
    gate = new_gate(ledger)
    await RateLimitedModel(Busy(), lambda: gate).reply(ASK)
    async with asyncio.timeout(20):
        await gate.close()
    assert ledger.visits[-1].in_flight == 0
