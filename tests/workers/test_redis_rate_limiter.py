"""The rate limiter of one key: what it grants to which process, and when that is free again."""

import asyncio
import math
import random
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from gnomon.core.errors import ProviderFault
from gnomon.core.model import Model, Reply, Request
from gnomon.spec.model_spec import Rate
from gnomon_workers.rate_limit.client import RateLimitClient
from gnomon_workers.rate_limit.model import RateLimitedModel
from gnomon_workers.rate_limit.prefetch import PREFETCH_S
from gnomon_workers.rate_limit.redis_limiter import Flow, RedisRateLimiter, SyncRequest

ASK = Request(messages=[{"role": "user", "content": "hi"}], tools=[])
NewLimiter = Callable[..., RedisRateLimiter]


@pytest.fixture
async def new_limiter(redis: Redis, redis_url: str) -> AsyncIterator[NewLimiter]:
    client = AsyncRedis.from_url(redis_url)
    names = iter(range(200))

    def make(
        job: str = "j",
        *,
        key: str = "key",
        queue: str = "default",
        weight: int = 2,
        lease_s: float = 15.0,
        **rate: Any,
    ) -> RedisRateLimiter:
        flow = Flow(job=job, queue=queue, weight=weight)
        return RedisRateLimiter(
            client, key, holder=f"h{next(names)}", flow=flow, rate=Rate(**rate), lease_s=lease_s
        )

    yield make
    await client.aclose()


async def granted(limiter: RedisRateLimiter, calls: int, **request: Any) -> int:
    return (await limiter.sync(SyncRequest(costs=[1] * calls, **request))).granted


async def test_processes_share_what_may_be_in_flight(new_limiter: NewLimiter) -> None:
    first, second = new_limiter(in_flight=5), new_limiter(in_flight=5)
    assert await granted(first, 3) == 3
    assert await granted(second, 9) == 2
    assert await granted(first, 1, in_flight=3) == 0
    assert await granted(first, 0, in_flight=1) == 0  # two have come back
    assert await granted(second, 9, in_flight=2) == 2


async def test_as_many_calls_are_counted_as_were_made_however_many_permits_expired(
    new_limiter: NewLimiter, redis: Redis
) -> None:
    client, chance = RateLimitClient(new_limiter()), random.Random(3)

    async def call() -> None:
        async with client.call(chance.randrange(50, 500)) as permit:
            await asyncio.sleep(0.02)
            permit.used = 60

    for _ in range(12):
        await asyncio.gather(*(call() for _ in range(20)))
        await asyncio.sleep(chance.choice((0.0, 2 * PREFETCH_S)))
    await client.close()
    assert int(redis.hget("gnomon:limit:{key}:state", "granted") or 0) == 240


async def test_without_limits_every_call_may_go(new_limiter: NewLimiter) -> None:
    assert await granted(new_limiter(), 400) == 400


async def test_what_a_dead_process_held_is_free_after_its_lease(new_limiter: NewLimiter) -> None:
    dead, alive = new_limiter(in_flight=2, lease_s=0.2), new_limiter(in_flight=2)
    assert await granted(dead, 2) == 2
    assert await granted(alive, 1) == 0
    await asyncio.sleep(0.25)
    assert await granted(alive, 1) == 1


async def test_the_sum_of_calls_is_that_of_all_who_hold_some_whatever_comes(
    new_limiter: NewLimiter, redis: Redis
) -> None:
    chance = random.Random(5)
    limiters = [new_limiter(in_flight=40, lease_s=chance.choice((0.02, 5.0))) for _ in range(12)]
    keys = ("gnomon:limit:{key}:calls", "gnomon:limit:{key}:leases")
    for step in range(300):
        await granted(chance.choice(limiters), chance.randrange(4), in_flight=chance.randrange(5))
        if step % 60 == 59:
            redis.delete(chance.choice(keys))
            await granted(limiters[0], 0, in_flight=1)
        held = {name: int(count) for name, count in redis.hgetall(keys[0]).items()}
        assert held.pop(b"") == sum(held.values())
        assert set(held) == set(redis.zrange(keys[1], 0, -1))
        assert min(held.values(), default=1) > 0


async def test_calls_stay_counted_when_redis_loses_until_when_they_hold(
    new_limiter: NewLimiter, redis: Redis
) -> None:
    first, second = new_limiter(in_flight=5), new_limiter(in_flight=5)
    assert await granted(first, 4) == 4
    redis.delete("gnomon:limit:{key}:leases")
    assert await granted(second, 3) == 1


