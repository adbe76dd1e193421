"""Run one trial and print its trace as it happens."""

import sys
from pathlib import Path

import click

from service.cli.options import sample_options


@click.command("try")
@sample_options
def try_(spec: Path, sample: str, arm: str, model: str | None, as_json: bool) -> None:
    """Run one sample under one arm, without queue or store, and print each step as it happens."""
    from service.cli.common import dry_run

    sys.exit(dry_run("try", spec=spec, sample=sample, arm=arm, model=model, as_json=as_json))
