"""Change one tool's result in each stored trial of a job, run on from there, and report what it changed."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon.report.text_formats import count
from gnomon_service.cli.completions import complete_job
from gnomon_service.cli.ids import find_job
from gnomon_service.cli.options import data_dir_option, json_option, out_option, workers_option

if TYPE_CHECKING:
    from gnomon.core.arm import ReplayedResult

RESULTS = ("truth", "noise", "other_sample", "nothing")


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.option("--arm", required=True, help="The arm of JOB whose trials are replayed.")
@click.option(
    "--result",
    "results",
    type=click.Choice(RESULTS),
    multiple=True,
    help="What a call returns instead; may be given several times. Default: noise and other_sample.",
)
@click.option("--tool", help="Change calls of this tool alone.")
@click.option("--model", help="Replay this model alone.")
@click.option("--repeats", type=click.IntRange(1, 1000), default=1, help="Calls that are chosen per sample.")
@click.option("--plan", "is_plan", is_flag=True, help="Print what it would cost, and run nothing.")
@out_option
@workers_option
@data_dir_option
@json_option
def replay(
    job: str,
    arm: str,
    results: "tuple[ReplayedResult, ...]",
    tool: str | None,
    model: str | None,
    repeats: int,
    is_plan: bool,
    out: Path | None,
    workers: int | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Replay the trials of JOB up to one call, change what it returned, and go on from there.

    The report says how often the answer changed and what that did to the score, by tool and by step,
    beside the same trials continued with the recorded result.
    """
    from gnomon_analyses.replay_job import replay_cost, replay_spec
    from gnomon_service.cli.common import (
        checked_draft,
        existing_store,
        prepare_out,
        run_and_report,
        say,
        settings_of,
    )

    settings = settings_of(data_dir)
    with existing_store(data_dir) as store:
        fields = replay_spec(
            store,
            find_job(store, job),
            arm=arm,
            results=tuple(dict.fromkeys(results)) or ("noise", "other_sample"),
            tool=tool,
            model=model,
            repeats=repeats,
        )
        draft = checked_draft(fields, settings)
        cost = replay_cost(store, draft.spec, [ref.sample_id for ref in draft.refs])
    if is_plan and as_json:
        click.echo(json.dumps(cost, indent=2))
        return
    price = "dollars unknown" if cost["usd"] is None else f"${cost['usd']:.4f}"
    tokens = f"{cost['prompt_tokens']:,} + {cost['completion_tokens']:,} tokens"
    trials = f"{count(cost['trials'], 'trial')} on {count(cost['samples'], 'sample')} with a call"
    say(f"{trials}: about {count(cost['model_calls'], 'call')} of models, {tokens}, {price}")
    if not is_plan:
        prepare_out(out)
        run_and_report(draft, settings, out=out, as_document=as_json, workers=workers)
