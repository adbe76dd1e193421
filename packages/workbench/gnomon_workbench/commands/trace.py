"""Show what happened in a stored trial, step by step, or two trials side by side."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon.core.errors import SpecError
from gnomon_service.cli.completions import complete_arm, complete_model_label, complete_trial_or_sample
from gnomon_service.cli.ids import find_job, find_sample, find_trial
from gnomon_service.cli.options import data_dir_option, json_option

if TYPE_CHECKING:
    from gnomon_workers.store.records import TrialRecord
    from gnomon_workers.store.store import Store


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="IDS...", shell_complete=complete_trial_or_sample)
@click.option("--arm", help="With JOB SAMPLE: the arm.", shell_complete=complete_arm)
@click.option(
    "--model", help="With JOB SAMPLE: the model; default the first.", shell_complete=complete_model_label
)
@click.option("--repeat", default=0, show_default=True, type=click.IntRange(min=0), help="With JOB SAMPLE.")
@click.option("--full", is_flag=True, help="Show prompts and results in full.")
@data_dir_option
@json_option
def trace(
    ids: tuple[str, ...],
    arm: str | None,
    model: str | None,
    repeat: int,
    full: bool,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Show a stored trial: prompt, each step with its time, tokens and cost, answer and score.

    IDS is TRIAL, or JOB SAMPLE with --arm, or two trials, which are shown side by side from the first step
    that is not the same. An id may be shortened to a beginning that no other has. `gnomon samples JOB` lists
    samples.
    """
    from rich.console import Console

    from gnomon_service.api.serializers import trial_view
    from gnomon_service.cli.common import existing_store, settings_of
    from gnomon_workbench.trace_text import print_side_by_side, print_trace

    with existing_store(data_dir) as store:
        trials = [store.trial(name) for name in _trials_of(store, ids, arm=arm, model=model, repeat=repeat)]
        truth = "" if as_json or len(trials) > 1 else _truth(store, trials[0], settings_of(data_dir).data_dir)
    views = [trial_view(trial) for trial in trials]
    if as_json:
        click.echo(json.dumps(views[0] if len(views) == 1 else views, indent=2))
    elif len(views) == 1:
        print_trace(views[0], Console(highlight=False), truth=truth, full=full)
    else:
        print_side_by_side(views[0], views[1], Console(highlight=False))


def _trials_of(
    store: "Store", ids: tuple[str, ...], *, arm: str | None, model: str | None, repeat: int
) -> list[str]:
    from gnomon.trials.trial_plan import trial_id

    if len(ids) > 2:
        raise SpecError("allowed: TRIAL, JOB SAMPLE with --arm, or TRIAL TRIAL", field="IDS")
    if len(ids) == 1 or (arm is None and ids[1].startswith("t_")):
        if arm is not None or model is not None:
            raise SpecError("goes with JOB SAMPLE; a trial has its arm and model", field="--arm")
        return [find_trial(store, name) for name in ids]
    job_id = find_job(store, ids[0])
    spec = store.job(job_id).spec
    if arm is None:
        if len(spec.arms) > 1:
            names = ", ".join(each.name for each in spec.arms)
            raise SpecError(f"needed with JOB SAMPLE; there are: {names}", field="--arm")
        arm = spec.arms[0].name
    label = spec.model(model).label if model else spec.models[0].label
    sample = find_sample(store, job_id, ids[1])
    return [trial_id(job_id, sample, label, spec.arm(arm).name, repeat)]


def _truth(store: "Store", record: "TrialRecord", data_dir: Path) -> str:
    """What is right, in words; empty where the sample cannot be opened here."""
    from gnomon_service.web.questions import Questions

    trial = record.trial
    question = Questions(data_dir).views(trial.job_id, store.job(trial.job_id).spec)
    view = question(trial.ref.sample_id, trial.arm) if question else None
    return view.truth_text if view else ""
