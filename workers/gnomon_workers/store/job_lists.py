"""Lists many jobs at once, in brief: what each has, which lack trials, and why."""

import json
from collections.abc import Collection, Sequence
from dataclasses import fields

from sqlalchemy import ColumnElement, RowMapping, func, or_, select

from gnomon_workers.store.database import Database
from gnomon_workers.store.failure import STOPPED
from gnomon_workers.store.job_counters import counted_jobs, ended_count
from gnomon_workers.store.jobs import job_records
from gnomon_workers.store.records import OPEN, JobDigest, JobRecord, MissingTrials, StoppedModel
from gnomon_workers.store.schema import jobs, model_checks, results

MISSING = "infra_missing"
_DIGEST = (
    counted_jobs.c.id,
    counted_jobs.c.number,
    counted_jobs.c.name,
    counted_jobs.c.status,
    counted_jobs.c.benchmark,
    counted_jobs.c.created_at.label("created_s"),
    counted_jobs.c.finished_at.label("finished_s"),
    counted_jobs.c.planned,
    ended_count(counted_jobs).label("processed"),
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
            rows = [row for row in db.execute(query).mappings() if not wanted or _holds(row, wanted)]
        names = [field.name for field in fields(JobDigest) if field.name != "is_budget_exhausted"]
        return [
            JobDigest(
                **{name: row[name] for name in names},
                is_budget_exhausted=bool(row["is_budget_exhausted"]),
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
            select(
                jobs.c.id.label("job_id"),
                jobs.c.name.label("job_name"),
                *(model_checks.c[name] for name in ("model", "cause", "error")),
            )
            .join(jobs, jobs.c.id == model_checks.c.job_id)
            .where(model_checks.c.state == STOPPED)
            .order_by(jobs.c.number.desc(), model_checks.c.model)
            .limit(limit)
        )
        with self.reading() as db:
            return [StoppedModel(**row) for row in db.execute(query).mappings()]

    def missing_trials(self, job_ids: Collection[str], *, limit: int = 200) -> list[MissingTrials]:
        """Why trials of these jobs are missing: the reasons that hold for most of them first."""
        count = func.count()
        query = (
            select(
                results.c.job_id,
                results.c.stop_reason.label("cause"),
                count.label("trials"),
                func.max(results.c.error).label("error"),
                func.min(results.c.trial_id).label("trial_id"),
            )
            .where(results.c.job_id.in_(job_ids), results.c.outcome == MISSING)
            .group_by(results.c.job_id, results.c.stop_reason)
            .order_by(count.desc(), results.c.job_id, results.c.stop_reason)
            .limit(limit)
        )
        with self.reading() as db:
            return [MissingTrials(**row) for row in db.execute(query).mappings()]


def _may_hold(word: str) -> ColumnElement[bool]:
    """Whether a job says this word somewhere; its spec says more than the names of its models."""
    names = ("name", "id", "benchmark", "spec", "owner", "posted_by")
    columns = [counted_jobs.c[name] for name in names]
    return or_(*(column.icontains(word, autoescape=True) for column in columns))


def _holds(row: RowMapping, words: Sequence[str]) -> bool:
    models = json.loads(row["spec"])["models"]
    names = [row[name] for name in ("id", "name", "benchmark", "owner", "posted_by")]
    text = " ".join([*names, *(f"{model['id']} {model.get('name', '')}" for model in models)]).lower()
    return all(word in text for word in words)
