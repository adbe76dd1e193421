"""Run the missing trials of a stored job."""

from pathlib import Path

import click

from gnomon_service.cli.completions import complete_job
from gnomon_service.cli.options import data_dir_option, json_option, out_option, workers_option


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.option(
    "--billed-usd", type=click.FloatRange(min=0.0), help="All that the provider has billed for the job."
)
@click.option(
    "--billed-tokens",
    type=click.IntRange(min=0),
    help="The same in tokens: what is possibly spent beyond is free.",
)
@out_option
@workers_option
@data_dir_option
@json_option
def resume(
    job: str,
    out: Path | None,
    workers: int | None,
    data_dir: Path | None,
    as_json: bool,
    billed_usd: float | None,
    billed_tokens: int | None,
) -> None:
    """Run the missing trials of JOB, which was interrupted or cancelled or lost trials, and print its report.

    Trials that have a result are not run again. `gnomon jobs` lists the stored jobs.
    """
    from gnomon_service.cli.common import existing_store, finish, prepare_out, settings_of
    from gnomon_service.cli.ids import find_job

    with existing_store(data_dir) as store:
        job = find_job(store, job)  # raises before a queue is started if there is no such job
    prepare_out(out)
    from gnomon_service.jobs import resume as resume_job

    finish(
        lambda here: resume_job(
            job, store=here.store, redis=here.redis, billed_usd=billed_usd, billed_tokens=billed_tokens
        ),
        settings_of(data_dir),
        out=out,
        as_document=as_json,
        workers=workers,
    )
