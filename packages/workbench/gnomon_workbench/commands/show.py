"""Show what a model would get for one sample; calls no model."""

import sys
from pathlib import Path

import click

from gnomon_service.cli.options import sample_options


@click.command()
@sample_options
def show(spec: Path, sample: str, arm: str, model: str | None, as_json: bool) -> None:
    """Print the exact messages, tool schemas and images of one sample under one arm; calls no model."""
    from gnomon_workbench.dry_run import dry_run  # late: it loads the agents

    sys.exit(dry_run("show", spec=spec, sample=sample, arm=arm, model=model, as_json=as_json))
