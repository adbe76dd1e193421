"""Look at multi-camera tracking before making questions from it."""

import json
from pathlib import Path
from typing import Any

import click

from gnomon_service.cli.options import json_option
from gnomon_worlds.commands.recording_options import recording_of, recording_options


@click.command("check-recording")
@recording_options
@click.option("--picture", type=click.Path(dir_okay=False, path_type=Path), help="Also draw it, as PNG.")
@json_option
def check_recording(
    folder: Path,
    layout: str,
    points: Path | None,
    cut_views: bool,
    picture: Path | None,
    as_json: bool,
    **inputs: Any,
) -> None:
    """Look at the tracking in FOLDER before questions are made of it.

    Ends with 1 where something must be mended first.
    """
    from gnomon_worlds.tracking.check import checked, in_text
    from gnomon_worlds.tracking.check_picture import picture_of
    from gnomon_worlds.tracking.look import look_at

    tracking, pairs = recording_of(folder, layout, points, inputs)
    look = look_at(tracking, pairs, cut_views=cut_views)
    document = checked(look)
    if picture is not None:
        picture.write_bytes(picture_of(look))
    click.echo(
        json.dumps(document, indent=2, ensure_ascii=False) if as_json else "\n".join(in_text(document))
    )
    if not document["fit"]:
        raise SystemExit(1)
