"""Whatever a trial waits for, its worker does other work, and a cancelled job lets it go at once."""

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import func, select

from gnomon_workers.queue import enqueue_shards
from gnomon_workers.rate_limit.config import RATE_LIMITS_ENV
from gnomon_workers.store import JobRecord
from gnomon_workers.store.schema import trials
from tests.workers.conftest import Plant, forks, wait_until
from tests.workers.counting_provider import CountingProvider, counting

LONG_S = 600.0  # longer than any test waits for something


@pytest.fixture(scope="module")
def lease_s() -> float:
    """Nobody is killed here; on a busy machine a short lease would end before it is renewed."""
    return 20.0


def model_of(provider: CountingProvider, name: str = "m") -> dict[str, object]:
    return {"id": f"openai/{name}", "api_base": provider.url, "price": {"input": 0, "output": 0}}


def start(plant: Plant, workers: int = 2) -> None:
    plant.start(workers)
    wait_until(lambda: len(plant.store.workers()) == workers)


def cancel(plant: Plant, job: JobRecord) -> None:
    """Cancel the job, and wait until nothing of it is leased, and its workers are free."""
    plant.store.cancel(job.id)
    wait_until(lambda: not forks(plant) and plant.store.job(job.id).counts.running == 0)
    assert plant.store.job(job.id).status == "cancelled"


@pytest.mark.parametrize("cache", [True, False])
def test_while_a_provider_lets_one_job_wait_for_ten_minutes_another_runs_on_the_same_workers(
    idle: Plant, cache: bool
) -> None:
    with counting(room=0, retry_after="600") as busy, counting() as free:
        first = idle.post(100, models=[model_of(busy)], concurrency=8, cache=cache)
        wait_until(lambda: busy.refused > 0)
        time.sleep(1)
        second = idle.post(20, models=[model_of(free)], concurrency=8)
        assert idle.end_of(second).counts.scored == 40
        assert idle.store.job(first.id).counts.done == 0
        assert 0 < busy.refused <= 32, "a trial that has not begun does not join the wait"
        cancel(idle, first)
        resumed = idle.store.resume(first.id)
        with idle.store.reading() as db:
            attempts = db.execute(
                select(func.max(trials.c.attempt)).where(trials.c.job_id == first.id)
            ).scalar_one()
        assert attempts <= 1, "a wait is no death"
        idle.store.cancel(resumed.id)


def test_a_job_that_rested_goes_on_by_itself_and_loses_nothing(idle: Plant) -> None:
    with counting(room=0, retry_after="6") as busy, counting() as free:
        first = idle.post(40, models=[model_of(busy)], concurrency=4, cache=False)
        wait_until(lambda: busy.refused > 0)
        second = idle.post(5, models=[model_of(free)], concurrency=4)
        assert idle.end_of(second).counts.scored == 10
        busy.room = None
        assert idle.end_of(first).counts.scored == 80
        answered = len(busy.came_s) - busy.refused
    assert answered == 80, "no call was paid twice"
    assert {row.attempt for row in idle.store.iter_rows(first.id)} == {1}


def test_of_two_models_of_a_job_the_one_that_answers_runs_on(
    plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(RATE_LIMITS_ENV, raising=False)
    start(plant, workers=1)
    with counting(room=0, retry_after="600") as busy, counting() as free:
        models = [model_of(busy, "busy"), model_of(free, "free")]
        job = plant.post(40, models=models, concurrency=4)
        wait_until(lambda: plant.store.job(job.id).counts.scored == 80)
        cancel(plant, job)


def rate_of_one_a_minute(provider: CountingProvider) -> str:
    return f"{provider.url[7:-3]}=rpm:1"


@pytest.mark.parametrize(
    ("delay_s", "rate"),
    [(LONG_S, None), (0.0, rate_of_one_a_minute)],
    ids=["a call in flight", "the rate limit"],
)
def test_a_cancelled_job_frees_its_workers_whatever_its_trials_wait_for(
    plant: Plant,
    monkeypatch: pytest.MonkeyPatch,
    delay_s: float,
    rate: Callable[[CountingProvider], str] | None,
) -> None:
    monkeypatch.delenv(RATE_LIMITS_ENV, raising=False)
    with counting(delay_s=delay_s) as provider:
        if rate is not None:
            monkeypatch.setenv(RATE_LIMITS_ENV, rate(provider))
        start(plant)
        limits = {"usd": 1.0, "tokens": 100_000}
        job = plant.post(40, models=[model_of(provider)], concurrency=4, limits=limits)
        wait_until(lambda: len(provider.came_s) > 0)
        time.sleep(1)
        cancel(plant, job)
        assert rate is None or len(provider.came_s) == 1, "nobody waited for the next minute"


def test_one_worker_with_the_clocks_of_production_gives_back_at_once_what_waits(
    plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = replace(plant, clocks={})
    with (
        counting(room=0, retry_after="600") as refusing,
        counting(delay_s=LONG_S) as silent,
        counting(delay_s=0.0) as paced,
    ):
        monkeypatch.setenv(RATE_LIMITS_ENV, rate_of_one_a_minute(paced))
        start(slow, workers=1)
        for provider in (refusing, silent, paced):
            job = slow.post(10, models=[model_of(provider)], concurrency=4)
            wait_until(lambda provider=provider: len(provider.came_s) > 0)
            time.sleep(3)  # its fork rests by then, and nobody watches it
            slow.store.cancel(job.id)
            wait_until(lambda job=job: slow.store.job(job.id).counts.running == 0)
        assert len(paced.came_s) == 1, "nobody waited for the next minute"


@pytest.mark.parametrize("retry_after", ["86400", "1e300", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_backoff_that_a_provider_asks_for_keeps_no_cancelled_job(idle: Plant, retry_after: str) -> None:
    with counting(room=0, retry_after=retry_after) as provider:
        job = idle.post(10, models=[model_of(provider)], concurrency=4)
        wait_until(lambda: provider.refused > 0)
        cancel(idle, job)


def test_a_wait_stands_in_the_job_and_a_person_who_resumes_it_does_not_wait(
    idle: Plant,
) -> None:
    with counting(room=0, retry_after="600") as busy:
        job = idle.post(20, models=[model_of(busy)], concurrency=4, preflight=True)
        wait_until(lambda: any(check.waits_until for check in idle.store.job(job.id).checks))
        wait_until(lambda: idle.store.job(job.id).checks[0].state == "unconfirmed")
        [check] = idle.store.job(job.id).checks
        assert (check.cause, check.calls) == ("rate_limit", 1)
        assert check.error == check.waits_for
        assert busy.refused == 1, "one call says enough"
        cancel(idle, job)
        assert idle.store.job(job.id).checks[0].waits_until == check.waits_until
        busy.room = None
        resumed = idle.store.resume(job.id)
        enqueue_shards(idle.redis, resumed, range(resumed.shards))
        assert idle.end_of(resumed).counts.scored == 40
