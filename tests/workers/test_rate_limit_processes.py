"""Four worker processes share one key's limits: together they never do more than one may."""

import pytest

from gnomon_workers.rate_limit.config import RATE_LIMITS_ENV
from tests.workers.conftest import Plant, wait_until
from tests.workers.counting_provider import CountingProvider, counting

WORKERS = 4


def run(plant: Plant, provider: CountingProvider, samples: int, *, concurrency: int) -> set[int]:
    """Run a job on four workers; which of them had a part in it."""
    plant.start(WORKERS)
    wait_until(lambda: len(plant.store.workers()) == WORKERS)
    model = {"id": "openai/m", "api_base": provider.url, "price": {"input": 0, "output": 0}}
    job = plant.post(samples, models=[model], concurrency=concurrency, cache=False)
    busy: set[int] = set()

    def ended() -> bool:
        busy.update(one.pid for one in plant.store.workers() if one.shard)
        return plant.store.job(job.id).status == "completed"

    wait_until(ended, within_s=60)
    assert plant.store.job(job.id).counts.scored == 2 * samples
    return busy


@pytest.mark.parametrize(("limit", "held"), [("in_flight:5", True), ("rpm:100000", False)])
def test_four_workers_have_no_more_calls_in_flight_than_one_may(
    plant: Plant, monkeypatch: pytest.MonkeyPatch, limit: str, held: bool
) -> None:
    with counting(delay_s=0.05) as provider:
        monkeypatch.setenv(RATE_LIMITS_ENV, f"{provider.url[7:-3]}={limit}")
        busy = run(plant, provider, 60, concurrency=16)
    assert len(busy) > 1
    assert len(provider.came_s) == 120
    assert (provider.most <= 5) is held  # without that limit they do have more: the test can tell


def test_four_workers_make_no_more_requests_a_minute_than_one_may(
    plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    per_minute, calls = 900, 80
    with counting(delay_s=0.0) as provider:
        monkeypatch.setenv(RATE_LIMITS_ENV, f"{provider.url[7:-3]}=rpm:{per_minute}")
        run(plant, provider, calls // 2, concurrency=8)
    burst = per_minute // 60
    took_s = provider.came_s[-1] - provider.came_s[0]
    pace_s = 60 / (per_minute - burst + 1)
    assert took_s > (calls - burst) * pace_s - 0.5  # four times the limit would be done in a quarter of it
    assert len(provider.came_s) == calls


def test_a_provider_that_says_429_loses_no_trial_and_is_soon_asked_for_less(
    plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(RATE_LIMITS_ENV, raising=False)
    with counting(delay_s=0.1, room=4) as provider:
        run(plant, provider, 40, concurrency=16)
    assert provider.refused > 0
    assert provider.most <= 4
