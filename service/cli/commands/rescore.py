"""Score a job's stored answers again, without calling a model."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from service.cli.options import data_dir_option, json_option, out_option

if TYPE_CHECKING:
    from gnomon.core.benchmark import Scoring


@click.command()
@click.argument("job")
@click.option("--scoring", type=click.Choice(["official", "strict"]), help="Default: as the job was scored.")
@click.option("--variant", help="Which official scorer, where a benchmark has two.")
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
    """Score the stored answers of JOB again (another parser or mode) into a new job; calls no model."""
    from service.cli.common import existing_store, prepare_out, settings_of
    from service.cli.progress import counting
    from service.reports import report_of, write_folder
    from service.rescore_job import rescore as rescore_job

    prepare_out(out)
    store = existing_store(data_dir)
    try:
        with counting("trials") as seen:
            found = rescore_job(
                store, job, settings_of(data_dir), scoring=scoring, variant=variant, seen=seen
            )
        if out is not None:
            write_folder(store, found.new_job, report_of(store, found.new_job), out)
    finally:
        store.close()
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=2))
        return
    click.echo(f"{found.changed:,} of {found.rescored:,} scores changed ({found.scoring} scoring)")
    if found.outcomes_changed:
        click.echo(f"{found.outcomes_changed:,} outcomes changed, such as from scored to failed by the model")
    without = found.trials - found.rescored
    click.echo(f"{without:,} of {found.trials:,} trials had no response and stay as they were")
    for one in found.changes[:10]:
        where = f"{one['sample_id']}, {one['model']} / {one['arm']}"
        click.echo(f"  {where}: {_score(one['before'])} → {_score(one['after'])}")
    if out is not None:
        click.echo(f"report: {out / 'report.html'}")
    click.echo(f"job {found.new_job} holds the new scores; `gnomon diff {job} {found.new_job}` compares them")


def _score(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
