"""Rescoring a stored job: its traces stay, its scores are made anew and kept as a job of their own."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from gnomon.core.benchmark import BENCHMARKS, Scoring
from gnomon.core.errors import Conflict, SpecError
from gnomon.core.row import Row
from gnomon.trials.rescore import rescored, response_of
from service.settings import Settings
from workers.open_job import OpenJob, media_of, open_spec
from workers.store.job_counters import OPEN
from workers.store.records import JobRecord
from workers.store.store import Store

LISTED = 50


@dataclass(slots=True, kw_only=True)
class Rescoring:
    """What scoring again has changed. `changes` lists the first of them, each with both scores."""

    old_job: str
    new_job: str = ""
    scoring: str
    variant: str | None
    trials: int = 0
    rescored: int = 0  # trials that had a response
    changed: int = 0  # scores
    outcomes_changed: int = 0
    changes: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def rescore(
    store: Store,
    job_id: str,
    settings: Settings,
    *,
    scoring: Scoring | None = None,
    variant: str | None = None,
    seen: Callable[[int, int], None],
) -> Rescoring:
    """Score the job's stored responses again and keep the result as a new job; the old one stays as it is.

    Raises:
        NotFound: there is no such job.
        Conflict: it still runs.
        SpecError, DataError: no such variant, or its samples cannot be read any more.
    """
    job = store.job(job_id)
    if job.status in OPEN:
        raise Conflict(f"job {job_id} is {job.status}; wait for its end, or cancel it", field="JOB")
    if job.spec.benchmark not in BENCHMARKS.names():
        raise SpecError(f"{job.spec.benchmark!r} was run elsewhere; Gnomon has no scorer for it", field="JOB")
    spec = job.spec.model_copy(
        update={
            "name": f"{job.name}, scored again",
            "scoring": scoring or job.spec.scoring,
            "variant": variant or job.spec.variant,
        }
    )
    opened = open_spec(spec, media_of(settings.data_dir))
    known = opened.bench.benchmark.variants
    if variant is not None and variant not in known:
        raise SpecError(f"no {variant!r}; allowed: {', '.join(known) or 'nothing'}", field="--variant")
    found = Rescoring(old_job=job_id, scoring=spec.scoring, variant=spec.variant)
    ended = _ended(store, job, opened, found, seen)
    found.new_job = store.insert_finished_job(
        spec, store.refs(job_id), ended, status=job.status, faults=job.faults
    )
    return found


def _ended(
    store: Store, job: JobRecord, opened: OpenJob, found: Rescoring, seen: Callable[[int, int], None]
) -> Iterator[tuple[Row, Mapping[str, Any] | None]]:
    for row in store.iter_rows(job.id):
        trace = store.trace(row.trial_id)
        response = response_of(row, trace)
        new = row
        if response is not None:
            new = rescored(row, response, bench=opened.bench, sample=opened.samples.get(row.sample_id))
            found.rescored += 1
        found.trials += 1
        seen(found.trials, job.counts.done)
        found.outcomes_changed += new.outcome != row.outcome
        if new.score != row.score:
            found.changed += 1
            if len(found.changes) < LISTED:
                found.changes.append(_change(row, new))
        yield new, trace


def _change(old: Row, new: Row) -> dict[str, Any]:
    facts = {"sample_id": old.sample_id, "model": old.model, "arm": old.arm, "repeat": old.repeat}
    return {**facts, "before": old.score, "after": new.score, "answer": new.answer, "trial_id": old.trial_id}
