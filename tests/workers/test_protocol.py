"""Leases under any order of events: workers, zombies, crashes, sweeps, cancels, resumes, lost replies."""

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlalchemy import func, select

from gnomon.outcome import Outcome
from tests.workers.conftest import TRACE, Clock, make_row, make_spec
from tests.workers.tiny_worker import refs
from workers.store import Lease, Store
from workers.store.schema import jobs, results, trials

TTL_S = 10.0
WORKERS = st.sampled_from(["w1", "w2", "w3"])


class Protocol(RuleBasedStateMachine):
    """One job, three workers that may stall, die, or write twice, a sweeper, and a user.

    Every operation of the store is one transaction, so the order of operations is all that races are.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.store = Store(f"sqlite:///{Path(self.folder.name) / 'g.db'}", clock=self.clock)
        self.job = self.store.create_job(make_spec(3), refs(3))
        self.held: dict[str, list[Lease]] = {"w1": [], "w2": [], "w3": []}  # what each believes it has
        self.newest: dict[str, int] = {}  # the last token handed out, by trial
        self.kept: dict[str, Any] = {}  # results that were accepted, by trial

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    @rule(worker=WORKERS, shard=st.integers(0, 1), alone=st.booleans(), limit=st.integers(1, 6))
    def lease(self, worker: str, shard: int, alone: bool, limit: int) -> None:
        got = self.store.lease(self.job.id, shard, worker=worker, ttl_s=TTL_S, limit=limit, alone=alone)
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
        for _, row, _ in batch:
            if row.trial_id not in refused:
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

    @precondition(lambda self: self.store.job(self.job.id).status != "failed")
    @rule()
    def resume(self) -> None:
        self.store.resume(self.job.id)
        self.kept = {name: row for name, row in self.kept.items() if row.outcome != "infra_missing"}

    @invariant()
    def counts_are_the_rows_and_the_rows_are_whole(self) -> None:
        counts, rows = self.store.job(self.job.id).counts, list(self.store.iter_rows(self.job.id))
        found = {row.trial_id: row for row in rows}
        assert len(found) == len(rows) == counts.done
        assert {name: found[name] for name in self.kept} == self.kept
        lost = [row for row in rows if row.trial_id not in self.kept]
        assert {row.stop_reason for row in lost} <= {"worker_lost"}
        with self.store.reading() as db:
            by_state = dict(db.execute(select(trials.c.state, func.count()).group_by(trials.c.state)).all())
            unpaired = (
                select(func.count())
                .select_from(trials.outerjoin(results))
                .where((trials.c.state == "done") != results.c.seq.is_not(None))
            )
            assert db.execute(unpaired).scalar_one() == 0
            status = db.execute(select(jobs.c.status)).scalar_one()
        assert by_state.get("done", 0) == counts.done
        assert sum(by_state.values()) == counts.planned
        assert (status == "completed") == (counts.done == counts.planned and status != "cancelled")


TestProtocol = Protocol.TestCase
TestProtocol.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)


def test_after_the_last_fault_every_trial_ends(store: Store, clock: Clock) -> None:
    job = store.create_job(make_spec(5), refs(5))
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
