"""Upgrade or downgrade the database's tables."""

from pathlib import Path

import click

from gnomon_service.cli.common import settings_of
from gnomon_service.cli.options import data_dir_option


@click.group()
def database() -> None:
    """Upgrade or downgrade the database's tables."""


_backup_option = click.option(
    "--backup/--no-backup",
    "backs_up",
    default=True,
    help="Whether to write a backup first; by default one is.",
)


@database.command()
@data_dir_option
@_backup_option
@click.argument("revision", default="head")
def upgrade(data_dir: Path | None, revision: str, backs_up: bool) -> None:
    """Move the tables forward to REVISION (default: the newest). Stop the API and all workers first."""
    _migrate(data_dir, revision, backs_up=backs_up)


@database.command()
@data_dir_option
@_backup_option
@click.argument("revision")
def downgrade(data_dir: Path | None, revision: str, backs_up: bool) -> None:
    """Move the tables back to REVISION, and say first what that loses. Stop all workers first."""
    from gnomon_workers.store.migration import lost_on_the_way

    for lost in lost_on_the_way(settings_of(data_dir).database_url, revision):
        click.echo(f"lost: {lost}")
    _migrate(data_dir, revision, backs_up=backs_up)


def _migrate(data_dir: Path | None, revision: str, *, backs_up: bool) -> None:
    from gnomon_service.backup import back_up_before
    from gnomon_workers.store.migration import migrate

    settings = settings_of(data_dir)
    if backs_up and (file := back_up_before(settings, revision)):
        click.echo(f"backup of the database: {file}")
    before, after = migrate(settings.database_url, revision)
    click.echo(f"was {before or 'empty'}, is {after}")
