"""Show the revision of the database's tables, or move it to another."""

from pathlib import Path

import click

from service.cli.common import settings_of
from service.cli.options import data_dir_option


@click.group()
def database() -> None:
    """The tables' revision: look, upgrade, downgrade."""


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
    """Move the tables back to REVISION. What only newer tables can hold is lost. Stop all workers first."""
    _migrate(data_dir, revision)


def _migrate(data_dir: Path | None, revision: str) -> None:
    from workers.store.migration import migrate

    before, after = migrate(settings_of(data_dir).database_url, revision)
    click.echo(f"was {before or 'empty'}, is {after}")
