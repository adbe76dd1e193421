"""The ledger of one key: what it grants, to whom, and when it lets go."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from gnomon.spec.job_spec import Rate
from workers.rate_limit.prefetch import PREFETCH_S
from workers.rate_limit.redis_limiter import Flow, RedisRateLimiter, SyncRequest

NewLedger = Callable[..., RedisRateLimiter]


@pytest.fixture
async def new_ledger(redis: Redis, redis_url: str) -> AsyncIterator[NewLedger]:
    client = AsyncRedis.from_url(redis_url)
    names = iter(range(100))

    def make(
        job: str = "j", *, queue: str = "default", weight: int = 2, lease_s: float = 15.0, **rate: Any
    ) -> RedisRateLimiter:
        flow = Flow(job=job, queue=queue, weight=weight)
        return RedisRateLimiter(
            client, "key", holder=f"h{next(names)}", flow=flow, rate=Rate(**rate), lease_s=lease_s
        )

    yield make
    await client.aclose()


async def granted(ledger: RedisRateLimiter, calls: int, **visit: Any) -> int:
    return (await ledger.sync(SyncRequest(costs=[1] * calls, **visit))).granted


async def test_processes_share_what_may_be_in_flight(new_ledger: NewLedger) -> None:
    one, other = new_ledger(in_flight=5), new_ledger(in_flight=5)
    assert await granted(one, 3) == 3
    assert await granted(other, 9) == 2
    assert await granted(one, 1, in_flight=3) == 0
    assert await granted(one, 0, in_flight=1) == 0  # two have come back
    assert await granted(other, 9, in_flight=2) == 2


async def test_without_limits_every_call_may_go(new_ledger: NewLedger) -> None:
    assert await granted(new_ledger(), 400) == 400


async def test_what_a_dead_process_held_is_free_after_its_lease(new_ledger: NewLedger) -> None:
    dead, alive = new_ledger(in_flight=2, lease_s=0.2), new_ledger(in_flight=2)
    assert await granted(dead, 2) == 2
    assert await granted(alive, 1) == 0
    await asyncio.sleep(0.25)
    assert await granted(alive, 1) == 1


@pytest.mark.parametrize(("per_minute", "at_once"), [(1, 1), (59, 1), (60, 1), (600, 10)])
async def test_a_seconds_worth_of_requests_may_go_at_once_and_then_the_pace_holds(
    new_ledger: NewLedger, per_minute: int, at_once: int
) -> None:
    leave = await new_ledger(requests_per_minute=per_minute).sync(SyncRequest(costs=[1] * 2_000))
    assert leave.granted == at_once
    pace_s = (60 + PREFETCH_S) / (per_minute - at_once + 1)
    assert 0 < leave.wait_s <= pace_s + 0.001


@pytest.mark.parametrize(
    ("rate", "ahead"),
    [
        ({}, 20),
        ({"in_flight": 10}, 3),  # of ten, two go now and half is left
        ({"requests_per_minute": 600}, 3),  # ten may go at once
        ({"requests_per_minute": 60}, 0),
        ({"tokens_per_minute": 600}, 3),
    ],
)
async def test_leave_is_given_in_advance_up_to_half_of_what_may_go_at_once(
    new_ledger: NewLedger, rate: dict[str, int], ahead: int
) -> None:
    calls = 1 if rate == {"requests_per_minute": 60} else 2
    leave = await new_ledger(**rate).sync(SyncRequest(costs=[1] * calls, prefetch=20, prefetch_cost=1))
    assert (leave.granted, leave.prefetched) == (calls, ahead)


async def test_leave_in_advance_counts_as_in_flight_for_all_others(new_ledger: NewLedger) -> None:
    one, other = new_ledger(in_flight=10), new_ledger(in_flight=10)
    assert (await one.sync(SyncRequest(costs=[1], prefetch=20))).prefetched == 4
    assert await granted(other, 9) == 5
    assert (await one.sync(SyncRequest(in_flight=5, prefetch=20))).prefetched == 0


async def test_no_leave_is_given_in_advance_while_another_job_waits_or_the_provider_asks_for_a_pause(
    new_ledger: NewLedger,
) -> None:
    busy, waiting = new_ledger("busy"), new_ledger("waiting", in_flight=1)
    assert (await busy.sync(SyncRequest(costs=[1], prefetch=5))).prefetched == 5
    took_s = math.inf
    while took_s > 0.4:  # who was put off is remembered for half a second
        began_s = time.monotonic()
        assert await granted(waiting, 1) == 0
        ahead = (await busy.sync(SyncRequest(in_flight=6, prefetch=5))).prefetched
        took_s = time.monotonic() - began_s
    assert ahead == 0
    await waiting.sync(SyncRequest(throttled=1, retry_after_s=30.0))
    assert (await new_ledger("third").sync(SyncRequest(prefetch=5))).prefetched == 0


async def test_tokens_count_as_they_were_used_not_as_they_were_guessed(new_ledger: NewLedger) -> None:
    ledger = new_ledger(tokens_per_minute=60_000)  # a thousand a second
    guessed = await ledger.sync(SyncRequest(costs=[100] * 20))
    assert 10 <= guessed.granted <= 12
    more = await ledger.sync(SyncRequest(in_flight=0, answered=1, token_error=5_000, costs=[100]))
    assert more.granted == 0
    assert more.wait_s > 4.0
    back = await ledger.sync(SyncRequest(answered=1, token_error=-6_000, costs=[100]))
    assert back.granted == 1


async def test_retry_after_holds_every_process_of_the_key(new_ledger: NewLedger) -> None:
    told, other = new_ledger(), new_ledger()
    await granted(told, 4)
    await told.sync(SyncRequest(in_flight=3, throttled=1, retry_after_s=30.0))
    leave = await other.sync(SyncRequest(costs=[1]))
    assert leave.granted == 0
    assert 29.0 < leave.wait_s <= 30.0


async def test_many_429_of_one_burst_halve_what_may_be_in_flight_once(new_ledger: NewLedger) -> None:
    ledger = new_ledger()
    await granted(ledger, 40)
    assert (await ledger.sync(SyncRequest(in_flight=30, throttled=10))).cap == 20
    assert (await ledger.sync(SyncRequest(in_flight=20, throttled=10))).cap == 20
    assert await granted(ledger, 40, in_flight=0) == 20


async def test_answers_let_it_grow_again_by_one_a_round(new_ledger: NewLedger) -> None:
    ledger = new_ledger()
    await granted(ledger, 8)
    assert (await ledger.sync(SyncRequest(in_flight=0, throttled=8))).cap == 4
    assert (await ledger.sync(SyncRequest(in_flight=0, answered=4, costs=[1] * 9))).granted == 5


async def shares(
    ledgers: dict[str, RedisRateLimiter], *, room: int = 8, rounds: int = 120
) -> dict[str, float]:
    """All want as much as they can get, and every call comes back at once; who has had how much of it."""
    had = dict.fromkeys(ledgers, 0)
    for _ in range(rounds):
        for name, ledger in ledgers.items():
            had[name] += await granted(ledger, room)
    return {name: count / sum(had.values()) for name, count in had.items()}


async def test_jobs_of_one_queue_share_alike(new_ledger: NewLedger) -> None:
    found = await shares({job: new_ledger(job, in_flight=8) for job in ("a", "b")})
    assert found["a"] == pytest.approx(0.5, abs=0.05)


async def test_a_job_of_higher_priority_gets_more_and_none_starves(new_ledger: NewLedger) -> None:
    weights = {"high": 4, "normal": 2, "low": 1}
    found = await shares({job: new_ledger(job, weight=w, in_flight=8) for job, w in weights.items()})
    for job, weight in weights.items():
        assert found[job] == pytest.approx(weight / 7, abs=0.06)


async def test_a_queue_with_many_jobs_gets_no_more_than_one_with_a_single_job(
    new_ledger: NewLedger,
) -> None:
    crowd = {f"c{number}": new_ledger(f"c{number}", queue="crowd", in_flight=8) for number in range(3)}
    found = await shares({**crowd, "alone": new_ledger("alone", queue="other", in_flight=8)})
    assert found["alone"] == pytest.approx(0.5, abs=0.08)


async def test_who_comes_later_is_owed_nothing_for_the_time_before(new_ledger: NewLedger) -> None:
    early = new_ledger("early", in_flight=8)
    for _ in range(100):
        await granted(early, 8)
    found = await shares({"early": early, "late": new_ledger("late", in_flight=8)}, rounds=60)
    assert found["late"] == pytest.approx(0.5, abs=0.06)


async def test_a_lost_redis_begins_with_an_empty_account(new_ledger: NewLedger, redis: Redis) -> None:
    ledger = new_ledger(in_flight=3)
    assert await granted(ledger, 5) == 3
    redis.flushall()
    redis.script_flush()
    assert await granted(ledger, 5, in_flight=3) == 0  # what is in flight is told at every visit


async def test_who_asks_anew_passes_a_pause_and_what_is_said_then_counts(new_ledger: NewLedger) -> None:
    ledger, other = new_ledger(), new_ledger()
    assert await granted(ledger, 1, throttled=1, retry_after_s=600.0) == 0
    assert await granted(ledger, 1, asks_anew=True) == 1
    assert await granted(other, 1) == 0, "nothing has been said yet"
    refused = await ledger.sync(SyncRequest(costs=[1], throttled=1, retry_after_s=60.0, has_asked_anew=True))
    assert refused.granted == 0
    assert 50.0 < refused.wait_s <= 60.0, "the newer word, though it is the shorter wait"
    assert await granted(ledger, 1, answered=1, has_asked_anew=True) == 1
    assert await granted(other, 1) == 1
