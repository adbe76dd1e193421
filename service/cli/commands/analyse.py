"""Run an analysis of the papers over stored jobs: labels by judges, correlations, profiles."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from service.cli.options import data_dir_option, json_option, workers_option

if TYPE_CHECKING:
    from service.settings import Settings


@click.command()
@click.argument("name")
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...")
@click.option("--judge", "judges", multiple=True, help="A judge: a model's id, or {id: …, api_key_env: …}.")
@click.option("--limit", type=click.IntRange(min=1), help="Trials to judge, drawn by their ids; default all.")
@click.option("--repeats", default=1, show_default=True, type=click.IntRange(1, 10), help="Asked so often.")
@workers_option
@data_dir_option
@json_option
def analyse(
    name: str,
    jobs: tuple[str, ...],
    judges: tuple[str, ...],
    limit: int | None,
    repeats: int,
    workers: int | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Run an analysis of the papers over stored jobs.

    NAME: context_use, gtr_errors, sti_errors (these need a judge), ability_correlation, robustness_ratio or
    model_clusters.
    """
    from gnomon.analyses.core.kinds import ComputedFromRows
    from gnomon.core.errors import SpecError
    from service.cli.common import existing_store, settings_of
    from service.run_analysis import analysis_called, counted, judged

    analysis, settings = analysis_called(name), settings_of(data_dir)
    if isinstance(analysis, ComputedFromRows) == bool(judges):
        raise SpecError(f"{name} needs {'no judge' if judges else 'a judge model'}", field="--judge")
    if not isinstance(analysis, ComputedFromRows) and len(jobs) > 1:
        raise SpecError(f"{name} reads one job at a time", field="JOB")
    store = existing_store(data_dir)
    try:
        if isinstance(analysis, ComputedFromRows):
            found = counted(store, analysis, jobs, settings)
        else:
            found = judged(
                store,
                analysis,
                jobs[0],
                settings,
                judges=judges,
                limit=limit,
                repeats=repeats,
                run=lambda spec: _run(spec, settings, workers),
            )
    finally:
        store.close()
    click.echo(json.dumps(found, indent=2, allow_nan=False) if as_json else _text(found))


def _run(spec: dict[str, Any], settings: "Settings", workers: int | None) -> str:
    from service.cli.common import say_stopping
    from service.cli.progress import JobProgress
    from service.jobs import draft_from_cli
    from service.local_stack import default_workers
    from service.run_job import of_draft, run_to_end

    draft = draft_from_cli(spec, settings)
    with JobProgress() as progress:
        return run_to_end(
            of_draft(draft),
            settings,
            workers=workers or default_workers(),
            started=lambda job, abandoned: None,  # noqa: ARG005 (nothing to say)
            progress=progress.show,
            stopping=say_stopping,
        )


def _text(found: dict[str, Any]) -> str:
    if "shares" not in found:
        return json.dumps(found, indent=2, allow_nan=False)
    lines = [f"{found['analysis']}: {found['judged']:,} trials judged by {', '.join(found['judges'])}"]
    for one in found["shares"]:
        shares = ", ".join(f"{name} {100 * label['share']:.0f} %" for name, label in one["labels"].items())
        lines.append(f"  {one['by']} {one['group']} (n={one['n']}): {shares}")
    lines.append("Agreement of the judges:")
    for name, one in found["agreement"].items():
        kappa = "–" if one["kappa"] is None else f"{one['kappa']:.2f}"
        lines.append(f"  {name}: {one['method']} {kappa}, n={one['n']}")
    lines.append(f"judged in job {found['judging_job']}")
    return "\n".join(lines)