@pytest.mark.parametrize(("per_minute", "at_once"), [(1, 1), (59, 1), (60, 1), (600, 10)])
async def test_a_seconds_worth_of_requests_may_go_at_once_and_then_the_pace_holds(
    new_limiter: NewLimiter, per_minute: int, at_once: int
) -> None:
    result = await new_limiter(requests_per_minute=per_minute).sync(SyncRequest(costs=[1] * 2_000))
    assert result.granted == at_once
    pace_s = (60 + PREFETCH_S) / (per_minute - at_once + 1)
    assert 0 < result.wait_s <= pace_s + 0.001


@pytest.mark.parametrize(
    ("rate", "prefetched"),
    [
        ({}, 20),
        ({"in_flight": 10}, 3),  # of ten, two go now and half is left
        ({"requests_per_minute": 600}, 3),  # ten may go at once
        ({"requests_per_minute": 60}, 0),
        ({"tokens_per_minute": 600}, 3),
    ],
)
async def test_permits_are_prefetched_up_to_half_of_what_may_start_at_once(
    new_limiter: NewLimiter, rate: dict[str, int], prefetched: int
) -> None:
    calls = 1 if rate == {"requests_per_minute": 60} else 2
    result = await new_limiter(**rate).sync(SyncRequest(costs=[1] * calls, prefetch=20, prefetch_cost=1))
    assert (result.granted, result.prefetched) == (calls, prefetched)


async def test_prefetched_permits_count_as_in_flight_for_all_others(new_limiter: NewLimiter) -> None:
    first, second = new_limiter(in_flight=10), new_limiter(in_flight=10)
    assert (await first.sync(SyncRequest(costs=[1], prefetch=20))).prefetched == 4
    assert await granted(second, 9) == 5
    assert (await first.sync(SyncRequest(in_flight=5, prefetch=20))).prefetched == 0


async def test_nothing_is_prefetched_while_another_job_waits_or_the_provider_asks_for_a_pause(
    new_limiter: NewLimiter,
) -> None:
    busy, waiting = new_limiter("busy"), new_limiter("waiting", in_flight=1)
    assert (await busy.sync(SyncRequest(costs=[1], prefetch=5))).prefetched == 5
    took_s = math.inf
    while took_s > 0.4:  # a job that was put off is remembered for half a second
        began_s = time.monotonic()
        assert await granted(waiting, 1) == 0
        prefetched = (await busy.sync(SyncRequest(in_flight=6, prefetch=5))).prefetched
        took_s = time.monotonic() - began_s
    assert prefetched == 0
    await waiting.sync(SyncRequest(throttled=1, retry_after_s=30.0))
    assert (await new_limiter("third").sync(SyncRequest(prefetch=5))).prefetched == 0


async def test_tokens_count_as_they_were_used_not_as_they_were_estimated(new_limiter: NewLimiter) -> None:
    limiter = new_limiter(tokens_per_minute=60_000)  # a thousand a second
    estimated = await limiter.sync(SyncRequest(costs=[100] * 20))
    assert 10 <= estimated.granted <= 12
    more = await limiter.sync(SyncRequest(in_flight=0, answered=1, token_error=5_000, costs=[100]))
    assert more.granted == 0
    assert more.wait_s > 4.0
    back = await limiter.sync(SyncRequest(answered=1, token_error=-6_000, costs=[100]))
    assert back.granted == 1


async def test_retry_after_holds_every_process_of_the_key(new_limiter: NewLimiter) -> None:
    throttled, other = new_limiter(), new_limiter()
    await granted(throttled, 4)
    await throttled.sync(SyncRequest(in_flight=3, throttled=1, retry_after_s=30.0))
    result = await other.sync(SyncRequest(costs=[1]))
    assert result.granted == 0
    assert 29.0 < result.wait_s <= 30.0


async def test_many_429_of_one_burst_halve_what_may_be_in_flight_once(new_limiter: NewLimiter) -> None:
    limiter = new_limiter()
    await granted(limiter, 40)
    assert (await limiter.sync(SyncRequest(in_flight=30, throttled=10))).cap == 20
    assert (await limiter.sync(SyncRequest(in_flight=20, throttled=10))).cap == 20
    assert await granted(limiter, 40, in_flight=0) == 20


async def test_answers_let_it_grow_again_by_one_a_round(new_limiter: NewLimiter) -> None:
    limiter = new_limiter()
    await granted(limiter, 8)
    assert (await limiter.sync(SyncRequest(in_flight=0, throttled=8))).cap == 4
    assert (await limiter.sync(SyncRequest(in_flight=0, answered=4, costs=[1] * 9))).granted == 5


