"""Lists many jobs at once, in little: what there is of each, which lack trials, and why."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, func, or_, select

from gnomon_workers.store.database import Database
from gnomon_workers.store.failure import STOPPED
from gnomon_workers.store.job_counters import OPEN, counted_jobs, ended_count
from gnomon_workers.store.jobs import job_records
from gnomon_workers.store.records import JobDigest, JobRecord, MissingTrials, StoppedModel
from gnomon_workers.store.schema import jobs, model_checks, results

MISSING = "infra_missing"
_DIGEST = (
    counted_jobs.c.id,
    counted_jobs.c.number,
    counted_jobs.c.name,
    counted_jobs.c.status,
    counted_jobs.c.benchmark,
    counted_jobs.c.created_at,
    counted_jobs.c.finished_at,
    counted_jobs.c.planned,
    ended_count(counted_jobs),
    counted_jobs.c.infra_missing,
    counted_jobs.c.known_usd,
    counted_jobs.c.is_budget_exhausted,
)


class JobLists(Database):
    """The part of the store that reads many jobs at once."""

    def digests(self, *, limit: int, words: str = "", owner: str = "") -> list[JobDigest]:
        """The newest `limit` jobs, and all that are open; with `words`, those of them whose name, id,
        benchmark, models and owner hold every word; with `owner`, those of that owner.
        """
        wanted = words.lower().split()
        matching = [_may_hold(word) for word in wanted]
        if owner:
            matching.append(counted_jobs.c.owner == owner)
        newest = (
            select(counted_jobs.c.number).where(*matching).order_by(counted_jobs.c.number.desc()).limit(limit)
        )
        chosen = or_(counted_jobs.c.number.in_(newest), counted_jobs.c.status.in_(OPEN))
        columns = (
            (*_DIGEST, counted_jobs.c.spec, counted_jobs.c.owner, counted_jobs.c.posted_by)
            if wanted
            else _DIGEST
        )
        query = select(*columns).where(chosen, *matching).order_by(counted_jobs.c.number.desc())
        with self.reading() as db:
            rows = [row for row in db.execute(query) if not wanted or _holds(row, wanted)]
        return [
            JobDigest(
                id=row[0],
                number=row[1],
                name=row[2],
                status=row[3],
                benchmark=row[4],
                created_s=row[5],
                finished_s=row[6],
                planned=row[7],
                processed=row[8],
                infra_missing=row[9],
                known_usd=row[10],
                is_budget_exhausted=bool(row[11]),
            )
            for row in rows
        ]

    def owners(self) -> list[str]:
        """Whose keys jobs were posted with, by name."""
        named = select(jobs.c.owner).where(jobs.c.owner != "").distinct().order_by(jobs.c.owner)
        with self.reading() as db:
            return list(db.scalars(named))

    def jobs_of(self, job_ids: Sequence[str]) -> list[JobRecord]:
        """These jobs as they are now, in this order; without those that do not exist."""
        with self.reading() as db:
            chosen = select(counted_jobs).where(counted_jobs.c.id.in_(job_ids))
            rows = db.execute(chosen).mappings().all()
            records = {job.id: job for job in job_records(db, rows, now=self.now(db))}
        return [records[job_id] for job_id in job_ids if job_id in records]

    def stopped_models(self, *, limit: int) -> list[StoppedModel]:
        """Models of the newest jobs that are called no more, as their provider refused them for good."""
        query = (
            select(jobs.c.id, jobs.c.name, model_checks.c.model, model_checks.c.cause, model_checks.c.error)
            .join(jobs, jobs.c.id == model_checks.c.job_id)
            .where(model_checks.c.state == STOPPED)
            .order_by(jobs.c.number.desc(), model_checks.c.model)
            .limit(limit)
        )
        with self.reading() as db:
            return [
                StoppedModel(job_id=row[0], job_name=row[1], model=row[2], cause=row[3], error=row[4])
                for row in db.execute(query)
            ]

    def missing_trials(self, job_ids: Collection[str], *, limit: int = 200) -> list[MissingTrials]:
        """Why trials of these jobs are missing: the reasons that hold for most of them first."""
        count, error, trial_id = func.count(), func.max(results.c.error), func.min(results.c.trial_id)
        query = (
            select(results.c.job_id, results.c.stop_reason, count, error, trial_id)
            .where(results.c.job_id.in_(job_ids), results.c.outcome == MISSING)
            .group_by(results.c.job_id, results.c.stop_reason)
            .order_by(count.desc(), results.c.job_id, results.c.stop_reason)
            .limit(limit)
        )
        with self.reading() as db:
            rows = db.execute(query).all()
        return [
            MissingTrials(job_id=row[0], cause=row[1], trials=row[2], error=row[3], trial_id=row[4])
            for row in rows
        ]


def _may_hold(word: str) -> ColumnElement[bool]:
    """Whether a job says this word somewhere; its spec says more than the names of its models."""
    names = ("name", "id", "benchmark", "spec", "owner", "posted_by")
    columns = [counted_jobs.c[name] for name in names]
    return or_(*(column.icontains(word, autoescape=True) for column in columns))


def _holds(row: Row[Any], words: Sequence[str]) -> bool:
    models = json.loads(row.spec)["models"]
    names = [
        row.id,
        row.name,
        row.benchmark,
        row.owner,
        row.posted_by,
        *(f"{model['id']} {model.get('name', '')}" for model in models),
    ]
    text = " ".join(names).lower()
    return all(word in text for word in words)
