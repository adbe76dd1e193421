"""Show what a model would get for one sample."""

import sys
from pathlib import Path

import click

from service.cli.options import json_option


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--sample", required=True, help="The sample's id.")
@click.option("--arm", required=True, help="The arm's name in the spec.")
@click.option("--model", help="The model's name in the spec; default the first.")
@json_option
def show(spec: Path, sample: str, arm: str, model: str | None, as_json: bool) -> None:
    """Print the exact messages, tool schemas and images of one sample under one arm; spends nothing."""
    from service.cli.preview import preview

    sys.exit(preview("show", spec=spec, sample=sample, arm=arm, model=model, as_json=as_json))
