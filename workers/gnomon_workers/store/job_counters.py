"""Counts a job's results beside its row, so that those who end its trials do not wait for each other.

Each batch appends what it changes to `job_counts`. Readers add that up (`counted_jobs`), and whoever locks
the job moves it into the job's row (`lock_jobs`). Both see one state of the database, so no result is
counted twice or left out.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Subquery,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy import cast as sql_cast

from gnomon.core.score import Outcome
from gnomon_workers.budget.usage import Usage
from gnomon_workers.store.schema import COUNTERS, job_counts, jobs


def _counted_jobs() -> Subquery:
    sums = [sql_cast(func.sum(job_counts.c[name]), job_counts.c[name].type).label(name) for name in COUNTERS]
    changes = func.count().label("changes")
    since = select(job_counts.c.job_id, *sums, changes).group_by(job_counts.c.job_id).subquery("since")
    columns = [
        (column + func.coalesce(since.c[column.name], 0)).label(column.name)
        if column.name in COUNTERS
        else column
        for column in jobs.c
    ]
    both = jobs.outerjoin(since, since.c.job_id == jobs.c.id)
    return select(*columns, func.coalesce(since.c.changes, 0).label("changes")).select_from(both).subquery()


counted_jobs = _counted_jobs()  # the jobs with all that was counted, and how many changes wait beside the row

# Statements that every batch needs are made once: to make one takes longer than to run it.
_THESE = jobs.c.id.in_(bindparam("job_ids", expanding=True))
_LOCK = select(jobs.c.id).where(_THESE).order_by(jobs.c.id).with_for_update()
_LOCK_UNLOCKED = _LOCK.with_for_update(skip_locked=True)
_TAKE_CHANGES = (
    delete(job_counts)
    .where(job_counts.c.job_id.in_(bindparam("job_ids", expanding=True)))
    .returning(*job_counts.c)
)
_ADD_CHANGES = (
    update(jobs)
    .where(jobs.c.id == bindparam("of_job"))
    .values({name: jobs.c[name] + bindparam(f"more_{name}") for name in COUNTERS})
)
_COUNT = insert(job_counts)


def ended_count(job: FromClause) -> ColumnElement[int]:
    """How many of a job's trials have ended, by the counters of `jobs` or of `counted_jobs`."""
    count: ColumnElement[int] = job.c.scored + job.c.model_failed + job.c.infra_missing
    return count


def lock_jobs(db: Connection, job_ids: Collection[str], *, waits: bool = True) -> None:
    """Let no other transaction that locks these jobs go on until this one ends, and bring their counters up
    to date. If it does not wait, it leaves out jobs that others have locked.

    Whoever changes trials locks their job first, except who ends trials (`Results.finish`): that goes on
    beside everything. So that no transactions wait for each other in a circle,

    - `finish` waits for nothing: it locks leased trials that are its own, passes over those that others have
      locked, and never locks a job in the same transaction;
    - nobody waits for a leased trial: all pass over those that others have locked (`leases.unlocked`). For a
      pending trial they may wait: without the job, that is locked only in passing, by a transaction that
      waits for nothing before it lets go. Whoever has locked a trial may change its checkpoint and its trace.

    What a transaction under this lock reads of results and counters may therefore be followed by more of
    them: it decides by ids that it has read once, or by what it has locked. On SQLite every transaction that
    writes runs alone anyway.
    """
    held = db.scalars(_LOCK if waits else _LOCK_UNLOCKED, {"job_ids": list(job_ids)}).all()
    changes: dict[str, Counter[str]] = defaultdict(Counter)
    for change in db.execute(_TAKE_CHANGES, {"job_ids": held}).mappings():
        changes[change["job_id"]].update({f"more_{name}": change[name] for name in COUNTERS})
    for job_id, sums in sorted(changes.items()):
        db.execute(_ADD_CHANGES, {"of_job": job_id, **sums})


def add_results(
    db: Connection, job_id: str, outcomes: Sequence[Outcome], spent: Sequence[Usage], *, returned: int = 0
) -> None:
    """Count new results, and what was spent on these and on refused ones.

    So many of the job's leases, `returned`, are over with that. Waits for nobody. Who adds outcomes calls
    `JobEnds.end_if_over` once that is committed.
    """
    count = Counter(outcomes)
    change = {
        "job_id": job_id,
        "scored": count[Outcome.SCORED],
        "model_failed": count[Outcome.MODEL_FAILED],
        "infra_missing": count[Outcome.INFRA_MISSING],
        "leased": -returned,
        "known_usd": sum(usage.usd or 0.0 for usage in spent),
        "unknown_usd": sum(usage.usd is None for usage in spent),
        "known_tokens": sum(usage.tokens or 0 for usage in spent),
        "unknown_tokens": sum(usage.tokens is None for usage in spent),
    }
    db.execute(_COUNT, change)
