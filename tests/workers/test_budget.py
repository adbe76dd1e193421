"""Limits hold across processes: each reserves before a call and settles after it."""

import asyncio
import random
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest

from gnomon.core.errors import OutOfBudget, ProviderFault
from gnomon.core.model import Model, Reply, Request
from gnomon.spec.model_spec import ModelSpec
from gnomon_workers.budget.client import BudgetClient
from gnomon_workers.budget.model import with_budget
from gnomon_workers.budget.reservations import current_trial_id, kind_of
from gnomon_workers.budget.usage import Usage
from gnomon_workers.store import Store
from gnomon_workers.store.budgets import ReserveResult, SpendLimit
from tests.workers.conftest import ALL, Clock, create
from tests.workers.warm_supervisor import FORKS, PRELOADED

REQUEST = Request(messages=[{"role": "user", "content": "Where?"}], tools=[])
TTL_S = 10.0
PAID = ModelSpec(id="openai/paid")


class PaidModel(Model):
    """A model that counts its calls, each of which costs `usd`."""

    id = "openai/paid"

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


def budget_of(
    store: Store, job_id: str, holder: str, on_room: Callable[[], None] = lambda: None
) -> BudgetClient:
    spec = store.job(job_id).spec
    return BudgetClient(job_id, spec, store=store, holder=holder, ttl_s=TTL_S, on_room=on_room)


@contextmanager
def shown(budgets: Sequence[BudgetClient]) -> Iterator[None]:
    """Show the store what they hold from time to time, as a running shard does."""

    async def show() -> None:
        while True:
            await asyncio.sleep(0.02)
            for budget in budgets:
                await budget.refresh()

    showing = asyncio.create_task(show())
    yield
    showing.cancel()


async def spend(model: Model, times: int) -> int:
    """How many of so many calls at once were refused."""
    answers = await asyncio.gather(*(model.reply(REQUEST) for _ in range(times)), return_exceptions=True)
    assert all(isinstance(answer, Reply | OutOfBudget) for answer in answers)
    return sum(isinstance(answer, OutOfBudget) for answer in answers)


@ALL
@pytest.mark.parametrize("limits", [{"usd": 20.0}, {"tokens": 200}, {"usd": 20.0, "tokens": 10_000}])
async def test_three_processes_never_spend_more_than_the_limit(
    store: Store, limits: dict[str, float]
) -> None:
    job, paid = create(store, limits=limits), PaidModel()
    budgets = [budget_of(store, job.id, f"p{number}") for number in range(3)]
    models = [with_budget(paid, PAID, budget) for budget in budgets]
    with shown(budgets):
        refused = await asyncio.gather(*(spend(model, 15) for model in models))
    assert paid.taken == 20
    assert sum(refused) == 45 - 20
    assert any(budget.is_exhausted for budget in budgets)
    assert store.lease(job.id, 0, worker="w", ttl_s=TTL_S) == [], "no sample is begun any more"


async def test_until_a_price_is_seen_one_call_is_out(store: Store) -> None:
    job, paid = create(store, limits={"usd": 100.0}), PaidModel()
    model = with_budget(paid, PAID, budget_of(store, job.id, "p"))
    await asyncio.gather(model.reply(REQUEST), model.reply(REQUEST))
    assert paid.most == 1
    await spend(model, 20)
    assert paid.most > 1


async def test_a_call_waits_for_one_that_may_cost_less(store: Store) -> None:
    job = create(store, limits={"usd": 2.5})
    budget = budget_of(store, job.id, "p")
    await budget.reserve(lambda: Usage(2.0, 0))
    waiting = asyncio.create_task(budget.reserve(lambda: Usage(1.0, 0)))
    await asyncio.sleep(0.05)
    assert budget.is_contended
    budget.settle(Usage(2.0, 0), Usage(1.5, 0))
    await waiting
    assert not budget.is_contended


