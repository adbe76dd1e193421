"""Limits hold across processes: set aside before a call, settled after it."""

import asyncio
from dataclasses import replace

import pytest

from gnomon.errors import OutOfBudget
from gnomon.model import Model, Reply, Request
from tests.workers.conftest import BOTH, Clock, create
from workers.purse import Purse, PursedModel
from workers.store import Store
from workers.store.counters import Spent
from workers.store.purses import Money

REQUEST = Request(messages=[{"role": "user", "content": "Where?"}], tools=[])
TTL_S = 10.0


class Till(Model):
    """A model that counts what it took; `usd` a call, or what a call says."""

    id = "openai/till"

    def __init__(self, usd: float | None = 1.0, tokens: int | None = 10) -> None:
        self.usd, self.tokens, self.taken, self.now, self.most = usd, tokens, 0, 0, 0

    async def reply(self, request: Request) -> Reply:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        self.taken += 1
        return Reply(text="A", usd=self.usd, prompt_tokens=self.tokens, completion_tokens=0)

    async def close(self) -> None:
        pass


def purse_of(store: Store, job_id: str, holder: str) -> Purse:
    return Purse(job_id, store.job(job_id).spec, store=store, holder=holder, ttl_s=TTL_S)


async def spend(model: PursedModel, times: int) -> int:
    """How many of so many calls at once were refused."""
    answers = await asyncio.gather(*(model.reply(REQUEST) for _ in range(times)), return_exceptions=True)
    assert all(isinstance(one, Reply | OutOfBudget) for one in answers)
    return sum(isinstance(one, OutOfBudget) for one in answers)


async def show(purses: list[Purse]) -> None:
    """What runners do from time to time."""
    while True:
        await asyncio.sleep(0.1)
        await asyncio.gather(*(purse.refresh() for purse in purses))


@BOTH
@pytest.mark.parametrize("limits", [{"usd": 20.0}, {"tokens": 200}, {"usd": 20.0, "tokens": 10_000}])
async def test_three_processes_never_spend_more_than_the_limit(
    store: Store, limits: dict[str, float]
) -> None:
    job, till = create(store, limits=limits), Till()
    purses = [purse_of(store, job.id, f"p{number}") for number in range(3)]
    models = [PursedModel(till, purse) for purse in purses]
    for model in models:
        await spend(model, 1)  # what a call costs is known from here on
    showing = asyncio.create_task(show(purses))
    refused = await asyncio.gather(*(spend(model, 14) for model in models))
    showing.cancel()
    assert till.taken == 20
    assert sum(refused) == 45 - 20
    assert any(purse.is_empty for purse in purses)
    assert store.lease(job.id, 0, worker="w", ttl_s=TTL_S) == [], "no sample is begun any more"


async def test_until_a_price_is_seen_one_call_is_out(store: Store) -> None:
    job, till = create(store, limits={"usd": 100.0}), Till()
    model = PursedModel(till, purse_of(store, job.id, "p"))
    await asyncio.gather(model.reply(REQUEST), model.reply(REQUEST))
    assert till.most == 1
    await spend(model, 20)
    assert till.most > 1


async def test_a_call_waits_for_one_that_may_cost_less(store: Store) -> None:
    job = create(store, limits={"usd": 2.5})
    purse = purse_of(store, job.id, "p")
    await purse.take(Spent(2.0, 0))
    waiting = asyncio.create_task(purse.take(Spent(1.0, 0)))
    await asyncio.sleep(0.05)
    assert purse.is_short
    purse.settle(Spent(2.0, 0), Spent(1.5, 0))
    await waiting
    assert not purse.is_short


async def test_what_a_dead_process_held_is_taken_for_spent(store: Store, clock: Clock) -> None:
    job = create(store, limits={"usd": 10.0})
    await purse_of(store, job.id, "dead").take(Spent(6.0, 60))
    alive = purse_of(store, job.id, "alive")
    await alive.take(Spent(3.0, 0))
    clock.now_s += TTL_S + 1
    alive.settle(Spent(3.0, 0), Spent(3.0, 0))
    with pytest.raises(OutOfBudget):
        await alive.take(Spent(2.0, 0))
    assert (store.job(job.id).known_usd, store.job(job.id).known_tokens) == (6.0, 60)


async def test_written_results_leave_the_purse(store: Store) -> None:
    job = create(store, limits={"usd": 4.0})
    purse = purse_of(store, job.id, "p")
    await purse.take(Spent(3.0, 0))
    purse.settle(Spent(3.0, 0), Spent(3.0, 0))
    store.charge(job.id, [Spent(3.0, 0)])
    purse.written([Spent(3.0, 0)])
    await purse.take(Spent(1.0, 0))
    await purse.close()
    with pytest.raises(OutOfBudget):
        await purse_of(store, job.id, "next").take(Spent(1.5, 0))


async def test_what_is_written_cannot_be_spent_again(store: Store) -> None:
    job = create(store, limits={"usd": 4.0})
    purse = purse_of(store, job.id, "p")
    for _ in range(4):
        await purse.take(Spent(1.0, 0))
        purse.settle(Spent(1.0, 0), Spent(1.0, 0))
    store.charge(job.id, [Spent(4.0, 0)])
    purse.written([Spent(4.0, 0)])
    with pytest.raises(OutOfBudget):
        await purse.take(Spent(1.0, 0))


async def test_where_nothing_is_left_not_even_a_first_call_goes_out(store: Store) -> None:
    job, till = create(store, limits={"usd": 4.0}), Till()
    store.charge(job.id, [Spent(4.0, 0)])
    with pytest.raises(OutOfBudget):
        await PursedModel(till, purse_of(store, job.id, "late")).reply(REQUEST)
    assert till.taken == 0


async def test_once_a_price_is_seen_those_that_waited_go_together(store: Store) -> None:
    job, till = create(store, limits={"usd": 1000.0}), Till()
    await spend(PursedModel(till, purse_of(store, job.id, "p")), 20)
    assert till.most > 10


@pytest.mark.parametrize(
    ("limits", "till"), [({"usd": 1.0}, Till(usd=None)), ({"tokens": 9}, Till(tokens=None))]
)
async def test_an_unknown_price_is_not_nothing(store: Store, limits: dict[str, float], till: Till) -> None:
    job = create(store, limits=limits)
    model = PursedModel(till, purse_of(store, job.id, "p"))
    with pytest.raises(OutOfBudget):
        await model.reply(REQUEST)
    assert store.job(job.id).status == "failed"
    assert "does not tell" in store.job(job.id).error


async def test_a_process_that_only_shows_its_purse_keeps_nobody_waiting(store: Store) -> None:
    job = create(store, limits={"usd": 10.0})
    idle = purse_of(store, job.id, "idle")
    await idle.take(Spent(1.0, 0))
    idle.settle(Spent(1.0, 0), Spent(1.0, 0))
    await idle.refresh()
    other = purse_of(store, job.id, "other")
    await other.take(Spent(9.0, 0))
    other.settle(Spent(9.0, 0), Spent(9.0, 0))
    with pytest.raises(OutOfBudget):
        await other.take(Spent(0.5, 0))


async def test_a_job_without_limits_has_no_purse(store: Store) -> None:
    till = Till()
    job = create(store)
    assert purse_of(store, job.id, "p").around(till) is till
    assert replace(Money(), usd=1.0) != Money()
