"""A job as an object, wherever it ran: its state, its rows, its traces and its report."""

import html
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

from gnomon.core.errors import GnomonError, SpecError
from gnomon.core.row import Row
from gnomon.report.row_formats import rows_arrow
from gnomon.report.text_formats import count
from gnomon.trials.trial_plan import trial_id
from gnomon_lab.frames import FrameKind, frame_of, html_table, text_table
from gnomon_lab.report import Report
from gnomon_lab.views import Trace

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from gnomon_analyses.comparing.job_diff import Difference
    from gnomon_service.answers import CountsView, JobView

HEAD = ("job", "created", "status", "results", "missing", "name")


class Incomplete(GnomonError):
    """The job did not complete, or trials of it are missing."""


class JobSource(Protocol):
    """Where jobs are: this machine's data folder, or a service."""

    def view(self, job_id: str) -> "JobView":
        """The job as it is now."""

    def rows(self, job_id: str) -> Iterator[Row]:
        """Its result rows, in the order in which they were finished."""

    def report(self, job_id: str) -> Mapping[str, Any]:
        """Its report so far."""

    def page(self, job_id: str) -> str:
        """Its report so far as an HTML file, with samples."""

    def trace(self, trial: str) -> Trace:
        """A trial with its trace."""

    def sample(self, job_id: str, text: str) -> str:
        """The id of the sample that `text` names, or begins where no other id does."""

    def cancel(self, job_id: str) -> None:
        """Start no more trials."""

    def resume(self, job_id: str, *, progress: bool, workers: int | None) -> None:
        """Run what is missing, to its end."""

    def wait(self, job_id: str, *, progress: bool, timeout_s: float | None) -> None:
        """Wait until it has ended."""


class Job:
    """A stored job. Its state is read anew each time, so the object of a running job shows how it gets on."""

    def __init__(self, source: JobSource, job_id: str) -> None:
        self._source, self.id = source, job_id

    @property
    def view(self) -> "JobView":
        """Everything that is known of it, as `GET /v1/jobs/{id}` answers it."""
        return self._source.view(self.id)

    @property
    def name(self) -> str:
        """Its name, or the benchmark's where it has none."""
        return _name(self.view)

    @property
    def status(self) -> str:
        """`preparing`, `queued`, `running`, `completed`, `cancelled` or `failed`."""
        return self.view["status"]

    @property
    def counts(self) -> "CountsView":
        """How many trials are planned, how many ended how, and how many run now."""
        return self.view["counts"]

    @property
    def spec(self) -> dict[str, Any]:
        """The frozen spec."""
        return self.view["spec"]

    @property
    def error(self) -> str:
        """Why it failed; empty where it did not."""
        return self.view["error"]

    def check(self) -> "Job":
        """The job itself, if it completed and no trial is missing; for scripts that must not go on otherwise.

        Raises:
            Incomplete: it is not so; the message says what is missing.
        """
        view = self.view
        problem = missing_text(view)
        if problem:
            raise Incomplete(problem)
        return self

    @overload
    def rows(self, kind: Literal["polars"] = "polars") -> "pl.DataFrame": ...
    @overload
    def rows(self, kind: Literal["pandas"]) -> "pd.DataFrame": ...
    @overload
    def rows(self, kind: Literal["arrow"]) -> "pa.Table": ...
    def rows(self, kind: FrameKind = "polars") -> Any:
        """The result rows as a frame, with the columns of docs/exchange.md; metrics and tools are JSON text.

        What is unknown (tokens, dollars) is null, never zero.

        Raises:
            MissingPackage: the library of the frame is not installed.
        """
        return frame_of(rows_arrow(self.iter_rows()), kind)

    def iter_rows(self) -> Iterator[Row]:
        """The result rows one by one, for jobs that are larger than the memory."""
        return self._source.rows(self.id)

    @property
    def report(self) -> Report:
        """The report of the trials that have ended."""
        return Report(self._source.report(self.id), page=lambda: self._source.page(self.id))

    def trace(
        self, trial: str, *, arm: str | None = None, model: str | None = None, repeat: int = 0
    ) -> Trace:
        """A trial with its trace: by the trial's id, or by a sample's and the arm (and the model, repeat).

        Raises:
            SpecError: the arm is needed, or there is none of that name.
            NotFound: there is no such trial or sample.
        """
        if trial.startswith("t_") and arm is None:
            return self._source.trace(trial)
        spec = self.spec
        arm_name = _chosen(arm, [entry["name"] for entry in spec["arms"]], "arm")
        labels = [entry.get("name") or entry["id"] for entry in spec["models"]]
        label = labels[0] if model is None else _chosen(model, labels, "model")
        sample = self._source.sample(self.id, trial)
        return self._source.trace(trial_id(self.id, sample, label, arm_name, repeat))

    def cancel(self) -> None:
        """Start no more trials; those that have ended stay."""
        self._source.cancel(self.id)

    def resume(self, *, progress: bool = True, workers: int | None = None) -> "Job":
        """Run the trials that have no result, and only those, to the end; the job itself."""
        self._source.resume(self.id, progress=progress, workers=workers)
        return self

    def wait(self, *, progress: bool = True, timeout_s: float | None = None) -> "Job":
        """Wait until the job has ended, where another process runs it; the job itself.

        Raises:
            TimeoutError: it has not ended within `timeout_s`.
        """
        self._source.wait(self.id, progress=progress, timeout_s=timeout_s)
        return self

    def __repr__(self) -> str:
        return state_text(self.view)

    def _repr_html_(self) -> str:
        view = self.view
        if _done(view["counts"]):
            return self.report._repr_html_()
        error = f"<p>{html.escape(view['error'])}</p>" if view["error"] else ""
        state = f"<p><small>{html.escape(state_text(view))}</small></p>"
        return f"<p><b>{html.escape(_name(view))}</b></p>{error}{state}"

    def _repr_svg_(self) -> str | None:
        return self.report._repr_svg_() if _done(self.counts) else None