async def shares(
    limiters: dict[str, RedisRateLimiter], *, room: int = 8, rounds: int = 120
) -> dict[str, float]:
    """All ask for as much as they can get, and every call ends at once; the share that each was granted."""
    served = dict.fromkeys(limiters, 0)
    for _ in range(rounds):
        for name, limiter in limiters.items():
            served[name] += await granted(limiter, room)
    return {name: count / sum(served.values()) for name, count in served.items()}


async def test_jobs_of_one_queue_share_equally(new_limiter: NewLimiter) -> None:
    shared = await shares({job: new_limiter(job, in_flight=8) for job in ("a", "b")})
    assert shared["a"] == pytest.approx(0.5, abs=0.05)


async def test_a_job_of_higher_priority_gets_more_and_none_starves(new_limiter: NewLimiter) -> None:
    weights = {"high": 4, "normal": 2, "low": 1}
    shared = await shares({job: new_limiter(job, weight=w, in_flight=8) for job, w in weights.items()})
    for job, weight in weights.items():
        assert shared[job] == pytest.approx(weight / 7, abs=0.06)


async def test_a_queue_with_many_jobs_gets_no_more_than_one_with_a_single_job(
    new_limiter: NewLimiter,
) -> None:
    crowd = {f"c{number}": new_limiter(f"c{number}", queue="crowd", in_flight=8) for number in range(3)}
    shared = await shares({**crowd, "single": new_limiter("single", queue="other", in_flight=8)})
    assert shared["single"] == pytest.approx(0.5, abs=0.08)


async def test_a_job_that_comes_later_is_owed_nothing_for_the_time_before(new_limiter: NewLimiter) -> None:
    early = new_limiter("early", in_flight=8)
    for _ in range(100):
        await granted(early, 8)
    shared = await shares({"early": early, "late": new_limiter("late", in_flight=8)}, rounds=60)
    assert shared["late"] == pytest.approx(0.5, abs=0.06)


async def test_a_redis_that_lost_its_data_learns_what_is_in_flight(
    new_limiter: NewLimiter, redis: Redis
) -> None:
    limiter = new_limiter(in_flight=3)
    assert await granted(limiter, 5) == 3
    redis.flushall()
    redis.script_flush()
    assert await granted(limiter, 5, in_flight=3) == 0  # every sync reports what is in flight


async def test_a_call_that_asks_anew_passes_a_pause_and_its_answer_counts(new_limiter: NewLimiter) -> None:
    limiter, other = new_limiter(), new_limiter()
    assert await granted(limiter, 1, throttled=1, retry_after_s=600.0) == 0
    assert await granted(limiter, 1, asks_anew=True) == 1
    assert await granted(other, 1) == 0, "nothing has been said yet"
    refused = await limiter.sync(SyncRequest(costs=[1], throttled=1, retry_after_s=60.0, has_asked_anew=True))
    assert refused.granted == 0
    assert 50.0 < refused.wait_s <= 60.0, "the newer word, though it is the shorter wait"
    assert await granted(limiter, 1, answered=1, has_asked_anew=True) == 1
    assert await granted(other, 1) == 1


async def test_fifty_workers_on_two_providers_that_halve_what_they_take_lose_no_call_and_repeat_none(
    new_limiter: NewLimiter,
) -> None:
    workers, calls_each = 50, 6

    class Halving(Model):
        """Takes 20 calls at a time, and 10 once half of all are served."""

        id = "halving"
        served = refused = now = 0

        @property
        def room(self) -> int:
            return 20 if self.served < workers * calls_each // 2 else 10

        async def reply(self, request: Request) -> Reply:
            if self.now >= self.room:
                self.refused += 1
                raise ProviderFault("too many", cause="rate_limit", retry_after_s=0.05)
            self.now += 1
            await asyncio.sleep(0.02)
            self.now -= 1
            self.served += 1
            return Reply(text=str(self.served), prompt_tokens=10, completion_tokens=1)

        async def close(self) -> None:
            return None

    async def work(model: RateLimitedModel) -> list[str]:
        return [(await model.reply(ASK)).text for _ in range(calls_each)]

    for_all, told = [], list[asyncio.Task[list[str]]]()
    providers = {"east": Halving(), "west": Halving()}
    for name, provider in providers.items():
        for _ in range(workers):
            client = RateLimitClient(new_limiter(key=name, in_flight=20))
            for_all.append(client)
            told.append(asyncio.create_task(work(RateLimitedModel(provider, lambda client=client: client))))
    await asyncio.gather(*told)
    for client in for_all:
        await client.close()
    every = [text for task in told for text in task.result()]
    assert sorted(every) == sorted(2 * [str(n) for n in range(1, workers * calls_each + 1)])
    assert all(provider.refused for provider in providers.values()), "they had to be told"