async def test_what_is_held_is_shown_without_a_wait_behind_calls_that_wait(store: Store) -> None:
    job = create(store, limits={"usd": 2.0})
    elsewhere, budget = budget_of(store, job.id, "elsewhere"), budget_of(store, job.id, "here")
    taken = await elsewhere.reserve(lambda: Usage(2.0, 0))
    await budget.refresh(is_first=True)
    async with budget._asking:
        waiting = [asyncio.create_task(budget.reserve(lambda: Usage(1.0, 0))) for _ in range(2)]
        await asyncio.sleep(0)  # both are in the queue; once it moves, the lock is open until the first runs
    await budget.refresh()
    elsewhere.settle(taken, Usage(0.0, 0))
    await elsewhere.refresh()
    assert len(await asyncio.gather(*waiting)) == 2


async def test_what_a_dead_process_held_counts_as_possibly_spent_and_not_as_told(
    store: Store, clock: Clock
) -> None:
    job = create(store, limits={"usd": 10.0})
    await budget_of(store, job.id, "dead").reserve(lambda: Usage(6.0, 60))
    alive = budget_of(store, job.id, "alive")
    await alive.reserve(lambda: Usage(3.0, 0))
    clock.now_s += TTL_S + 1
    alive.settle(Usage(3.0, 0), Usage(3.0, 0))
    with pytest.raises(OutOfBudget):
        await alive.reserve(lambda: Usage(2.0, 0))
    spent = store.job(job.id)
    assert (spent.known_usd, spent.known_tokens) == (0.0, 0)
    assert (spent.possible_usd, spent.possible_tokens) == (9.0, 60), (
        "3.0 of it a process that lives will tell"
    )
    assert spent.free.usd == 1.0
    await alive.close()
    told = store.job(job.id)
    assert (told.known_usd, told.possible_usd, told.free.usd) == (3.0, 6.0, 1.0)


@pytest.mark.parametrize(
    ("billed", "possible", "free"),
    [
        (Usage(None, None), 6.0, 1.0),
        (Usage(5.0, None), 2.0, 5.0),
        (Usage(3.0, 0), 0.0, 7.0),
        (Usage(1.0, None), 0.0, 7.0),  # less than was told: what was told stays
        (Usage(50.0, None), 6.0, 1.0),  # a bill never adds to what is possible
    ],
)
async def test_resuming_frees_what_a_bill_disproves(
    store: Store, clock: Clock, billed: Usage, possible: float, free: float
) -> None:
    job = create(store, limits={"usd": 10.0})
    store.charge(job.id, [Usage(3.0, 0)])
    await budget_of(store, job.id, "dead").reserve(lambda: Usage(6.0, 60))
    clock.now_s += TTL_S + 1
    store.cancel(job.id)
    store.resume(job.id, billed=billed)
    spent = store.job(job.id)
    assert (spent.known_usd, spent.possible_usd, spent.free.usd) == (3.0, possible, free)


async def test_recorded_results_are_no_longer_reserved(store: Store) -> None:
    job = create(store, limits={"usd": 4.0})
    budget = budget_of(store, job.id, "p")
    await budget.reserve(lambda: Usage(3.0, 0))
    budget.settle(Usage(3.0, 0), Usage(3.0, 0))
    store.charge(job.id, [Usage(3.0, 0)])
    budget.mark_recorded([Usage(3.0, 0)])
    await budget.reserve(lambda: Usage(1.0, 0))
    await budget.close()
    with pytest.raises(OutOfBudget):
        await budget_of(store, job.id, "next").reserve(lambda: Usage(1.5, 0))


