"""Run an analysis of stored jobs: of one job's differences and paths, or as in the benchmarks' papers."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gnomon.core.errors import SpecError
from gnomon.report.text_formats import count
from gnomon_service.cli.completions import complete_job
from gnomon_service.cli.ids import find_job
from gnomon_service.cli.options import data_dir_option, json_option, workers_option
from gnomon_service.cli.progress import JobProgress

if TYPE_CHECKING:
    from gnomon_service.settings import Settings


@click.command()
@click.argument("name")
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...", shell_complete=complete_job)
@click.option(
    "--judge", "judges", multiple=True, help="A judge model: its id, or {id: …, api_key_env: …}. Repeatable."
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help="Number of trials to judge or to read, chosen by a hash of their ids; default all.",
)
@click.option(
    "--repeats",
    default=1,
    show_default=True,
    type=click.IntRange(1, 10),
    help="How often each judge labels a trial.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    help="Score from which on a trial counts as right, for mixed_model of graded scores.",
)
@workers_option
@data_dir_option
@json_option
def analyse(
    name: str,
    jobs: tuple[str, ...],
    judges: tuple[str, ...],
    limit: int | None,
    repeats: int,
    threshold: float | None,
    workers: int | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Run an analysis of stored jobs.

    NAME, of one job: mixed_model, leave_one_cluster_out, wild_bootstrap, dose_response or call_path.

    Of several jobs: contamination, what memory of published questions adds, beside generated ones.

    Of your own questions: judged_answers, whether replies are right by a judge model.

    As in the benchmarks' papers: context_use, gtr_errors, sti_errors (these need a judge),
    ability_correlation, robustness_ratio or model_clusters.
    """
    from gnomon_analyses.kinds import ComputedFromJob, ComputedFromRows, LabelledByJudge
    from gnomon_analyses.run_analysis import analysis_called, computed, counted, judged
    from gnomon_service.cli.common import existing_store, settings_of

    analysis, settings = analysis_called(name), settings_of(data_dir)
    if isinstance(analysis, LabelledByJudge) != bool(judges):
        raise SpecError(f"{name} needs {'no judge' if judges else 'a judge model'}", field="--judge")
    if not isinstance(analysis, ComputedFromRows) and len(jobs) > 1:
        raise SpecError(f"{name} reads one job at a time", field="JOB")
    with existing_store(data_dir) as store:
        jobs = tuple(find_job(store, job) for job in jobs)
        if isinstance(analysis, ComputedFromRows):
            result = counted(store, analysis, jobs, settings)
        elif isinstance(analysis, ComputedFromJob):
            result = computed(store, analysis, jobs[0], settings, limit=limit, threshold=threshold)
        else:
            result = judged(
                store,
                analysis,
                jobs[0],
                settings,
                judges=judges,
                limit=limit,
                repeats=repeats,
                run=lambda spec: _run(spec, settings, workers),
            )
    if isinstance(analysis, ComputedFromJob) and not as_json:
        click.echo("\n".join(analysis.lines(result)))
        return
    click.echo(json.dumps(result, indent=2, allow_nan=False) if as_json else _text(result))


def _run(spec: dict[str, Any], settings: "Settings", workers: int | None) -> str:
    from gnomon_service.cli.common import say_stopping
    from gnomon_service.jobs import draft_from_cli, of_draft
    from gnomon_service.run_job import run_to_end

    draft = draft_from_cli(spec, settings)
    with JobProgress() as progress:
        return run_to_end(
            of_draft(draft),
            settings,
            workers=workers,
            started=lambda job, abandoned: None,  # noqa: ARG005 (prints nothing)
            progress=progress.show,
            stopping=say_stopping,
        )


def _text(result: dict[str, Any]) -> str:
    if "shares" not in result:
        return json.dumps(result, indent=2, allow_nan=False)
    judges = ", ".join(result["judges"])
    lines = [f"{result['analysis']}: {count(result['judged'], 'trial')} judged by {judges}"]
    for group in result["shares"]:
        shares = ", ".join(f"{name} {100 * label['share']:.0f} %" for name, label in group["labels"].items())
        lines.append(f"  {group['by']} {group['group']} (n={group['n']}): {shares}")
    lines += [f"  {_difference(contrast)}" for contrast in result.get("contrasts", ())]
    lines.append("Agreement of the judges:")
    for name, agreement in result["agreement"].items():
        kappa = "–" if agreement["kappa"] is None else f"{agreement['kappa']:.2f}"
        lines.append(f"  {name}: {agreement['method']} {kappa}, n={agreement['n']}")
    for name, words in (("against_scorer", "the scorer"), ("against_labels", "people's labels")):
        for judge, alike in result.get(name, {}).items():
            lines.append(f"  {judge} and {words}: {_alike(alike)}")
    lines.append(f"The judges' trials are job {result['judging_job']}.")
    return "\n".join(lines)


def _difference(contrast: dict[str, Any]) -> str:
    """A contrast by a judge's labels, in points."""
    ends = contrast["ci95"]
    interval = f" [{100 * ends[0]:+.1f}, {100 * ends[1]:+.1f}]" if ends else ""
    arms = f"{contrast['model']}: {contrast['variant']} - {contrast['baseline']}"
    return f"{arms} by {contrast['judge']}: {100 * contrast['diff']:+.1f} points{interval}, n={contrast['n']}"


def _alike(alike: dict[str, Any]) -> str:
    """The agreement of a judge with labels that were there before."""
    kappa = "–" if alike["kappa"] is None else f"{alike['kappa']:.2f}"
    interval = f" [{alike['ci95'][0]:.2f}, {alike['ci95'][1]:.2f}]" if alike["ci95"] else ""
    return f"Cohen's kappa {kappa}{interval}, {100 * alike['same']:.0f} % alike, n={alike['n']}"
