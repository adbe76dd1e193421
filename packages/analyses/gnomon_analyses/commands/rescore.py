"""Score a job's stored answers again, without calling a model."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon.report.text_formats import count
from gnomon_service.cli.completions import complete_job
from gnomon_service.cli.ids import find_job
from gnomon_service.cli.options import data_dir_option, json_option, out_option
from gnomon_service.cli.progress import counting

if TYPE_CHECKING:
    from gnomon.core.benchmark import Scoring


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.option("--scoring", type=click.Choice(["official", "strict"]), help="Default: as the job was scored.")
@click.option("--variant", help="The official scorer to use, for a benchmark with several.")
@out_option
@data_dir_option
@json_option
def rescore(
    job: str,
    scoring: "Scoring | None",
    variant: str | None,
    out: Path | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Score the stored answers of JOB again, with the current code or another mode, into a new job."""
    from gnomon_analyses.rescore_job import rescore as rescore_job
    from gnomon_service.cli.common import existing_store, prepare_out, settings_of
    from gnomon_service.reports import report_of, write_folder

    prepare_out(out)
    with existing_store(data_dir) as store:
        job = find_job(store, job)
        with counting("trials") as advance:
            result = rescore_job(
                store, job, settings_of(data_dir), scoring=scoring, variant=variant, progress=advance
            )
        if out is not None:
            report = report_of(store, result.new_job)
            write_folder(store, result.new_job, report, out, data_dir=settings_of(data_dir).data_dir)
    if as_json:
        click.echo(json.dumps(result.to_json(), indent=2))
        return
    click.echo(f"{result.changed:,} of {count(result.rescored, 'score')} changed ({result.scoring} scoring)")
    if result.outcomes_changed:
        outcomes = count(result.outcomes_changed, "outcome")
        click.echo(f"{outcomes} changed, such as from scored to failed by the model")
    without = result.trials - result.rescored
    click.echo(f"{without:,} of {count(result.trials, 'trial')} had no response and stay as they were")
    for change in result.changes[:10]:
        trial = f"{change['sample_id']}, {change['model']} / {change['arm']}"
        click.echo(f"  {trial}: {_score(change['before'])} → {_score(change['after'])}")
    if out is not None:
        click.echo(f"report: {out / 'report.html'}")
    click.echo(
        f"job {result.new_job} holds the new scores; `gnomon diff {job} {result.new_job}` compares them"
    )


def _score(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
