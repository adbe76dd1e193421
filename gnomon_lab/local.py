"""Runs jobs in the foreground, as `gnomon run` does, and opens those of this machine's data folder."""

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import NotFound, SpecError
from gnomon.core.row import Row
from gnomon_lab.job import Job, Jobs, missing_text
from gnomon_lab.notebook import ViewProgress, counter
from gnomon_lab.views import Trace
from gnomon_service.client.exchange import ENDED

if TYPE_CHECKING:
    from gnomon_service.answers import JobView
    from gnomon_service.jobs import Draft
    from gnomon_service.local_stack import LocalStack
    from gnomon_service.settings import Settings
    from gnomon_workers.store.records import JobRecord
    from gnomon_workers.store.store import Store

POLL_S = 0.5


def run(
    spec: str | Path | Mapping[str, Any],
    *,
    data_dir: str | Path | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Job:
    """Run the job of a spec (a mapping, or the path of a YAML or JSON file) here and now, to its end.

    It does what `gnomon run` does: a queue and workers of its own, results in the data folder. A notebook may
    call it in a cell although its event loop runs. What is wrong but harmless is a warning.

    Raises:
        SpecError, DataError: the spec or its data is invalid; nothing was run.
        Conflict: another process runs jobs in this data folder.
        KeyboardInterrupt: it was interrupted; the message says how to go on.
    """
    settings = settings_of(data_dir)
    draft = draft_of(spec, settings)
    from gnomon_service.jobs import of_draft  # late, as all here: a spec's error needs none of them

    return Job(*run_here(of_draft(draft), settings, workers=workers, progress=progress))


def open_(job_id: str = "last", *, data_dir: str | Path | None = None) -> Job:
    """A stored job: by its id, by a beginning of it that no other has, or `last` for the newest.

    Raises:
        NotFound: there is none.
        SpecError: several ids begin so; the message lists them.
    """
    from gnomon_service.cli.ids import find_job

    source = LocalJobs(settings_of(data_dir))
    with source.store() as store:
        return Job(source, find_job(store, job_id))


def jobs(*, limit: int = 20, data_dir: str | Path | None = None) -> Jobs:
    """The stored jobs, newest first; none where the data folder has no store."""
    from gnomon_service.api.serializers import job_view

    source = LocalJobs(settings_of(data_dir))
    if not source.settings.has_store:
        return Jobs((), ())
    with source.store() as store:
        records = store.jobs(cursor=None, limit=limit).items
    return Jobs(
        (Job(source, record.id) for record in records), (_view(job_view(record)) for record in records)
    )


def plugin(*files: str | Path) -> None:
    """Load plug-in files, as the command line's `--plugin` does: for this process and its jobs' workers.

    A file that was loaded before is run anew, as it may have been edited.

    Raises:
        SpecError: a file does not load or holds no plug-in, or a name is there twice; none of them is loaded.
    """
    from gnomon.spec.pins import load_plugin_files
    from gnomon_tools.core.outside import FILES_ENV, reload_files

    before = os.environ.get(FILES_ENV)
    named = [part for part in (before or "").split(os.pathsep) if part]
    paths = dict.fromkeys([*named, *(str(Path(file).absolute()) for file in files)])
    os.environ[FILES_ENV] = os.pathsep.join(paths)
    reload_files()
    try:
        load_plugin_files()
    except SpecError:
        os.environ.pop(FILES_ENV) if before is None else os.environ.update({FILES_ENV: before})
        reload_files()
        raise


def settings_of(data_dir: str | Path | None) -> "Settings":
    """The settings of this process, with the data folder that is named."""
    from gnomon_service.cli.common import settings_of as settings_of_folder

    return settings_of_folder(None if data_dir is None else Path(data_dir))


def draft_of(spec: str | Path | Mapping[str, Any], settings: "Settings") -> "Draft":
    """The spec, checked and its data opened; what is only noteworthy becomes a warning.

    Raises:
        SpecError, DataError: the spec or its data is invalid.
    """
    from gnomon.spec.spec_file import read_spec
    from gnomon_service.cli.common import checked_draft

    fields = read_spec(Path(spec)) if isinstance(spec, str | Path) else plain(spec)
    draft = checked_draft(fields, settings)
    for warning in draft.warnings:
        warnings.warn(warning, stacklevel=3)
    return draft


def plain(value: object) -> object:
    """A spec's values as JSON has them: tuples as lists, paths as text.

    >>> plain({"data": Path("gtr"), "arms": ({"name": "raw"},)})
    {'data': 'gtr', 'arms': [{'name': 'raw'}]}
    """
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def run_here(
    begin: "Callable[[LocalStack], JobRecord]", settings: "Settings", *, workers: int | None, progress: bool
) -> "tuple[LocalJobs, str]":
    """Run the job that `begin` queues to its end; where it is, and its id."""
    from gnomon_service.cli.progress import JobProgress
    from gnomon_service.local_stack import default_workers
    from gnomon_service.run_job import end_job, run_to_end

    source = LocalJobs(settings)
    with ExitStack() as stack:
        shown = stack.enter_context(JobProgress(counter())) if progress else None

        def started(_: "JobRecord", abandoned: "Sequence[JobRecord]") -> None:
            for old in abandoned:
                warnings.warn(f"job {old.id} ({old.name}) was left unfinished and is cancelled", stacklevel=4)

        job_id = run_to_end(
            begin,
            settings,
            workers=workers or default_workers(),
            started=started,
            progress=(lambda _: None) if shown is None else shown.show,
            stopping=lambda _: None,
        )
    with source.store() as store:
        end_job(store, job_id, settings.data_dir)
    view = source.view(job_id)
    if view["status"] == "cancelled":
        raise KeyboardInterrupt(missing_text(view))
    if problem := missing_text(view):
        warnings.warn(problem, stacklevel=3)
    return source, job_id


class LocalJobs:
    """The jobs of a data folder. The store is open only while it is read, so a kernel holds no lock on it."""

    def __init__(self, settings: "Settings") -> None:
        self.settings = settings

    @contextmanager
    def store(self) -> "Iterator[Store]":
        """The store, open within.

        Raises:
            NotFound: there is none.
        """
        from gnomon_workers.store.store import open_store

        if not self.settings.has_store:
            raise NotFound(f"{self.settings.data_dir} holds no jobs; name another folder", field="data_dir")
        with open_store(self.settings.database_url) as store:
            yield store

    def view(self, job_id: str) -> "JobView":
        """The job as the API shows it."""
        from gnomon_service.api.serializers import job_view

        with self.store() as store:
            return _view(job_view(store.job(job_id)))

    def rows(self, job_id: str) -> Iterator[Row]:
        """Its rows."""
        with self.store() as store:
            store.job(job_id)
            yield from store.iter_rows(job_id)

    def report(self, job_id: str) -> Mapping[str, Any]:
        """Its report: the kept one, where the job has ended and nothing has changed since."""
        from gnomon_service.derived_kinds import reports_of

        with self.store() as store:
            return reports_of(store).get(job_id).value

    def page(self, job_id: str) -> str:
        """Its report as an HTML file, with samples."""
        from gnomon_service.reports import page_of, report_of

        with self.store() as store:
            return page_of(store, job_id, report_of(store, job_id), data_dir=self.settings.data_dir)

    def trace(self, trial: str) -> Trace:
        """A trial, and what would have been right."""
        from gnomon_service.api.serializers import trial_view
        from gnomon_service.cli.ids import find_trial
        from gnomon_service.web.questions import Questions

        with self.store() as store:
            record = store.trial(find_trial(store, trial))
            job = store.job(record.trial.job_id)
            question = Questions(self.settings.data_dir).views(job.id, job.spec)
            view = question(record.trial.ref.sample_id, record.trial.arm) if question else None
        shown: Any = trial_view(record)
        return Trace(shown, truth=view.truth_text if view else "")

    def sample(self, job_id: str, text: str) -> str:
        """The id of a sample."""
        from gnomon_service.cli.ids import find_sample

        with self.store() as store:
            return find_sample(store, job_id, text)

    def cancel(self, job_id: str) -> None:
        """Cancel the job in the store; the workers see it there."""
        with self.store() as store:
            store.cancel(job_id)

    def resume(self, job_id: str, *, progress: bool, workers: int | None) -> None:
        """Run what is missing, here and now."""
        from gnomon_service.jobs import resume

        with self.store() as store:
            store.job(job_id)
        run_here(
            lambda here: resume(job_id, store=here.store, redis=here.redis),
            self.settings,
            workers=workers,
            progress=progress,
        )

    def wait(self, job_id: str, *, progress: bool, timeout_s: float | None) -> None:
        """Poll the store until the job has ended."""
        until_s = None if timeout_s is None else time.monotonic() + timeout_s
        with ViewProgress(is_shown=progress) as shown:
            while True:
                view = self.view(job_id)
                shown.show(view)
                if view["status"] in ENDED and not view["counts"]["running"]:
                    return
                if until_s is not None and time.monotonic() > until_s:
                    raise TimeoutError(f"job {job_id} is {view['status']} after {timeout_s:g} s")
                time.sleep(POLL_S)


def _view(view: Mapping[str, Any]) -> "JobView":
    from typing import cast

    return cast("JobView", view)