class SlowReserve:
    """The store's `reserve`, which waits in its thread until `goes_on` is set."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.goes_on, self.ended = threading.Event(), threading.Event(), threading.Event()
        self._reserve = store.reserve
        monkeypatch.setattr(store, "reserve", self)

    def __call__(self, *args: Any, **given: Any) -> ReserveResult:
        self.begun.set()
        self.goes_on.wait(20)
        answer = self._reserve(*args, **given)
        self.ended.set()
        return answer

    async def cancel(self, asking: Coroutine[Any, Any, Any], budget: BudgetClient) -> None:
        """Cancel what asks, close the budget, and only then let the thread go on."""
        task = asyncio.create_task(asking)
        await asyncio.to_thread(self.begun.wait, 20)
        task.cancel()
        closing = asyncio.create_task(budget.close())
        await asyncio.sleep(0.1)
        self.goes_on.set()
        await closing
        await asyncio.to_thread(self.ended.wait, 20)


async def test_a_client_closed_while_it_refreshes_holds_nothing_afterwards(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = create(store, limits={"usd": 10.0})
    budget = budget_of(store, job.id, "p")
    budget.settle(await budget.reserve(lambda: Usage(3.0, 0)), Usage(3.0, 0))
    await SlowReserve(store, monkeypatch).cancel(budget.refresh(), budget)
    await budget.refresh()
    assert store.job(job.id).known_usd == 3.0
    await budget_of(store, job.id, "next").reserve(lambda: Usage(7.0, 0))


async def test_a_first_call_broken_off_while_it_asks_leaves_nothing_held(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = create(store, limits={"usd": 10.0})
    budget = budget_of(store, job.id, "p")
    await SlowReserve(store, monkeypatch).cancel(budget.reserve(lambda: Usage(6.0, 0)), budget)
    await budget_of(store, job.id, "next").reserve(lambda: Usage(10.0, 0))
    assert store.job(job.id).known_usd == 0.0


@pytest.mark.parametrize(
    ("limits", "paid"), [({"usd": 1.0}, PaidModel(usd=None)), ({"tokens": 9}, PaidModel(tokens=None))]
)
async def test_an_unknown_price_is_not_nothing(
    store: Store, limits: dict[str, float], paid: PaidModel
) -> None:
    job = create(store, limits=limits)
    model = with_budget(paid, PAID, budget_of(store, job.id, "p"))
    with pytest.raises(OutOfBudget):
        await model.reply(REQUEST)
    assert store.job(job.id).status == "failed"
    assert "does not tell" in store.job(job.id).error


async def test_a_process_that_only_refreshes_keeps_no_other_waiting(store: Store) -> None:
    job = create(store, limits={"usd": 10.0})
    idle = budget_of(store, job.id, "idle")
    await idle.reserve(lambda: Usage(1.0, 0))
    idle.settle(Usage(1.0, 0), Usage(1.0, 0))
    await idle.refresh()
    other = budget_of(store, job.id, "other")
    await other.reserve(lambda: Usage(9.0, 0))
    other.settle(Usage(9.0, 0), Usage(9.0, 0))
    with pytest.raises(OutOfBudget):
        await other.reserve(lambda: Usage(0.5, 0))


async def test_a_job_without_limits_has_no_budgeted_model(store: Store) -> None:
    paid = PaidModel()
    job = create(store)
    assert with_budget(paid, PAID, budget_of(store, job.id, "p")) is paid
    assert replace(SpendLimit(), usd=1.0) != SpendLimit()


FIRM = ModelSpec(id="openai/paid", max_tokens=1_000, price={"input": 0.0, "output": 1_000.0})  # ≤ $1 a call


class Dice(PaidModel):
    """A model whose calls cost anything up to what they may."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.rng, self.spent = random.Random(seed), 0.0

    async def reply(self, request: Request) -> Reply:
        tokens = self.rng.choice([1, 10, 300, 1_000])
        self.usd = tokens / 1_000
        reply = await super().reply(request)
        self.spent += self.usd
        return reply


def spend_in_a_process(url: str, job_id: str, number: int) -> tuple[float, int]:
    """Dollars that a process of its own spends on 16 trials at once, and how many were refused."""

    async def run() -> tuple[float, int]:
        store, dice = Store(url), Dice(number)
        budget = BudgetClient(job_id, store.job(job_id).spec, store=store, holder=f"p{number}", ttl_s=60.0)
        with shown([budget]):
            refused = await spend(with_budget(dice, FIRM, budget), 16)
        await budget.close()
        store.close()
        return dice.spent, refused

    return asyncio.run(run())


def test_at_99_percent_of_the_limit_64_trials_of_four_processes_spend_no_more_than_the_rest(
    real_store: Store,
) -> None:
    job = create(real_store, limits={"usd": 1_000.0})
    real_store.charge(job.id, [Usage(990.0, 0)])
    FORKS.set_forkserver_preload(PRELOADED)
    with ProcessPoolExecutor(4, mp_context=FORKS) as pool:
        given = [pool.submit(spend_in_a_process, real_store.url, job.id, number) for number in range(4)]
        spent, refused = zip(*(one.result(timeout=120) for one in given), strict=True)
    assert 9.0 < sum(spent) <= 10.0 + 1e-9, "what is left is used, up to less than a call"
    assert sum(refused) > 0
    assert real_store.job(job.id).known_usd == pytest.approx(990.0 + sum(spent))


