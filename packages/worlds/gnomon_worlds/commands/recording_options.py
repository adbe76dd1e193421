"""Holds the options that say how a folder of tracking is laid out, and what goes with it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

LAYOUTS = ("tracking", "cityflow", "mtmmc", "mot", "wildtrack", "gps", "drone")
INPUT_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def recording_options(command: Callable[..., None]) -> Callable[..., None]:
    """FOLDER, `--from`, and what the layouts take; `recording_of` reads what they give."""
    for option in (
        click.option(
            "--cut-views", is_flag=True, help="Give each camera a part of its view, so that none overlap."
        ),
        click.option(
            "--scale", type=click.FloatRange(1e-4, 10), help="Metres a pixel, of a drone's picture."
        ),
        click.option(
            "--bridge",
            "bridge_s",
            type=click.FloatRange(1, 600),
            help="Longest gap between two positions by GPS that is filled, in seconds; default 60.",
        ),
        click.option(
            "--fps", type=click.FloatRange(0.1, 1000), help="Frames per second; default the data set's."
        ),
        click.option(
            "--homographies", type=INPUT_FILE, help="GTR-Bench's homographies, for MTMMC without --scene."
        ),
        click.option(
            "--points", type=INPUT_FILE, help="Point pairs to calibrate with: CSV of camera,u,v,x,y."
        ),
        click.option("--scene", type=INPUT_FILE, help="A scene file with the roads, or the floor plan."),
        click.option(
            "--tracks",
            help="CityFlow's boxes from elsewhere: a submission, or a file below each camera's folder.",
        ),
        click.option("--scenario", help="The scenario, where FOLDER holds several, such as S01."),
        click.option(
            "--from",
            "layout",
            required=True,
            type=click.Choice(LAYOUTS),
            help="How FOLDER is laid out; `tracking` is the neutral form (docs/building-questions.md).",
        ),
        click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path)),
    ):
        command = option(command)
    return command


def recording_of(folder: Path, layout: str, points: Path | None, inputs: dict[str, Any]) -> tuple[Any, Any]:
    """The recording in a folder, and the point pairs given with it."""
    from gnomon_worlds.tracking.published_layouts import read_point_pairs
    from gnomon_worlds.tracking.reading import Inputs, read_layout

    return read_layout(layout, folder, Inputs(**inputs)), read_point_pairs(points) if points else {}
