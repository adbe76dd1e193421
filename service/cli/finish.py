"""Finish: a job run from the command line, shown while it runs and reported at its end."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from gnomon.report.text import summary_text
from service.cli.ending import exit_code
from service.cli.progress import JobProgress
from service.embedded import default_workers
from service.jobs import Draft
from service.reports import as_json, report_of, write_folder
from service.running import run_to_end
from service.settings import Settings
from workers.store.records import JobRecord
from workers.store.store import open_store


def run_and_report(
    draft: Draft, settings: Settings, *, out: Path | None, as_document: bool, workers: int | None
) -> None:
    """Run the job, print its report, write it to `out`, and exit with what it says."""
    with JobProgress() as progress:

        def started(job: JobRecord, abandoned: Sequence[JobRecord]) -> None:
            for old in abandoned:
                _say(f"job {old.id} ({old.name}) was left unfinished by an earlier command and is cancelled")
            _say(f"job {job.id}: {job.counts.planned} trials, data in {settings.data_dir}")

        job_id = run_to_end(
            draft, settings, workers=workers or default_workers(), started=started, seen=progress.show
        )
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
    if job.error:
        _say(f"job {job.id} failed: {job.error}")
    counts = job.counts
    _say(f"job {job.id} {job.status}: {counts.done} of {counts.planned} done, {counts.infra_missing} missing")
    sys.exit(exit_code(job.status, missing=counts.planned - counts.scored - counts.model_failed))


def _say(message: str) -> None:
    click.echo(message, err=True)
