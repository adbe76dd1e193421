"""Preflights while the store is away: they wait for it as long as anybody waits for them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError, ProgrammingError

from gnomon.core.model import Reply, Request
from gnomon_workers.budget.client import BudgetClient
from gnomon_workers.preflight import Preflight
from gnomon_workers.store import JobRecord, Store
from gnomon_workers.store import retry as store_retry
from tests.workers.conftest import create

AWAY = OperationalError("SELECT", None, Exception("no route to host"))
FOR_GOOD = ProgrammingError("SELECT", None, Exception("no such column"))


class Ready:
    """A model that replies at once."""

    id = "openai/m"

    async def reply(self, request: Request) -> Reply:
        return Reply(text="OK", prompt_tokens=1, completion_tokens=1, usd=0.0)

    async def close(self) -> None:
        return


@pytest.fixture
def job(store: Store, monkeypatch: pytest.MonkeyPatch) -> JobRecord:
    monkeypatch.setattr(store_retry, "RETRY_S", 0.001)
    return create(store, 1, models=[{"id": "openai/m"}], preflight=True)


def preflight_of(store: Store, job: JobRecord, is_wanted: Callable[[], bool] = lambda: True) -> Preflight:
    budget = BudgetClient(job.id, job.spec, store=store, holder="h", ttl_s=9.0)
    return Preflight(
        job.id,
        job.spec,
        {"openai/m": Ready()},
        store=store,
        holder="h",
        ttl_s=9.0,
        budget=budget,
        is_wanted=is_wanted,
    )


def failing(store: Store, monkeypatch: pytest.MonkeyPatch, name: str, error: Exception) -> asyncio.Event:
    """Let that method of the store fail; the event is set at the third time."""
    calls, loop, thrice = [0], asyncio.get_running_loop(), asyncio.Event()

    def fail(*_: Any, **__: Any) -> None:
        calls[0] += 1
        if calls[0] == 3:
            loop.call_soon_threadsafe(thrice.set)
        raise error

    monkeypatch.setattr(store, name, fail)
    return thrice


@pytest.mark.parametrize("method", ["job", "begin_check", "end_check"])
@pytest.mark.parametrize("way", ["SIGTERM", "cancel"])
async def test_a_preflight_that_nobody_waits_for_waits_for_no_store(
    store: Store, job: JobRecord, monkeypatch: pytest.MonkeyPatch, method: str, way: str
) -> None:
    wanted = [True]
    preflight = preflight_of(store, job, lambda: wanted[0])
    has_insisted = failing(store, monkeypatch, method, AWAY)
    running = asyncio.create_task(preflight.run())
    await has_insisted.wait()
    assert not running.done()
    if way == "SIGTERM":
        preflight.abandon()
    else:
        wanted[0] = False
    async with asyncio.timeout(20):
        await running


@pytest.mark.parametrize("method", ["job", "begin_check", "end_check"])
async def test_what_the_store_will_never_take_keeps_no_job_from_running(
    store: Store, job: JobRecord, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    has_insisted = failing(store, monkeypatch, method, FOR_GOOD)
    async with asyncio.timeout(20):
        await preflight_of(store, job).run()
    assert not has_insisted.is_set()
