"""The kinds of things that are made of jobs' results: reports, the verdict of a list, indexes of trials."""

import json
import zlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from gnomon.report.text_formats import deciding
from gnomon.stopping import while_wanted
from gnomon_service.derived import Derived, Kind, Stamp, code_version
from gnomon_workers.store.records import OPEN, JobState
from gnomon_workers.store.store import Store

if TYPE_CHECKING:  # else imported late: with SciPy's functions, a third of the API's start
    from gnomon.report.report import Report
    from gnomon.report.trial_index.index import TrialIndex

REPORTS = 8  # in memory
VERDICTS = 5_000
INDEX_BYTES = 256 << 20  # of all indexes, without what is worked out from them


@dataclass(frozen=True, slots=True, kw_only=True)
class JobVerdict:
    """A job's first comparison over all samples; `more` counts the others that are primary too.

    The numbers are None where the report withholds them.
    """

    model: str
    baseline: str
    variant: str
    word: str
    diff: float | None
    low: float | None
    high: float | None
    baseline_mean: float | None
    variant_mean: float | None
    samples: int
    clusters: int
    margin: float
    reasons: tuple[str, ...]
    crossing_clusters: int | None = None
    more: int = 0


def verdict_in(report: "Report") -> JobVerdict | None:
    """The verdict that a report begins with; None where the job compares no arms."""
    over_all = [contrast for contrast in report["contrasts"] if contrast["scope"] == "all"]
    over_all.sort(key=lambda contrast: contrast["family"] != "primary")
    if not over_all:
        return None
    first, *others = over_all
    is_shown = first["diff"] is not None and not first["withheld"]
    ends, _ = deciding(first)
    low, high = ends if ends and is_shown else (None, None)
    return JobVerdict(
        model=first["model"],
        baseline=first["baseline"],
        variant=first["variant"],
        word=first["verdict"],
        diff=first["diff"] if is_shown else None,
        low=low,
        high=high,
        baseline_mean=first["baseline_mean"] if is_shown else None,
        variant_mean=first["variant_mean"] if is_shown else None,
        samples=first["n"],
        clusters=first["clusters"],
        margin=max(map(abs, first.get("margin") or [report["job"]["margin"]])),
        reasons=tuple(first["reasons"]),
        crossing_clusters=first.get("crossing_clusters"),  # absent from reports of older versions
        more=sum(contrast["family"] == "primary" for contrast in others),
    )


def reports_of(store: Store) -> "Derived[Report]":
    """The reports of the store's jobs: of their results, and of what people answered."""

    def make(job_id: str, _: "Report | None") -> "Report":
        from gnomon_service.reports import report_of

        return report_of(store, job_id)

    def stamp(job_id: str) -> Stamp:
        state, people = store.job_state(job_id), store.human_answers_stamp(job_id)
        return _stamp(state, f"-people-{people[0]}-{people[1]!r}" if people[0] else "")

    return Derived(
        store,
        Kind(
            name="report",
            make=make,
            stamp=stamp,
            to_bytes=lambda report: zlib.compress(json.dumps(report).encode()),
            from_bytes=lambda body: json.loads(zlib.decompress(body)),
            room=REPORTS,
        ),
    )


def verdicts_of(store: Store, reports: "Derived[Report]") -> Derived[JobVerdict | None]:
    """What a list says of each job that has ended, made of its report."""

    def stamp(job_id: str) -> Stamp:
        job = store.job(job_id)
        return verdict_stamp(job.status, job.counts.done, job.counts.infra_missing)

    def read(body: bytes) -> JobVerdict | None:
        fields = json.loads(body)
        return None if fields is None else JobVerdict(**{**fields, "reasons": tuple(fields["reasons"])})

    return Derived(
        store,
        Kind(
            name="verdict",
            make=lambda job_id, _: verdict_in(reports.get(job_id).value),
            stamp=stamp,
            to_bytes=lambda verdict: json.dumps(None if verdict is None else asdict(verdict)).encode(),
            from_bytes=read,
            room=VERDICTS,
        ),
    )


def verdict_stamp(status: str, ended: int, missing: int) -> Stamp:
    """What a job's verdict is made of: a list has these counts of each job at hand."""
    return Stamp(f"{code_version()}-{status}-{ended}-{missing}", status)


def indexes_of(store: Store) -> "Derived[TrialIndex]":
    """The indexes of the trials of the store's jobs."""

    def make(job_id: str, last: "TrialIndex | None") -> "TrialIndex":
        state = store.job_state(job_id)
        index = None if last is None else _continued(store, job_id, last, state)
        if index is None:
            from gnomon.report.trial_index.index import TrialIndex

            spec = store.job(job_id).spec
            models, arms = [model.label for model in spec.models], [arm.name for arm in spec.arms]
            index = _extended(store, job_id, TrialIndex.empty(models, arms))
        return index if state.status in OPEN else _with_unrun(store, job_id, index)

    def from_bytes(body: bytes) -> "TrialIndex":
        from gnomon.report.trial_index.index import TrialIndex

        return TrialIndex.from_bytes(body)

    return Derived(
        store,
        Kind(
            name="trials",
            make=make,
            # Of results alone: preflights and seals that come later leave an index as it is.
            stamp=lambda job_id: _stamp(store.job_state(job_id)._replace(open_checks=0, seal_lines=0)),
            to_bytes=lambda index: index.to_bytes(),
            from_bytes=from_bytes,
            room=INDEX_BYTES,
            size=lambda index: index.nbytes,
        ),
    )


def _stamp(state: JobState, more: str = "") -> Stamp:
    return Stamp(f"{code_version()}-{state.stamp}{more}", state.status)


def _continued(store: Store, job_id: str, last: "TrialIndex", state: JobState) -> "TrialIndex | None":
    """The index with what has come since; None if a resumed job has given back some of its results."""
    if last.last_seq > state.last_seq:
        return None
    index = _extended(store, job_id, last)
    return index if index.size_until(state.last_seq) == state.done else None


def _extended(store: Store, job_id: str, index: "TrialIndex") -> "TrialIndex":
    from gnomon.report.trial_index.columns import STORED_COLUMNS

    return index.extended(while_wanted(store.iter_columns(job_id, index.last_seq, STORED_COLUMNS)))


def _with_unrun(store: Store, job_id: str, index: "TrialIndex") -> "TrialIndex":
    """The index of a job that has ended, with the samples that have not run."""
    from gnomon.report.trial_index.columns import PLAN_COLUMNS

    unrun = store.unrun_samples(job_id)
    return index.extended((), [[getattr(ref, name) for name in PLAN_COLUMNS] for ref in unrun])
