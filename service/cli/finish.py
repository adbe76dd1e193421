"""Finish: a job run from the command line, shown while it runs and reported at its end."""

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from gnomon.report.terminal import summary_text
from service.cli.ending import exit_code
from service.cli.opening import settings_of, warn
from service.cli.progress import JobProgress
from service.jobs import Draft
from service.local_stack import LocalStack, default_workers
from service.reports import as_json, report_of, write_folder
from service.run_job import of_draft, run_to_end
from service.settings import Settings
from workers.store.records import JobRecord
from workers.store.store import open_store

NOT_BEGUN = "before any trial was run; `gnomon jobs` tells whether a job was kept"


def run_and_report(
    draft: Draft, settings: Settings, *, out: Path | None, as_document: bool, workers: int | None
) -> None:
    """Run the draft's job, print its report, write it to `out`, and exit with what it says."""
    warn(draft)
    finish(of_draft(draft), settings, out=out, as_document=as_document, workers=workers)


def finish(
    begin: Callable[[LocalStack], JobRecord],
    settings: Settings,
    *,
    out: Path | None,
    as_document: bool,
    workers: int | None,
) -> None:
    """Run the job that `begin` queues, print its report, write it to `out`, and exit with what it says."""
    begun: list[str] = []
    with JobProgress() as progress:

        def started(job: JobRecord, abandoned: Sequence[JobRecord]) -> None:
            begun.append(job.id)
            for old in abandoned:
                _say(f"job {old.id} ({old.name}) was left unfinished by an earlier command and is cancelled")
            _say(f"job {job.id}: {job.counts.planned} trials, data in {settings.data_dir}")

        try:
            job_id = run_to_end(
                begin, settings, workers=workers or default_workers(), started=started, seen=progress.show
            )
        except KeyboardInterrupt:
            message = _how_to_resume(begun[0], settings) if begun else NOT_BEGUN
            raise KeyboardInterrupt(message) from None
    store = open_store(settings.database_url)
    try:
        job, report = store.job(job_id), report_of(store, job_id)
        if out is not None:
            write_folder(store, job_id, report, out)
    finally:
        store.close()
    click.echo(as_json(report) if as_document else summary_text(report))
    if out is not None:
        _say(f"report: {out / 'report.html'}")
    if job.error and as_document:  # else it has been said
        _say(f"job {job.id} failed: {job.error}")
    counts = job.counts
    answered = counts.scored + counts.model_failed
    ended = f"{answered:,} of {counts.planned:,} trials have a result, {counts.infra_missing:,} missing"
    _say(f"job {job.id} {job.status}: {ended}")
    if job.status == "cancelled":
        _say(_how_to_resume(job.id, settings))
    sys.exit(exit_code(job.status, missing=counts.planned - counts.scored - counts.model_failed))


def _how_to_resume(job_id: str, settings: Settings) -> str:
    is_usual = settings.data_dir == settings_of(None).data_dir
    folder = "" if is_usual else f" --data-dir {shlex.quote(str(settings.data_dir))}"
    return f"`gnomon resume {job_id}{folder}` runs what is missing"


def _say(message: str) -> None:
    click.echo(message, err=True)
