"""Keeps the state of each model of a job: whether its preflight passed, its cost, whether it was stopped.

A model that is stopped is not called any more: its trials end as `infra_missing`, with its provider's words.
"""

import json

from sqlalchemy import ColumnElement, Connection, RowMapping, insert, select, update

from gnomon.core.missing import keepable
from gnomon.fitness.table import Fitness
from gnomon_workers.budget.usage import Usage
from gnomon_workers.store.failure import STOPPED
from gnomon_workers.store.job_counters import add_results, lock_jobs
from gnomon_workers.store.job_ends import JobEnds
from gnomon_workers.store.missing import mark_missing
from gnomon_workers.store.records import OPEN, CheckState, ModelCheck
from gnomon_workers.store.schema import PENDING, jobs, model_checks, trials
from gnomon_workers.store.serialization import check_of


class ModelChecks(JobEnds):
    """The part of the store that knows the state of a job's models."""

    def begin_check(
        self, job_id: str, model: str, *, holder: str, ttl_s: float, asks_for: str = "", asks_s: float = 0.0
    ) -> tuple[ModelCheck, bool]:
        """The model's state, and whether its preflight is `holder`'s to make: it is where none was
        made, or the process that began it was silent for `ttl_s` seconds. To call this again renews that, and
        notes what the call in flight asks for, and for how many seconds by now.
        """
        with self.writing() as db:
            lock_jobs(db, [job_id])
            now, stored = self.now(db), _find(db, job_id, model)
            if stored is not None and stored["state"] not in ("pending", "checking"):
                return check_of(stored, at_s=now), False
            is_own = stored is None or stored["holder"] in ("", holder) or stored["lease_until"] < now
            if is_own:
                asks = {"asks_for": asks_for, "asked_at": now - asks_s if asks_for else None}
                _set(db, job_id, model, state="checking", holder=holder, lease_until=now + ttl_s, **asks)
            return check_of(_at(db, job_id, model), at_s=now), is_own

    def end_check(
        self,
        job_id: str,
        model: str,
        *,
        holder: str,
        state: CheckState,
        calls: int,
        spent: Usage,
        cause: str = "",
        error: str = "",
        fitness: Fitness | None = None,
    ) -> None:
        """Note what came of `holder`'s preflight, and charge the job for it. Twice is harmless; where another
        process has taken over meanwhile, that one's finding counts, and both have cost something.
        """
        with self.writing() as db:
            lock_jobs(db, [job_id])
            stored = _at(db, job_id, model)
            if not stored["holder"]:
                return
            add_results(db, job_id, (), [spent])
            cost = {
                "calls": stored["calls"] + calls,
                "usd": _sum(stored["usd"], spent.usd),
                "tokens": _sum(stored["tokens"], spent.tokens),
            }
            result = {"state": state, "cause": cause, "error": keepable(error), "holder": ""}
            if fitness is not None:
                result["fitness"] = json.dumps(fitness)
            _set(db, job_id, model, **cost | (result if stored["holder"] == holder else {}))

    def note_wait(self, job_id: str, model: str, *, error: str, wait_s: float) -> None:
        """The model's provider has been asked too often: it is not called again for so many seconds."""
        with self.writing() as db:
            lock_jobs(db, [job_id])
            if _find(db, job_id, model) is None:  # no preflight was made: nothing else is known of it
                _set(db, job_id, model, state="pending")
            _set(db, job_id, model, waits_until=self.now(db) + wait_s, waits_for=keepable(error))

    def stop_model(self, job_id: str, model: str, *, cause: str, error: str) -> None:
        """Call the model no more: end its pending trials with that cause and the provider's words.

        Trials in flight end by themselves. Once no trial is left the job completes; it fails where none
        of its models is left. Stopping a model twice is harmless.
        """
        error = keepable(error)
        with self.writing() as db:
            lock_jobs(db, [job_id])
            if db.execute(select(jobs.c.status).where(jobs.c.id == job_id)).scalar_one_or_none() not in OPEN:
                return
            stored = _find(db, job_id, model)
            if stored is None or stored["state"] != STOPPED:
                _set(db, job_id, model, state=STOPPED, cause=cause, error=error, holder="")
            here = (trials.c.job_id == job_id) & (trials.c.model == model) & (trials.c.state == PENDING)
            mark_missing(db, here, stop_reason=f"provider:{cause}", error=error)
        self.end_if_over(job_id)


def _here(job_id: str, model: str) -> ColumnElement[bool]:
    return (model_checks.c.job_id == job_id) & (model_checks.c.model == model)


def _find(db: Connection, job_id: str, model: str) -> RowMapping | None:
    return db.execute(select(model_checks).where(_here(job_id, model))).mappings().one_or_none()


def _at(db: Connection, job_id: str, model: str) -> RowMapping:
    return db.execute(select(model_checks).where(_here(job_id, model))).mappings().one()


def _set(db: Connection, job_id: str, model: str, **values: object) -> None:
    if not db.execute(update(model_checks).where(_here(job_id, model)).values(**values)).rowcount:
        first = {"usd": 0.0, "tokens": 0}
        db.execute(insert(model_checks).values(job_id=job_id, model=model, **first | values))


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second
