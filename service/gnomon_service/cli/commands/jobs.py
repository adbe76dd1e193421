"""List the stored jobs, newest first."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon_service.cli.options import data_dir_option, json_option

if TYPE_CHECKING:
    from gnomon_workers.store.records import DeletedJob, JobRecord, WorkerRecord


@click.command()
@click.option(
    "--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many to list."
)
@click.option("--owner", help="Those posted with keys of that owner.")
@click.option("--deleted", is_flag=True, help="What stays of those that were deleted.")
@data_dir_option
@json_option
def jobs(limit: int, owner: str | None, deleted: bool, data_dir: Path | None, as_json: bool) -> None:
    """List the stored jobs, newest first: id, status, trials with a result and missing ones, and name."""
    from gnomon_service.cli.common import existing_store

    with existing_store(data_dir) as store:
        if deleted:
            _print_deleted(store.deleted_jobs(limit=limit), as_json=as_json)
            return
        records, workers = store.jobs(cursor=None, limit=limit, owner=owner).items, store.workers()
    if as_json:
        rows = [
            {
                "id": job.id,
                "name": job.name,
                "benchmark": job.spec.benchmark,
                "status": job.status,
                "created_at": job.created_at,
                "planned": job.counts.planned,
                "done": job.counts.done,
                "missing": job.counts.infra_missing,
                "posted_by": job.posted_by,
                "owner": job.owner,
            }
            for job in records
        ]
        click.echo(json.dumps(rows, indent=2))
        return
    if sys.stdout.isatty():
        _print_table(records, workers)
        return
    for job in records:
        click.echo(f"{job.id}  {job.created_at[:16]}  {job.status:<9}  {_counts(job, workers)}  {job.name}")


def _print_deleted(records: Sequence["DeletedJob"], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([asdict(job) for job in records], indent=2))
        return
    for job in records:
        ended = f"{job.scored + job.model_failed:,} of {job.planned:,} with a result"
        click.echo(f"{job.id}  deleted {job.deleted_at[:16]} ({job.deleted_by})  {ended}  {job.name}")


def _print_table(records: Sequence["JobRecord"], workers: Sequence["WorkerRecord"]) -> None:
    from gnomon.report.text_formats import dollars
    from gnomon_service.cli.tables import STYLES, print_table

    rows = [
        (
            job.id,
            job.created_at[:16].replace("T", " "),
            (_status(job, workers), STYLES[job.status]),
            f"{job.counts.done - job.counts.infra_missing:,} of {job.counts.planned:,}",
            (f"{job.counts.infra_missing:,}", "yellow" if job.counts.infra_missing else "dim"),
            f"{'≥ ' if job.usd is None else ''}{dollars(job.known_usd)}",
            job.name,
        )
        for job in records
    ]
    head = ("job", "created (UTC)", "status", "results", "missing", "spent", "name")
    print_table(head, rows, right=("results", "missing", "spent"), wraps="name")


def _status(job: "JobRecord", workers: Sequence["WorkerRecord"]) -> str:
    if job.not_run:
        return "stopped early"
    is_stopping = job.status == "cancelled" and job.counts.running
    return f"stopping: {job.in_flight(workers):,} in flight" if is_stopping else job.status


def _counts(job: "JobRecord", workers: Sequence["WorkerRecord"]) -> str:
    with_result = job.counts.done - job.counts.infra_missing
    counts = f"{with_result:,} of {job.counts.planned:,} with a result, {job.counts.infra_missing:,} missing"
    if job.not_run:
        counts += f", {job.not_run:,} not run (stopped early)"
    if job.status == "cancelled" and job.counts.running:
        counts += f", stopping: {job.in_flight(workers):,} in flight"
    return counts
