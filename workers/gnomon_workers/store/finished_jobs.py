"""Stores jobs that come with their results, as they were scored again or run elsewhere; nothing is queued."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, tuple_, update
from sqlalchemy.exc import OperationalError

from gnomon.core.row import Row
from gnomon.core.sample import DataFault, SampleRef
from gnomon.core.seal import PlannedSamples
from gnomon.exchange.imported_job import is_imported
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import count_trials, expand_trials, trial_id
from gnomon_workers.budget.usage import Usage
from gnomon_workers.store.job_counters import add_results, lock_jobs
from gnomon_workers.store.job_ends import end_job
from gnomon_workers.store.jobs import Jobs, seal_plan
from gnomon_workers.store.records import JobStatus
from gnomon_workers.store.schema import jobs, results, traces, trials
from gnomon_workers.store.serialization import job_values, pack, row_values, unpack
from gnomon_workers.store.shard_sizes import shard_size

BATCH = 1_000
FinishedTrial = tuple[Row, Mapping[str, Any] | None]  # how a trial ended, and its trace if there is one


class FinishedJobs(Jobs):
    """The part of the store that takes in jobs with their results."""

    def refs(self, job_id: str) -> list[SampleRef]:
        """The job's samples, in the order they were planned."""
        first = func.min(trials.c.ordinal)
        columns = (trials.c.sample_id, trials.c.task, trials.c.cell, trials.c.cluster)
        query = select(*columns).where(trials.c.job_id == job_id).group_by(*columns).order_by(first)
        with self.reading() as db:
            return [SampleRef(**row) for row in db.execute(query).mappings()]

    def trace(self, trial_id: str) -> dict[str, Any] | None:
        """A trial's trace; None where none is kept."""
        with self.reading() as db:
            query = select(traces.c.body).where(traces.c.trial_id == trial_id)
            body = db.execute(query).scalar_one_or_none()
        return None if body is None else unpack(body)

    def insert_finished_job(
        self,
        spec: JobSpec,
        refs: Sequence[SampleRef],
        ended: Iterable[FinishedTrial],
        *,
        status: JobStatus = "completed",
        faults: Sequence[DataFault] = (),
    ) -> str:
        """Keep a job whose trials have already ended, or nothing of it; its id.

        Rows get the ids of this job's trials. Trials without a row stay unrun, but repeats that a run from
        elsewhere did not make were never planned. The job's own row is written last: until then none of it is
        seen.
        """
        job_id, count = "j_" + secrets.token_hex(10), count_trials(spec, len(refs))
        samples = PlannedSamples()
        try:
            self.insert_trials(expand_trials(job_id, spec, samples.noting(refs)), shard_size(spec, count))
            rows = iter(ended)
            spent: list[Row] = []
            while batch := list(islice(rows, BATCH)):
                spent += self._insert_finished(job_id, batch)
            with self.writing() as db:
                self.advisory_lock(db, job_id)
                count -= _leave_out_repeats(db, job_id) if is_imported(spec) and len(spent) < count else 0
                now = self.now(db)
                db.execute(
                    insert(jobs).values(
                        **job_values(spec, faults) | {"status": "running"},
                        id=job_id,
                        spec_hash=spec.content_hash,
                        created_at=now,
                        started_at=now,
                        planned=count,
                        shard_size=shard_size(spec, count),
                    )
                )
                add_results(db, job_id, [row.outcome for row in spent], [Usage.by(row) for row in spent])
                lock_jobs(db, [job_id])
                if len(spent) >= count:
                    end_job(db, job_id, now=now)
                ended_now = update(jobs).where(jobs.c.id == job_id)
                why = {} if status == "failed" else {"error": ""}
                db.execute(ended_now.values(status=status, finished_at=now, **why))
                seal_plan(db, job_id, spec, samples, kind="imported", now=now, trials=count)
        except BaseException as error:
            if not (self.rollback_unless_committed(job_id) and isinstance(error, OperationalError)):
                raise
        return job_id

    def _insert_finished(self, job_id: str, batch: Sequence[FinishedTrial]) -> list[Row]:
        rows = [
            replace(
                row,
                job_id=job_id,
                trial_id=trial_id(job_id, row.sample_id, row.model, row.arm, row.repeat),
            )
            for row, _ in batch
        ]
        bodies = [
            {"trial_id": row.trial_id, "body": pack(trace)}
            for row, (_, trace) in zip(rows, batch, strict=True)
            if trace is not None
        ]
        with self.writing() as db:
            done = trials.c.trial_id.in_([row.trial_id for row in rows])
            db.execute(update(trials).where(done).values(state="done"))
            db.execute(insert(results), [row_values(row) for row in rows])
            if bodies:
                db.execute(insert(traces), bodies)
        return [replace(row, metrics={}, answer=None, tools_used={}) for row in rows]


def _leave_out_repeats(db: Connection, job_id: str) -> int:
    """Delete trials without a result, but for one where a sample has none of a model and an arm; how many."""
    of_job = trials.c.job_id == job_id
    group = (trials.c.sample_id, trials.c.model, trials.c.arm)
    is_known = tuple_(*group).in_(select(*group).where(of_job, trials.c.state == "done"))
    unrun = delete(trials).where(of_job, trials.c.state != "done", (trials.c.repeat > 0) | is_known)
    return db.execute(unrun).rowcount
