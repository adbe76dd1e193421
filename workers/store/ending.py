"""Ending trials that will not run: each gets its one outcome all the same."""

from collections import defaultdict

from sqlalchemy import ColumnElement, Connection, insert, select, update

from gnomon.job import Trial
from gnomon.outcome import Outcome
from gnomon.row import Row
from workers.store.counters import add_results
from workers.store.encoding import row_values, trial_of
from workers.store.schema import jobs, results, trials

BATCH = 10_000


def end_unrun(db: Connection, which: ColumnElement[bool], *, stop_reason: str, now: float) -> int:
    """End the trials `which` (pending or leased, never done) as `infra_missing`; return how many."""
    ended = (
        update(trials)
        .where(which, trials.c.state != "done")
        .values(state="done", lease_until=None, token=trials.c.token + 1)  # whoever ran it is refused
        .returning(*trials.c)
    )
    found = db.execute(ended).mappings().all()
    benchmarks = dict(
        db.execute(
            select(jobs.c.id, jobs.c.benchmark).where(jobs.c.id.in_({row["job_id"] for row in found}))
        ).all()
    )
    by_job: dict[str, list[Row]] = defaultdict(list)
    for row in found:
        trial = trial_of(row)
        benchmark = benchmarks[trial.job_id]
        by_job[trial.job_id].append(
            missing_row(trial, benchmark=benchmark, stop_reason=stop_reason, attempt=row["attempt"])
        )
    for job_id, rows in by_job.items():
        add_results(db, job_id, [row.outcome for row in rows], (), now=now)
        for start in range(0, len(rows), BATCH):
            db.execute(insert(results), [row_values(row) for row in rows[start : start + BATCH]])
    return len(found)


def missing_row(trial: Trial, *, benchmark: str, stop_reason: str, attempt: int) -> Row:
    """The row of a trial that has nothing to show; it has cost nothing."""
    return Row(
        job_id=trial.job_id,
        trial_id=trial.trial_id,
        benchmark=benchmark,
        task=trial.ref.task,
        cell=trial.ref.cell,
        sample_id=trial.ref.sample_id,
        cluster=trial.ref.cluster,
        model=trial.model,
        arm=trial.arm,
        repeat=trial.repeat,
        outcome=Outcome.INFRA_MISSING,
        stop_reason=stop_reason,
        score=None,
        prompt_tokens=0,
        completion_tokens=0,
        usd=0.0,
        attempt=attempt,
    )
