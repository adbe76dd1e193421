"""Reads a recording in any of the layouts."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gnomon.core.errors import SpecError
from gnomon_worlds.tracking.mot import read_mot
from gnomon_worlds.tracking.neutral_form import Tracking, read_tracking
from gnomon_worlds.tracking.published_layouts import read_cityflow, read_mtmmc
from gnomon_worlds.tracking.virtual import read_drone, read_gps
from gnomon_worlds.tracking.wildtrack import read_wildtrack

READERS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "tracking": (read_tracking, ()),
    "cityflow": (read_cityflow, ("scenario", "scene", "fps", "tracks")),
    "mtmmc": (read_mtmmc, ("scenario", "scene", "homographies", "fps")),
    "mot": (read_mot, ("fps",)),
    "wildtrack": (read_wildtrack, ("fps", "scene")),
    "gps": (read_gps, ("scene", "bridge_s")),
    "drone": (read_drone, ("fps", "scene", "scale")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a layout may need besides its folder; which takes what is in READERS."""

    scenario: str | None = None
    scene: Path | None = None
    homographies: Path | None = None
    fps: float | None = None
    tracks: str | None = None
    bridge_s: float | None = None
    scale: float | None = None


def read_layout(layout: str, folder: Path, inputs: Inputs) -> Tracking:
    """The recording in a folder of a layout.

    Raises:
        DataError: a file is absent or wrong; the message says where.
        SpecError: the layout does not take one of the inputs.
    """
    read, takes = READERS[layout]
    given = {field.name: getattr(inputs, field.name) for field in fields(inputs)}
    for name, value in given.items():
        if value is not None and name not in takes:
            raise SpecError(f"not with --from {layout}", field=f"--{name.removesuffix('_s')}")
    needed = {name: value for name, value in given.items() if name in takes}
    tracking: Tracking = read(folder, **needed)
    return tracking
