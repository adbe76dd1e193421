"""Write all jobs and their media into one file."""

from pathlib import Path

import click

from gnomon_service.cli.options import data_dir_option


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--no-media", is_flag=True, help="Leave pictures and clips out.")
@data_dir_option
def backup(file: Path, no_media: bool, data_dir: Path | None) -> None:
    """Write all jobs and their media into FILE, a zip, while everything goes on. See also `restore`."""
    from gnomon_service.backup import write_backup
    from gnomon_service.cli.common import settings_with_store

    made = write_backup(settings_with_store(data_dir), file, has_media=not no_media)
    click.echo(f"{file}: {made.in_words}")