async def test_calls_whose_bound_is_known_go_at_once(store: Store) -> None:
    job, paid = create(store, limits={"usd": 100.0}), PaidModel()
    await spend(with_budget(paid, FIRM, budget_of(store, job.id, "p")), 20)
    assert paid.most > 1


async def test_no_call_is_made_that_could_pass_the_limit(store: Store) -> None:
    job, paid = create(store, limits={"usd": 0.9}), PaidModel(usd=0.001)
    with pytest.raises(OutOfBudget, match=r"may cost 1,0\d\d tokens and \$1"):
        await with_budget(paid, FIRM, budget_of(store, job.id, "p")).reply(REQUEST)
    assert paid.taken == 0


async def test_what_one_process_has_learnt_of_a_models_cost_all_know(store: Store) -> None:
    job, paid = create(store, limits={"usd": 100.0}), PaidModel(usd=7.0)
    await with_budget(paid, PAID, budget_of(store, job.id, "first")).reply(REQUEST)
    second = budget_of(store, job.id, "second")
    await with_budget(paid, PAID, second).reply(REQUEST)
    await spend(with_budget(paid, PAID, second), 30)
    assert paid.taken == 14, "98 of 100 dollars"


@pytest.mark.parametrize("cause", ["timeout", "bad_response"])
async def test_a_call_that_may_have_cost_something_is_counted(store: Store, cause: str) -> None:
    class Broken(PaidModel):
        async def reply(self, request: Request) -> Reply:
            raise ProviderFault("broken", cause=cause)

    job = create(store, limits={"usd": 2.5})
    budget = budget_of(store, job.id, "p")
    model = with_budget(Broken(), FIRM, budget)
    for _ in range(2):
        with pytest.raises(ProviderFault):
            await model.reply(REQUEST)
    with pytest.raises(OutOfBudget):
        await model.reply(REQUEST)
    await budget.close()
    assert store.job(job.id).possible_usd == pytest.approx(2.0, rel=0.05)
    assert store.job(job.id).known_usd == 0.0


async def test_a_refused_call_costs_nothing(store: Store) -> None:
    class Busy(PaidModel):
        async def reply(self, request: Request) -> Reply:
            raise ProviderFault("busy", cause="rate_limit")

    job = create(store, limits={"usd": 1.5})
    budget = budget_of(store, job.id, "p")
    for _ in range(5):
        with pytest.raises(ProviderFault):
            await with_budget(Busy(), FIRM, budget).reply(REQUEST)
    await budget.close()
    assert store.job(job.id).known_usd == 0.0


async def test_what_is_written_makes_no_room_that_the_store_does_not_know_of(store: Store) -> None:
    job = create(store, limits={"usd": 100.0})
    one, other = budget_of(store, job.id, "one"), budget_of(store, job.id, "other")
    for _ in range(10):
        one.settle(await one.reserve(lambda: Usage(5.0, 0)), Usage(5.0, 0))
    store.charge(job.id, [Usage(50.0, 0)])
    one.mark_recorded([Usage(50.0, 0)])
    taken = 50.0
    with shown([one, other]):
        for budget in (one, other) * 10:
            with suppress(OutOfBudget):
                budget.settle(await budget.reserve(lambda: Usage(5.0, 0)), Usage(5.0, 0))
                taken += 5.0
    assert taken == 100.0


async def test_a_sample_begins_only_where_all_its_trials_can_be_paid(store: Store) -> None:
    job = create(store, limits={"usd": 12.0})
    budget = budget_of(store, job.id, "p")

    async def run(trial: str, *costs: float) -> None:
        for usd in costs:
            taken = await budget.reserve(lambda usd=usd: Usage(usd, 0), trial=trial)
            budget.settle(taken, Usage(usd, 0), trial=trial)
        budget.release_trials([trial])

    assert await budget.reserve_sample({"a1": "raw", "a2": "tools"})
    assert not await budget.reserve_sample({"b1": "raw", "b2": "tools"}), "nobody knows what a sample costs"
    await run("a1", 1.0)
    await run("a2", 1.0, 3.0)
    assert await budget.reserve_sample({"b1": "raw", "b2": "tools"})
    await run("b1", 1.0)
    assert not await budget.reserve_sample({"c1": "raw", "c2": "tools"}), "5 + 1 + the 4 of b2, and 5 more"
    await run("b2", 1.0)
    assert await budget.reserve_sample({"c1": "raw", "c2": "tools"})
    await run("c1", 1.0)
    await run("c2", 1.0, 3.0)
    assert not budget.is_exhausted
    assert not await budget.reserve_sample({"d1": "raw", "d2": "tools"})
    assert budget.is_exhausted
    assert await budget.reserve_sample({"a3": "tools"}), "what has begun may still be ended"


