"""Limits where something goes wrong: the store is away, a call is broken off, a reply never comes."""

import asyncio
from pathlib import Path

import pytest

from gnomon.core.errors import ProviderFault
from gnomon.core.model import Reply, Request
from gnomon.spec.model_spec import ModelSpec
from gnomon_workers.budget.model import with_budget
from gnomon_workers.budget.usage import Usage
from gnomon_workers.store import Store
from tests.workers.broken_store import Breakage, BrokenStore
from tests.workers.conftest import create
from tests.workers.test_budget import PAID, REQUEST, PaidModel, budget_of

UNPRICED = ModelSpec(id="openai/paid", max_tokens=1_000)


async def test_a_store_that_is_away_for_a_moment_ends_no_call(tmp_path: Path) -> None:
    breakage = Breakage(tmp_path)
    store = BrokenStore(f"sqlite:///{tmp_path}/gnomon.db", breakage)
    job, paid = create(store, limits={"usd": 10.0}), PaidModel()
    breakage.set(lost_answers=1.0)
    call = asyncio.create_task(with_budget(paid, PAID, budget_of(store, job.id, "p")).reply(REQUEST))
    await asyncio.sleep(0.1)
    assert paid.taken == 0
    breakage.set(lost_answers=0.0)
    assert (await call).text == "A"
    store.close()


@pytest.mark.parametrize("spec", [PAID, UNPRICED], ids=["nothing is known", "max_tokens is"])
async def test_without_a_price_a_reply_that_never_came_costs_tokens_and_no_dollars(
    store: Store, spec: ModelSpec
) -> None:
    class Silent(PaidModel):
        async def reply(self, request: Request) -> Reply:
            raise ProviderFault("no reply", cause="timeout")

    job = create(store, limits={"tokens": 10_000})
    budget = budget_of(store, job.id, "p")
    with pytest.raises(ProviderFault):
        await with_budget(Silent(), spec, budget).reply(REQUEST)
    await budget.close()
    spent = store.job(job.id)
    assert (spent.known_usd, spent.possible_usd, spent.known_tokens) == (0.0, 0.0, 0)
    assert spent.possible_tokens > 300


async def test_a_call_broken_off_while_it_waits_for_money_keeps_no_sample_from_beginning(
    store: Store,
) -> None:
    job = create(store, limits={"usd": 2.5})
    budget = budget_of(store, job.id, "p")
    taken = await budget.reserve(lambda: Usage(2.0, 0))
    waiting = asyncio.create_task(budget.reserve(lambda: Usage(1.0, 0)))
    await asyncio.sleep(0.05)
    assert budget.is_contended
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    budget.settle(taken, Usage(0.5, 0))
    assert not budget.is_contended


async def test_a_sample_that_comes_in_two_parts_has_one_pot_for_each_trial(store: Store) -> None:
    job = create(store, limits={"usd": 12.0})
    budget = budget_of(store, job.id, "p")
    assert await budget.reserve_sample({"a1": "raw"})
    budget.settle(await budget.reserve(lambda: Usage(4.0, 0), trial="a1"), Usage(4.0, 0), trial="a1")
    budget.release_trials(["a1"])
    assert await budget.reserve_sample({"b1": "raw"})
    assert await budget.reserve_sample({"b1": "raw", "b2": "raw"}), "4 spent, 4 for each"
    assert not await budget.reserve_sample({"c1": "raw"})