class Jobs(list[Job]):
    """A list of jobs, shown as a table."""

    def __init__(self, jobs: Iterable[Job], views: Iterable["JobView"]) -> None:
        super().__init__(jobs)
        self._table = [_line(view) for view in views]

    def __repr__(self) -> str:
        return text_table(HEAD, self._table)

    def _repr_html_(self) -> str:
        return html_table(HEAD, self._table)


def diff(first: Job, second: Job) -> "Difference":
    """Two jobs compared sample by sample, as `gnomon diff` does, wherever each of them ran.

    `spec_changes`, `samples` and `changes` are plain data; `report` has the jobs as its two arms, and
    `lab.Report(difference["report"])` shows it.

    Raises:
        SpecError: the jobs are of different benchmarks, or share no sample, or nothing in them can be paired.
    """
    from gnomon.spec.job_spec import JobSpec
    from gnomon_analyses.comparing.job_diff import (  # late: it loads all sections of the report
        StoredJob,
        diff_jobs,
    )

    views = [(job, job.view) for job in (first, second)]
    return diff_jobs(
        *(
            StoredJob(
                job_id=job.id,
                spec=JobSpec.model_validate(view["spec"]),
                status=view["status"],
                rows=job.iter_rows(),
            )
            for job, view in views
        )
    )


def state_text(view: "JobView") -> str:
    """A job's state in one line."""
    counts = view["counts"]
    answered = counts["scored"] + counts["model_failed"]
    ended = f"{answered:,} of {count(counts['planned'], 'trial')} have a result"
    missing = f", {counts['infra_missing']:,} missing" if counts["infra_missing"] else ""
    return f"job {view['id']} ({_name(view)}): {view['status']}, {ended}{missing}"


def missing_text(view: "JobView") -> str:
    """What a job lacks, in words; empty where it completed with every trial."""
    from gnomon.exchange.imported_job import is_imported  # late, as below
    from gnomon.spec.job_spec import JobSpec

    counts = view["counts"]
    missing = counts["planned"] - counts["scored"] - counts["model_failed"] - view["not_run"]
    if view["status"] == "completed" and not missing:
        return ""
    why = f": {view['error']}" if view["error"] else ""
    lacks = f"{state_text(view)}{why}"
    if is_imported(JobSpec.model_validate(view["spec"])):
        return f"{lacks}; it was run elsewhere: what is missing can only be run, and imported, from there"
    return f"{lacks}; `lab.open({view['id']!r}).resume()` runs what is missing"


def _line(view: "JobView") -> list[str]:
    counts = view["counts"]
    results = f"{counts['scored'] + counts['model_failed']:,} of {counts['planned']:,}"
    created = view["created_at"][:16].replace("T", " ")
    return [view["id"], created, view["status"], results, f"{counts['infra_missing']:,}", _name(view)]


def _name(view: "JobView") -> str:
    return view["name"] or str(view["spec"].get("benchmark", ""))


def _done(counts: "CountsView") -> int:
    return counts["scored"] + counts["model_failed"] + counts["infra_missing"]


def _chosen(name: str | None, names: list[str], noun: str) -> str:
    if name is None and len(names) == 1:
        return names[0]
    if name not in names:
        problem = "needed" if name is None else f"no {noun} {name!r}"
        raise SpecError(f"{problem}; there are: {', '.join(names)}", field=noun)
    return name
