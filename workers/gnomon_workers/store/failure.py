"""Says why a job has failed whose trials have all ended: no model answered, or none was left to ask."""

import json
from collections import Counter, defaultdict

from sqlalchemy import Connection, RowMapping, func, select

from gnomon.core.missing import MissingCause, failure_text, said_most
from gnomon_workers.store.schema import model_checks, results

STOPPED = "stopped"


def failure_of(db: Connection, job: RowMapping) -> str:
    """Why the job failed, in words; empty where it did not: some trial has an outcome that counts, and
    some model was not stopped.
    """
    if not job["infra_missing"]:
        return ""
    labels = [model["name"] or model["id"] for model in json.loads(job["spec"])["models"]]
    has_failed = job["infra_missing"] >= job["planned"] or stopped_models(db, job["id"]) >= set(labels)
    return failure_text(_causes(db, job, labels)) if has_failed else ""


def stopped_models(db: Connection, job_id: str) -> set[str]:
    """Labels of the job's models that are called no more."""
    here = (model_checks.c.job_id == job_id) & (model_checks.c.state == STOPPED)
    return set(db.execute(select(model_checks.c.model).where(here)).scalars())


def _causes(db: Connection, job: RowMapping, labels: list[str]) -> list[MissingCause]:
    columns = (results.c.model, results.c.stop_reason, results.c.error)
    here = (results.c.job_id == job["id"]) & (results.c.outcome == "infra_missing")
    said: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for model, cause, error, count in db.execute(
        select(*columns, func.count()).where(here).group_by(*columns)
    ):
        said[model, cause][error] += count
    return [
        MissingCause(
            model=model,
            cause=cause,
            trials=errors.total(),
            planned=job["planned"] // len(labels),
            error=said_most(errors),
        )
        for label in labels
        for (model, cause), errors in said.items()
        if model == label
    ]
