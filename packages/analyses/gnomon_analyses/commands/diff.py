"""Compare two jobs over the same samples, paired."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon.core.errors import SpecError
from gnomon.report.text_formats import count
from gnomon_service.cli.completions import complete_job
from gnomon_service.cli.ids import find_job
from gnomon_service.cli.options import data_dir_option, json_option

if TYPE_CHECKING:
    from gnomon_analyses.comparing.changed_trials import Changes, TrialEnd
    from gnomon_analyses.comparing.job_diff import DiffedJob, Difference
    from gnomon_workers.store.store import Store

CHANGES_SHOWN = 10


@click.command()
@click.argument("first", shell_complete=complete_job)
@click.argument("second", shell_complete=complete_job)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="File for the page, .html, .md or .json."
)
@data_dir_option
@json_option
def diff(first: str, second: str, out: Path | None, data_dir: Path | None, as_json: bool) -> None:
    """Compare the jobs FIRST and SECOND over their common samples.

    Shows in which fields the specs differ, which scores and answers changed, and what that means for each
    model and arm. `gnomon jobs` lists the stored jobs.
    """
    from gnomon_analyses.comparing.job_diff import diff_jobs
    from gnomon_service.cli.common import existing_store

    if out is not None and out.suffix not in (".html", ".md", ".json"):
        raise SpecError(f"{out.name!r} has no known ending; allowed: .html, .md, .json", field="--out")
    with existing_store(data_dir) as store:
        difference = diff_jobs(_job(store, find_job(store, first)), _job(store, find_job(store, second)))
    if out is not None:
        out.write_text(_page(difference, out.suffix), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(difference, indent=2, allow_nan=False))
        return
    click.echo(_text(difference))
    if out is not None:
        click.echo(f"\nreport: {out}")


def _text(difference: "Difference") -> str:
    from gnomon.report.terminal import summary_text

    first, second = difference["jobs"]
    if first == second:
        return f"FIRST and SECOND are the same job, {first}: there is no difference to show."
    samples = difference["samples"]
    only = f"{samples['only_first']:,} only in {first}, {samples['only_second']:,} only in {second}"
    changes = difference["spec_changes"]
    lines = [
        f"{count(samples['both'], 'sample')} in both jobs; {only}",
        "",
        "What differs in their specs:" if changes else "Their specs do not differ.",
        *(f"  {row['field']}: {json.dumps(row['first'])} → {json.dumps(row['second'])}" for row in changes),
        "",
        _changes_text(difference["changes"]),
        "",
        summary_text(difference["report"]),
    ]
    return "\n".join(lines)


def _changes_text(changes: "Changes") -> str:
    """Which trials of two jobs ended otherwise, the first few by name."""
    total = count(changes["trials"], "trial")
    counts = f"scores {changes['scores']:,}, answers {changes['answers']:,}, outcomes {changes['outcomes']:,}"
    lines = [f"Changed among the {total} in both jobs: {counts}."]
    for trial in changes["listed"][:CHANGES_SHOWN]:
        repeat = f", repeat {trial['repeat']}" if trial["repeat"] else ""
        ends = f"{_end(trial['first'])} → {_end(trial['second'])}"
        lines.append(f"  {trial['sample_id']}, {trial['model']}{repeat}: {ends}")
    more = len(changes["listed"]) - CHANGES_SHOWN
    return "\n".join([*lines, f"  and {more:,} more"] if more > 0 else lines)


def _end(end: "TrialEnd") -> str:
    score = "no score" if end["score"] is None else f"{end['score']:.3f}"
    return f"{score} ({'no answer' if end['answer'] is None else repr(end['answer'])})"


def _job(store: "Store", job_id: str) -> "DiffedJob":
    from gnomon_analyses.comparing.job_diff import DiffedJob

    job = store.job(job_id)
    return DiffedJob(job_id=job.id, spec=job.spec, status=job.status, rows=store.iter_rows(job_id))


def _page(difference: "Difference", suffix: str) -> str:
    from gnomon.report.html import render_html
    from gnomon.report.markdown import render_markdown

    if suffix == ".json":
        return json.dumps(difference, indent=2, allow_nan=False) + "\n"
    return (render_html if suffix == ".html" else render_markdown)(difference["report"])
