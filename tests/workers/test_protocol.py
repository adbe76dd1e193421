"""Leases under any order of events: workers, zombies, crashes, sweeps, cancels, resumes, lost replies."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import func, select, text

from gnomon.core.score import Outcome
from gnomon_workers.budget.usage import Usage
from gnomon_workers.store import Lease, Store
from gnomon_workers.store.checkpoints import NewCheckpoint
from gnomon_workers.store.job_counters import counted_jobs
from gnomon_workers.store.schema import results, trials
from tests.workers.conftest import BOTH, TRACE, Clock, create, make_row

TTL_S = 10.0
ROUNDS = 10  # of six that write at once
WORKERS = st.sampled_from(["w1", "w2", "w3"])


class Protocol(RuleBasedStateMachine):
    """One job, three workers that may stall, die, or write twice, a sweeper, and a user.

    Every operation of the store is one transaction, so the order of operations is all that races are.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self.clock = Clock()
        self.store = Store(url, clock=self.clock)
        self.job = create(self.store, 3)
        self.held: dict[str, list[Lease]] = {"w1": [], "w2": [], "w3": []}  # what each believes it has
        self.newest: dict[str, int] = {}  # the last token handed out, by trial
        self.kept: dict[str, Any] = {}  # results that were accepted, by trial

    def teardown(self) -> None:
        self.store.close()

    @rule(worker=WORKERS, shard=st.integers(0, 1), isolated=st.booleans(), limit=st.integers(1, 6))
    def lease(self, worker: str, shard: int, isolated: bool, limit: int) -> None:
        got = self.store.lease(self.job.id, shard, worker=worker, ttl_s=TTL_S, limit=limit, isolated=isolated)
        for one in got:
            assert one.token > self.newest.get(one.trial.trial_id, 0), "a token was handed out twice"
            self.newest[one.trial.trial_id] = one.token
        self.held[worker] += got

    @rule(worker=WORKERS, outcome=st.sampled_from(Outcome), twice=st.booleans())
    def finish(self, worker: str, outcome: Outcome, twice: bool) -> None:
        leases, self.held[worker] = self.held[worker], []
        score = {"scored": 1.0, "model_failed": 0.0, "infra_missing": None}[outcome.value]
        batch = [(one, make_row(one, outcome=outcome, score=score, answer=worker), TRACE) for one in leases]
        current = self.current()
        refused = self.store.finish(batch)
        stale = {one.trial.trial_id for one in leases if (one.trial.trial_id, one.token) not in current}
        assert refused == stale
        if twice:  # the reply to the first write was lost
            assert self.store.finish(batch) == refused
        for lease, row, _ in batch:
            if (row.trial_id, lease.token) in current:
                assert row.trial_id not in self.kept, "a second result for a trial was accepted"
                self.kept[row.trial_id] = row

    def current(self) -> set[tuple[str, int]]:
        """Which leases the store knows, as (trial id, token)."""
        with self.store.reading() as db:
            query = select(trials.c.trial_id, trials.c.token).where(trials.c.state == "leased")
            return {(row.trial_id, row.token) for row in db.execute(query)}

    @rule(worker=WORKERS)
    def crash(self, worker: str) -> None:
        self.held[worker] = []

    @rule(worker=WORKERS)
    def release(self, worker: str) -> None:
        leases, self.held[worker] = self.held[worker], []
        self.store.release(leases)

    @rule(worker=WORKERS)
    def renew(self, worker: str) -> None:
        self.store.renew(worker, ttl_s=TTL_S)

    @rule(seconds=st.sampled_from([1.0, 6.0, 11.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.now_s += seconds

    @rule()
    def sweep(self) -> None:
        self.store.sweep()

    @rule()
    def everything_expires(self) -> None:
        self.clock.now_s += TTL_S + 1
        self.store.sweep()

    @rule()
    def cancel(self) -> None:
        before = self.store.job(self.job.id).status
        after = self.store.cancel(self.job.id).status
        assert after == ("cancelled" if before in ("queued", "running") else before)

    @rule(patience_s=st.sampled_from([0.0, 8.0]))
    def put_off(self, patience_s: float) -> None:
        self.store.record_setup_failure(self.job.id, "no data here", patience_s=patience_s)

    @rule()
    def resume(self) -> None:
        self.store.resume(self.job.id)
        self.kept = {name: row for name, row in self.kept.items() if row.outcome != "infra_missing"}

    @invariant()
    def counts_are_the_rows_and_the_rows_are_whole(self) -> None:
        found = {row.trial_id: row for row in self.store.iter_rows(self.job.id)}
        assert {name: found[name] for name in self.kept} == self.kept
        lost = [row for name, row in found.items() if name not in self.kept]
        assert {row.stop_reason for row in lost} <= {"worker_lost", "setup"}
        with self.store.reading() as db:
            is_done, has_row = trials.c.state == "done", results.c.seq.is_not(None)
            pairs = select(is_done.label("done"), has_row.label("row"), func.count().label("n"))
            query = pairs.join_from(trials, results, isouter=True).group_by(text("1, 2"))
            counts = {(one.done, one.row): one.n for one in db.execute(query)}
            job = db.execute(select(counted_jobs)).mappings().one()
        assert set(counts) <= {(True, True), (False, False)}, "a trial is done if, and only if, it has a row"
        assert counts.get((True, True), 0) == len(found)
        assert sum(counts.values()) == job["planned"]
        assert [job[outcome.value] for outcome in Outcome] == [
            sum(row.outcome is outcome for row in found.values()) for outcome in Outcome
        ]
        assert job["leased"] == len(self.current())
        if job["status"] not in ("cancelled", "failed"):
            assert (job["status"] == "completed") == (len(found) == job["planned"])


@BOTH
@pytest.mark.parametrize(
    "times", [1, pytest.param(100, marks=[pytest.mark.soak, pytest.mark.timeout(3_600)])]
)
def test_leases_hold_under_any_order_of_events(kind: str, new_url: Callable[[], str], times: int) -> None:
    examples = times * {"sqlite": 5, "postgresql": 2}[kind]
    run_state_machine_as_test(
        lambda: Protocol(new_url()),
        settings=settings(max_examples=examples, stateful_step_count=40, deadline=None),
    )


@BOTH
def test_whoever_writes_at_once_waits_for_no_circle(store: Store) -> None:
    """Four workers, two of them late with everything, a sweeper and a user, all at the same time."""
    job = create(store, 80, concurrency=1)

    def work(seed: int) -> None:
        dice, held = random.Random(seed), list[Lease]()
        for _ in range(ROUNDS):
            held += store.lease(job.id, dice.randrange(job.shards), worker=f"w{seed}", ttl_s=-1.0, limit=6)
            dice.shuffle(held)
            store.renew(f"w{seed}", ttl_s=dice.choice([-1.0, 60.0]))
            checkpoints = [NewCheckpoint(lease, b"so far", Usage(0.0, 0)) for lease in held[2:6]]
            store.save_checkpoints(job.id, checkpoints)
            store.finish([(lease, make_row(lease), TRACE) for lease in held[:4]])
            if dice.random() < 0.5:
                store.release(held[4:6])
            else:
                store.release_all_but(f"w{seed}", held[6:])
            store.expire(f"w{dice.randrange(4)}")
            held = held[4:] if seed < 2 else []

    def disturb(seed: int) -> None:
        for _ in range(ROUNDS):
            store.sweep()
            store.cancel(job.id)
            store.resume(job.id)
            store.record_setup_failure(job.id, "no", patience_s=60.0)

    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(task, seed) for seed, task in enumerate([work] * 4 + [disturb] * 2)]:
            done.result()  # a deadlock that the database broke would be raised here
    rows = list(store.iter_rows(job.id))
    counts = store.job(job.id).counts
    assert len({row.trial_id for row in rows}) == len(rows) == counts.done > 0
    with store.reading() as db:
        states = dict(db.execute(select(trials.c.state, func.count()).group_by(trials.c.state)).all())
    assert (states["done"], states.get("leased", 0)) == (len(rows), counts.running)


def test_after_the_last_fault_every_trial_ends(store: Store, clock: Clock) -> None:
    job = create(store, 5)
    for _, shard in store.unfinished_shards():
        store.lease(job.id, shard, worker="dead", ttl_s=TTL_S)
    clock.now_s += TTL_S + 1
    for _ in range(10):
        store.sweep()
        for _, shard in store.unfinished_shards():
            leases = store.lease(job.id, shard, worker="w", ttl_s=TTL_S)
            store.finish([(lease, make_row(lease), TRACE) for lease in leases])
    record = store.job(job.id)
    assert (record.status, record.counts.scored) == ("completed", 10)
