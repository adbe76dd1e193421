"""List the stored jobs, newest first."""

import json
from pathlib import Path

import click

from service.cli.options import data_dir_option, json_option


@click.command()
@click.option(
    "--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many to list."
)
@data_dir_option
@json_option
def jobs(limit: int, data_dir: Path | None, as_json: bool) -> None:
    """List the stored jobs, newest first: id, status, trials with a result and missing ones, and name."""
    from service.cli.common import existing_store

    store = existing_store(data_dir)
    try:
        records = store.jobs(cursor=None, limit=limit).items
    finally:
        store.close()
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
            }
            for job in records
        ]
        click.echo(json.dumps(rows, indent=2))
        return
    for job in records:
        with_result = job.counts.done - job.counts.infra_missing
        counts = (
            f"{with_result:,} of {job.counts.planned:,} with a result, {job.counts.infra_missing:,} missing"
        )
        if job.status == "cancelled" and job.counts.running:
            counts += f", stopping: {job.counts.running:,} in flight"
        click.echo(f"{job.id}  {job.created_at[:16]}  {job.status:<9}  {counts}  {job.name}")
