"""Run one trial and print its trace as it happens."""

import sys
from pathlib import Path

import click

from gnomon_service.cli.options import sample_options


@click.command("try")
@sample_options
def try_(spec: Path, sample: str, arm: str, model: str | None, as_json: bool) -> None:
    """Run one sample under one arm, without queue or store, and print each step as it happens.

    SPEC may be a trial file, which names its sample and arm: `GET /v1/trials/ID/file` makes one of a stored
    trial, also to continue it from one of its steps.
    """
    from gnomon_workbench.dry_run import dry_run  # late: it loads the agents

    sys.exit(dry_run("try", spec=spec, sample=sample, arm=arm, model=model, as_json=as_json))
