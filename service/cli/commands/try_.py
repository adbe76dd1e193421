"""Run one trial and print its trace as it happens."""

import sys
from pathlib import Path

import click

from service.cli.options import json_option


@click.command("try")
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--sample", required=True, help="The sample's id.")
@click.option("--arm", required=True, help="The arm's name in the spec.")
@click.option("--model", help="The model's name in the spec; default the first.")
@json_option
def try_(spec: Path, sample: str, arm: str, model: str | None, as_json: bool) -> None:
    """Run one sample under one arm, without queue or store, and print each step as it happens."""
    from service.cli.preview import preview

    sys.exit(preview("try", spec=spec, sample=sample, arm=arm, model=model, as_json=as_json))
