"""Ends trials that will not run, each with its one outcome."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import ColumnElement, Connection, RowMapping, delete, select, update

from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.trials.trial_plan import Trial
from gnomon_workers.store.database import insert_all
from gnomon_workers.store.job_counters import add_results
from gnomon_workers.store.numbering import announce
from gnomon_workers.store.schema import PENDING, checkpoints, jobs, results, trials
from gnomon_workers.store.serialization import row_values, trial_of

BATCH = 10_000


def mark_missing(db: Connection, which: ColumnElement[bool], *, stop_reason: str, error: str = "") -> int:
    """End the pending trials `which` as `infra_missing`; return how many.

    BATCH of them are in memory at a time, however many there are. Their jobs are locked; call
    `JobEnds.end_if_over` once it is committed.
    """
    which &= trials.c.state == PENDING
    some = select(trials.c.trial_id).where(which).limit(BATCH)
    count = 0
    # The ids are read first: as a subquery PostgreSQL compares each of them with each trial of a new table.
    while ids := db.scalars(some).all():
        ended = (
            update(trials)
            .where(trials.c.trial_id.in_(ids), which)  # PostgreSQL looks at it again once a row is unlocked
            .values(state="done", token=trials.c.token + 1)  # a late result is refused
            .returning(*trials.c)
        )
        rows = db.execute(ended).mappings().all()
        _keep_missing(db, rows, stop_reason=stop_reason, error=error)
        count += len(rows)
    return count


def _keep_missing(db: Connection, ended: Sequence[RowMapping], *, stop_reason: str, error: str) -> None:
    db.execute(delete(checkpoints).where(checkpoints.c.trial_id.in_([row["trial_id"] for row in ended])))
    job_ids = {row["job_id"] for row in ended}
    named = select(jobs.c.id, jobs.c.benchmark).where(jobs.c.id.in_(job_ids))
    benchmarks = dict(db.execute(named).all())
    by_job: dict[str, list[Trial]] = defaultdict(list)
    attempts = {row["trial_id"]: row["attempt"] for row in ended}
    for row in ended:
        by_job[row["job_id"]].append(trial_of(row))
    for job_id, lost in by_job.items():
        first = missing_row(lost[0], benchmark=benchmarks[job_id], stop_reason=stop_reason, attempt=1)
        alike = row_values(replace(first, error=error))
        add_results(db, job_id, [Outcome.INFRA_MISSING] * len(lost), ())
        announce(db, job_id)
        insert_all(
            db,
            results,
            [{**alike, **trial.identity(), "attempt": attempts[trial.trial_id]} for trial in lost],
        )


def missing_row(trial: Trial, *, benchmark: str, stop_reason: str, attempt: int) -> Row:
    """The row of a trial that has nothing to show; it has cost nothing."""
    return Row(
        **trial.identity(),
        benchmark=benchmark,
        outcome=Outcome.INFRA_MISSING,
        stop_reason=stop_reason,
        score=None,
        prompt_tokens=0,
        completion_tokens=0,
        cached_tokens=0,
        reasoning_tokens=0,
        usd=0.0,
        attempt=attempt,
    )