async def test_samples_begin_together_where_the_limits_leave_what_their_arms_allow(store: Store) -> None:
    job = create(store, limits={"usd": 5.5}, arms=[{"name": "raw", "agent": "direct", "max_usd": 1.0}])
    budget, kind = budget_of(store, job.id, "p"), kind_of("scripted", "raw")
    begun = [await budget.reserve_sample({f"trial {number}": kind}) for number in range(7)]
    assert begun == [True] * 6 + [False], "the first sets nothing aside, as it always begins"
    assert not budget.is_exhausted
    for number in range(6):
        trial = f"trial {number}"
        taken = await budget.reserve(lambda: Usage(0.1, 10**9), trial=trial)
        budget.settle(taken, Usage(0.1, 10**9), trial=trial)
        budget.release_trials([trial])
    begun = [await budget.reserve_sample({f"later {number}": kind}) for number in range(50)]
    assert begun == [True] * 49 + [False], "now 0.1 each"


async def test_a_sample_may_cost_what_is_known_of_all_that_the_job_limits(store: Store) -> None:
    arms = [{"name": "raw", "agent": "direct", "max_usd": 1.0}]
    job = create(store, limits={"usd": 5.0, "tokens": 10_000}, arms=arms)
    budget, kind = budget_of(store, job.id, "p"), kind_of("scripted", "raw")
    assert await budget.reserve_sample({"a": kind})
    assert not await budget.reserve_sample({"b": kind}), "nobody knows how many tokens it needs"


async def test_a_sample_that_was_refused_is_called_once_there_may_be_room(store: Store) -> None:
    job = create(store, limits={"usd": 5.0}, arms=[{"name": "raw", "agent": "direct", "max_usd": 1.0}])
    kind, called = kind_of("scripted", "raw"), list[str]()
    budget = budget_of(store, job.id, "p", on_room=lambda: called.append("room"))
    assert await budget.reserve_sample({"a": kind})
    everything = await budget.reserve(lambda: None, trial="a")  # nobody knows what the first call costs
    assert not await budget.reserve_sample({"b": kind})
    assert called == []
    budget.settle(everything, Usage(0.1, 10), trial="a")
    assert called == ["room"]
    assert await budget.reserve_sample({"b": kind})


async def test_what_arms_merely_allow_gives_way_before_the_budget_counts_as_exhausted(store: Store) -> None:
    job = create(store, limits={"usd": 1.0}, arms=[{"name": "raw", "agent": "direct", "max_usd": 0.5}])
    budgets, kind = [budget_of(store, job.id, holder) for holder in ("p", "q")], kind_of("scripted", "raw")
    for trial in "abc":  # b and c hold all of it, and none of them has a slot
        assert await budgets[0].reserve_sample({trial: kind})
    budgets[0].start_trial("a")
    assert await budgets[1].reserve_sample({"x": kind})
    budgets[1].start_trial("x")

    async def call(budget: BudgetClient, trial: str) -> None:
        taken = await budget.reserve(lambda: Usage(0.1, 10), trial=trial)
        budget.settle(taken, Usage(0.005, 10), trial=trial)
        budget.release_trials([trial])

    with shown(budgets):
        async with asyncio.timeout(20):
            await asyncio.gather(call(budgets[1], "x"), call(budgets[0], "a"))
    assert not any(budget.is_exhausted for budget in budgets)


