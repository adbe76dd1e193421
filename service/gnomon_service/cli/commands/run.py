"""Run one job here, with a queue and workers of its own."""

from pathlib import Path

import click

from gnomon_service.cli.options import data_dir_option, json_option, out_option, workers_option


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@out_option
@workers_option
@data_dir_option
@json_option
def run(spec: Path, out: Path | None, workers: int | None, data_dir: Path | None, as_json: bool) -> None:
    """Run the job in SPEC (YAML or JSON) and print its report."""
    from gnomon_service.cli.common import draft_of, prepare_out, run_and_report, settings_of

    settings = settings_of(data_dir)
    draft = draft_of(spec, settings)
    prepare_out(out)
    run_and_report(draft, settings, out=out, as_document=as_json, workers=workers)
