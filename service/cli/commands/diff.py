"""Compare two jobs over the same samples, paired."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from service.cli.options import data_dir_option, json_option

if TYPE_CHECKING:
    from gnomon.report.job_diff import Difference, StoredJob
    from workers.store.store import Store


@click.command()
@click.argument("first")
@click.argument("second")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="File for the page, .html, .md or .json."
)
@data_dir_option
@json_option
def diff(first: str, second: str, out: Path | None, data_dir: Path | None, as_json: bool) -> None:
    """Compare the jobs FIRST and SECOND over their common samples.

    Says in which fields the specs differ, which scores and answers are others, and what that means for each
    model and arm. `gnomon jobs` lists the jobs there are.
    """
    from gnomon.core.errors import SpecError
    from gnomon.report.job_diff import diff_jobs
    from gnomon.report.terminal import changes_text, summary_text
    from service.cli.common import existing_store

    if out is not None and out.suffix not in (".html", ".md", ".json"):
        raise SpecError(f"{out.name!r} does not tell a format; allowed: .html, .md, .json", field="--out")
    store = existing_store(data_dir)
    try:
        found = diff_jobs(_job(store, first), _job(store, second))
    finally:
        store.close()
    if out is not None:
        out.write_text(_page(found, out.suffix), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(found, indent=2, allow_nan=False))
        return
    shared = found["samples"]
    only = f"{shared['only_first']:,} only in {first}, {shared['only_second']:,} only in {second}"
    click.echo(f"{shared['both']:,} samples in both jobs; {only}\n")
    click.echo("What differs in their specs:" if found["spec_changes"] else "Their specs do not differ.")
    for change in found["spec_changes"]:
        click.echo(f"  {change['field']}: {json.dumps(change['first'])} → {json.dumps(change['second'])}")
    click.echo("\n" + changes_text(found["changes"]))
    click.echo("\n" + summary_text(found["report"]))
    if out is not None:
        click.echo(f"\nreport: {out}")


def _job(store: "Store", job_id: str) -> "StoredJob":
    from gnomon.report.job_diff import StoredJob

    job = store.job(job_id)
    return StoredJob(job_id=job.id, spec=job.spec, status=job.status, rows=store.iter_rows(job_id))


def _page(found: "Difference", ending: str) -> str:
    from gnomon.report.html import render_html
    from gnomon.report.markdown import render_markdown

    if ending == ".json":
        return json.dumps(found, indent=2, allow_nan=False) + "\n"
    return (render_html if ending == ".html" else render_markdown)(found["report"])