async def test_a_sample_that_begins_with_nothing_granted_pays_nothing_without_the_store(store: Store) -> None:
    arms = [{"name": name, "agent": "direct", "max_usd": 1.0} for name in ("raw", "tools")]
    job = create(store, limits={"usd": 1.0}, arms=arms)
    first, second = budget_of(store, job.id, "first"), budget_of(store, job.id, "second")
    raw, tools = kind_of("scripted", "raw"), kind_of("scripted", "tools")
    assert await first.reserve_sample({"a1": raw, "a2": tools})
    for trial, usd in (("a1", 0.5), ("a2", 0.4)):
        taken = await first.reserve(lambda usd=usd: Usage(usd, 10), trial=trial)
        first.settle(taken, Usage(usd, 10), trial=trial)
    first.release_trials(["a1"])
    await first.refresh()
    assert await second.reserve_sample({"b1": raw, "b2": tools}), "of tools nobody knows what they cost"
    assert second.try_reserve(Usage(0.4, 10), trial="b1") is None


async def test_a_sample_is_granted_what_it_reserves_also_where_a_dearer_trial_ends_meanwhile(
    store: Store,
) -> None:
    job = create(store, limits={"usd": 10.0})
    first, second = budget_of(store, job.id, "first"), budget_of(store, job.id, "second")

    async def pay(budget: BudgetClient, trial: str, usd: float) -> None:
        assert await budget.reserve_sample({trial: "raw"})
        taken = await budget.reserve(lambda: Usage(usd, 1), trial=trial)
        budget.settle(taken, Usage(usd, 1), trial=trial)

    await pay(first, "a", 0.1)
    first.release_trials(["a"])
    await pay(first, "b", 5.0)
    await pay(second, "x", 4.5)
    await first._asking.acquire()  # as a call does that asks the store
    begins = asyncio.create_task(first.reserve_sample({"c": "raw"}))
    await asyncio.sleep(0.01)
    first.release_trials(["b"])
    first._asking.release()
    assert not await begins, "now it may cost 5.0"


async def test_a_sample_whose_next_trial_is_about_to_start_may_leave_something(store: Store) -> None:
    job = create(store, limits={"tokens": 2_500})
    first, second = budget_of(store, job.id, "first"), budget_of(store, job.id, "second")

    async def run(trial: str, tokens: int) -> None:
        first.start_trial(trial)
        taken = await first.reserve(lambda: Usage(0.0, tokens), trial=trial)
        first.settle(taken, Usage(0.0, tokens), trial=trial)
        first.release_trials([trial])

    assert await first.reserve_sample({"a": "raw"})
    await run("a", 1_000)
    assert await first.reserve_sample({"b": "raw"})
    await first.refresh()
    assert not await second.reserve_sample({"c": "raw"})
    assert not second.is_exhausted, "b holds 1,000, and may cost less"
    await run("b", 10)
    await first.refresh()
    assert await second.reserve_sample({"c": "raw"})


async def test_trials_that_wait_for_a_slot_keep_no_other_process_waiting(store: Store) -> None:
    job, paid = create(store, limits={"usd": 100.0}), PaidModel()

    both_are_shown = asyncio.Barrier(2)

    async def run(holder: str) -> None:
        budget = budget_of(store, job.id, holder)
        assert await budget.reserve_sample({f"{holder}1": "raw", f"{holder}2": "tools"})
        model = with_budget(paid, PAID, budget)
        for trial in (f"{holder}1", f"{holder}2"):  # one slot: the second starts when the first has ended
            budget.start_trial(trial)
            current_trial_id.set(trial)
            await budget.refresh()  # as a running shard does: the other process sees that this one is busy
            await both_are_shown.wait()
            await model.reply(REQUEST)
            budget.release_trials([trial])

    async with asyncio.timeout(20):
        await asyncio.gather(run("p"), run("q"))
    assert paid.taken == 4


async def test_where_nothing_is_left_not_even_a_first_call_goes_out(store: Store) -> None:
    job, paid = create(store, limits={"usd": 4.0}), PaidModel()
    store.charge(job.id, [Usage(4.0, 0)])
    with pytest.raises(OutOfBudget):
        await with_budget(paid, PAID, budget_of(store, job.id, "late")).reply(REQUEST)
    assert paid.taken == 0


async def test_once_a_price_is_seen_those_that_waited_go_together(store: Store) -> None:
    job, paid = create(store, limits={"usd": 1000.0}), PaidModel()
    await spend(with_budget(paid, PAID, budget_of(store, job.id, "p")), 20)
    assert paid.most > 5
