"""Scores the stored responses of a job again and keeps the result as a new job."""

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from gnomon.core.benchmark import Scoring
from gnomon.core.errors import Conflict, SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.spec.pins import require_benchmark, scored_here
from gnomon.trials.rescore import rescored
from gnomon_service.settings import Settings
from gnomon_workers.open_job import OpenJob, media_of, open_spec
from gnomon_workers.store.records import OPEN, JobRecord
from gnomon_workers.store.store import Store

LISTED = 50
MAX_NAME_CHARS = 200  # as a spec allows


@dataclass(slots=True, kw_only=True)
class Rescoring:
    """What rescoring changed. `changes` lists the first changed scores, each before and after."""

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
    progress: Callable[[int, int], None],
) -> Rescoring:
    """Score the job's stored responses again and keep the result as a new job; the old one stays as it is.

    Raises:
        NotFound: the job does not exist.
        Conflict: it still runs.
        SpecError, DataError: the variant does not exist, or its samples can no longer be read.
    """
    job = store.job(job_id)
    if job.status in OPEN:
        raise Conflict(f"job {job_id} is {job.status}; wait for its end, or cancel it", field="JOB")
    require_benchmark(job.spec, field="JOB")
    spec = job.spec.model_copy(
        update={
            "name": new_name(job.name, scoring or job.spec.scoring, now=dt.datetime.now(dt.UTC)),
            "scoring": scoring or job.spec.scoring,
            "variant": variant or job.spec.variant,
            "plugins": scored_here(job.spec),
        }
    )
    opened = open_spec(spec, media_of(settings.data_dir))
    variants = opened.bench.benchmark.variants
    if variant is not None and variant not in variants:
        raise SpecError(f"no {variant!r}; allowed: {', '.join(variants) or 'nothing'}", field="--variant")
    result = Rescoring(old_job=job_id, scoring=spec.scoring, variant=spec.variant)
    ended = _ended(store, job, opened, result, progress)
    result.new_job = store.insert_finished_job(
        spec, store.refs(job_id), ended, status=job.status, faults=job.faults
    )
    return result


def new_name(name: str, scoring: Scoring, *, now: dt.datetime) -> str:
    """A name that distinguishes a rescored job from its original and from other rescorings of it.

    >>> again = new_name("demo", "strict", now=dt.datetime(2026, 1, 31, 12, 30))
    >>> again, new_name(again, "official", now=dt.datetime(2026, 2, 1))
    ('demo, scored again (strict, 2026-01-31 12:30:00)', 'demo, scored again (official, 2026-02-01 00:00:00)')
    """
    suffix = f", scored again ({scoring}, {now:%Y-%m-%d %H:%M:%S})"
    original = re.sub(r", scored again( \([^()]*\))?$", "", name)
    return original[: MAX_NAME_CHARS - len(suffix)] + suffix


def _ended(
    store: Store, job: JobRecord, opened: OpenJob, result: Rescoring, progress: Callable[[int, int], None]
) -> Iterator[tuple[Row, Mapping[str, Any] | None]]:
    for row in store.iter_rows(job.id):
        trace = store.trace(row.trial_id)
        response = _response_of(row, trace)
        new = row
        if response is not None:
            new = rescored(row, response, bench=opened.bench, sample=opened.samples.get(row.sample_id))
            result.rescored += 1
        result.trials += 1
        progress(result.trials, job.counts.done)
        result.outcomes_changed += new.outcome != row.outcome
        if new.score != row.score:
            result.changed += 1
            if len(result.changes) < LISTED:
                result.changes.append(_change(row, new))
        yield new, trace


def _change(old: Row, new: Row) -> dict[str, Any]:
    facts = {"sample_id": old.sample_id, "model": old.model, "arm": old.arm, "repeat": old.repeat}
    return {**facts, "before": old.score, "after": new.score, "answer": new.answer, "trial_id": old.trial_id}


def _response_of(row: Row, trace: Mapping[str, Any] | None) -> str | None:
    """The response that was scored; None where the trial ended without one.

    Traces of earlier versions hold it as the text of their last reply.
    """
    if trace is None or not _had_response(row):
        return None
    if isinstance(trace.get("response"), str):
        return str(trace["response"])
    replies = [step["text"] for step in trace.get("steps", ()) if step.get("kind") == "reply"]
    return replies[-1] if replies else None


def _had_response(row: Row) -> bool:
    is_unscored = row.stop_reason.startswith("unscored:")
    return row.outcome == Outcome.SCORED or row.stop_reason == "no_answer" or is_unscored
