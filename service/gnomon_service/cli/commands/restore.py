"""Put a backup in the place of all jobs."""

from pathlib import Path

import click

from gnomon_service.cli.options import data_dir_option


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--replace", "replaces", is_flag=True, help="Give up the jobs that there are.")
@data_dir_option
def restore(file: Path, replaces: bool, data_dir: Path | None) -> None:
    """Put the jobs of FILE, which `backup` has written, into the database, which may be of another kind.

    All of it is there at the end, or nothing has changed. Services that run wait meanwhile, and go on.
    """
    from gnomon_service.backup import restore_backup
    from gnomon_service.cli.common import settings_of

    restored = restore_backup(settings_of(data_dir), file, replaces=replaces)
    click.echo(f"restored: {restored.in_words}")
