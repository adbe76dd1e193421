"""Run a small job offline that shows the path: generated worlds, and fixed rules in place of a model."""

from pathlib import Path

import click

from gnomon_service.cli.options import data_dir_option, json_option, out_option, workers_option


@click.command()
@out_option
@workers_option
@data_dir_option
@json_option
def demo(out: Path | None, workers: int | None, data_dir: Path | None, as_json: bool) -> None:
    """Show the path from questions to a report: `reference`, fixed rules and no language model, on generated
    worlds, without tools (a guess by a hash) and with all of them. For a real model see docs/evidence.md.
    """
    from importlib.resources import files

    from gnomon.spec.spec_file import load_yaml
    from gnomon_service.cli.common import prepare_out, run_and_report, settings_of
    from gnomon_service.jobs import draft_from_cli

    settings = settings_of(data_dir)
    text = files("gnomon_service.cli").joinpath("demo.yaml").read_text(encoding="utf-8")
    draft = draft_from_cli(load_yaml(text), settings)
    out = out or settings.data_dir / "demo"
    prepare_out(out)
    run_and_report(draft, settings, out=out, as_document=as_json, workers=workers)
