"""Upgrade or downgrade the database's tables."""

from pathlib import Path

import click

from gnomon_service.cli.common import settings_of
from gnomon_service.cli.options import data_dir_option


@click.group()
def database() -> None:
    """Upgrade or downgrade the database's tables."""


@database.command()
@data_dir_option
@click.argument("revision", default="head")
def upgrade(data_dir: Path | None, revision: str) -> None:
    """Move the tables forward to REVISION (default: the newest). Stop the API and all workers first."""
    _migrate(data_dir, revision)


@database.command()
@data_dir_option
@click.argument("revision")
def downgrade(data_dir: Path | None, revision: str) -> None:
    """Move the tables back to REVISION; data that only newer tables hold are lost. Stop all workers first."""
    _migrate(data_dir, revision)


def _migrate(data_dir: Path | None, revision: str) -> None:
    from gnomon_workers.store.migration import migrate

    before, after = migrate(settings_of(data_dir).database_url, revision)
    click.echo(f"was {before or 'empty'}, is {after}")
