"""Keeps who posted, cancelled, resumed, deleted and looked at jobs, and what each key may still spend."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from sqlalchemy import ColumnElement, Connection, FromClause, func, insert, or_, select, update

from gnomon.core.errors import OutOfBudget, SpecError
from gnomon.core.model import OWN_MODEL, is_built_in
from gnomon.spec.job_spec import JobSpec
from gnomon_workers.budget.usage import NO_USAGE
from gnomon_workers.poster import Poster
from gnomon_workers.store.budgets import held_by_job
from gnomon_workers.store.database import Database
from gnomon_workers.store.job_counters import counted_jobs
from gnomon_workers.store.records import OPEN, iso
from gnomon_workers.store.schema import activity, deleted_jobs, jobs

Action = Literal["posted", "cancelled", "resumed", "deleted", "looked"]


class Deed(NamedTuple):
    """What somebody did with a job."""

    job_id: str
    who: str
    action: Action


class Done(NamedTuple):
    """A deed as it is kept: when first and last, and how often."""

    job_id: str
    job_name: str  # empty where the job was deleted
    who: str
    action: Action
    first_at: str
    last_at: str
    times: int


class Spent(NamedTuple):
    """What jobs have cost in a month, and what those that are open may still cost, up to their limits."""

    usd: float = 0.0
    tokens: int = 0
    jobs: int = 0


class Activity(Database):
    """The part of the store that knows who did what."""

    def note_deeds(self, deeds: Iterable[Deed]) -> None:
        """Keep what was done; a deed that is known already is counted."""
        with self.writing() as db:
            now = self.now(db)
            for deed in deeds:
                same = [activity.c[name] == value for name, value in deed._asdict().items()]
                again = update(activity).where(*same).values(last_at=now, times=activity.c.times + 1)
                if not db.execute(again).rowcount:
                    values = {**deed._asdict(), "first_at": now, "last_at": now, "times": 1}
                    db.execute(insert(activity).values(values))

    def deeds(self, *, limit: int) -> list[Done]:
        """What was done last, newest first."""
        named = activity.outerjoin(jobs, jobs.c.id == activity.c.job_id)
        query = select(activity, jobs.c.name.label("job_name")).select_from(named)
        with self.reading() as db:
            return [
                Done(
                    job_id=row.job_id,
                    job_name=row.job_name or "",
                    who=row.who,
                    action=row.action,
                    first_at=iso(row.first_at) or "",
                    last_at=iso(row.last_at) or "",
                    times=row.times,
                )
                for row in db.execute(query.order_by(activity.c.last_at.desc()).limit(limit))
            ]

    def spent_this_month(self, name: str) -> Spent:
        """What jobs posted under this name cost in this month, also those that were open in it for a while
        only, or were deleted since.
        """
        with self.reading() as db:
            return _spent(db, name, now=self.now(db))


def require_budget(db: Connection, poster: Poster, spec: JobSpec, *, now: float, job_id: str = "") -> None:
    """Make sure that a job cannot cost more than is left of the month's budget of who posts it.

    Raises:
        SpecError: it has no limit, so it could cost anything.
        OutOfBudget: its limit is above what is left.
    """
    models = spec.called_models.values()
    if all(is_built_in(model.id) and model.id != OWN_MODEL for model in models):
        return
    spent = _spent(db, poster.name, now=now, without=job_id)
    for field, sign, unit, budget, limit, used in (
        ("usd", "$", "", poster.usd, spec.limits.usd, spent.usd),
        ("tokens", "", " tokens", poster.tokens, spec.limits.tokens, spent.tokens),
    ):
        if budget is None:
            continue
        left = max(0, budget - used)
        of_budget = f"{sign}{left:,.15g} of {sign}{budget:,.15g}{unit}"
        said = f"the key {poster.name} has {of_budget} left this month"
        if limit is None:
            raise SpecError(f"{said}: the job needs a limit, at most that", field=f"limits.{field}")
        if limit > left:
            got = f"{sign}{limit:,.15g}{unit}"
            raise OutOfBudget(
                f"{said}, where open jobs count up to their limits; got {got}", field=f"limits.{field}"
            )


def _spent(db: Connection, name: str, *, now: float, without: str = "") -> Spent:
    month = datetime.fromtimestamp(now, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    usd, tokens, count = 0.0, 0, 0

    def here(table: FromClause, job_id: str) -> tuple[ColumnElement[bool], ...]:
        is_of_month = or_(table.c.finished_at.is_(None), table.c.finished_at >= month.timestamp())
        return table.c.posted_by == name, is_of_month, table.c[job_id] != without

    for table, job_id in ((counted_jobs, "id"), (deleted_jobs, "job_id")):
        sums = (
            func.coalesce(func.sum(table.c.known_usd + table.c.possible_usd), 0.0),
            func.coalesce(func.sum(table.c.known_tokens + table.c.possible_tokens), 0),
        )
        row = db.execute(select(*sums, func.count()).where(*here(table, job_id))).one()
        usd, tokens, count = usd + float(row[0]), tokens + int(row[1]), count + row[2]
    of_key = select(counted_jobs.c.id).where(*here(counted_jobs, "id"))
    held = held_by_job(db, db.execute(of_key).scalars().all())
    for usage in held.values():
        usd, tokens = usd + usage.known_usd, tokens + usage.known_tokens
    still = select(
        counted_jobs.c.id,
        counted_jobs.c.spec,
        (counted_jobs.c.known_usd + counted_jobs.c.possible_usd).label("usd"),
        (counted_jobs.c.known_tokens + counted_jobs.c.possible_tokens).label("tokens"),
    )
    for row in db.execute(still.where(*here(counted_jobs, "id"), counted_jobs.c.status.in_(OPEN))):
        limits, own = json.loads(row.spec).get("limits") or {}, held.get(row.id, NO_USAGE)
        usd += max(0.0, (limits.get("usd") or 0.0) - row.usd - own.known_usd)
        tokens += max(0, (limits.get("tokens") or 0) - row.tokens - own.known_tokens)
    return Spent(usd=usd, tokens=tokens, jobs=count)
