"""Measures how well readings of different maps put one physical camera in one place.

The check, and no other part, uses a hidden field: a clip's video path names the physical camera, under
whatever id a question shows it. Maps are cut from one base map, so a camera's place on a map is its place in
the world less where the map was cut. Both are unknown and solved for together; the rest is reading error.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnomon_published.benchmarks.gtr_bench.case import Case
from gnomon_published.benchmarks.gtr_bench.map_reading.reading import MapReading
from gnomon_tools.geometry.angles import turn_deg

_PHYSICAL = re.compile(r"/(c\d+)/", re.ASCII)
ROUNDS = 20
FLOOR_M = 0.1  # residuals below this weigh alike


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One physical camera as read off one map."""

    case_id: str
    physical: str
    camera_id: str
    xy_m: tuple[float, float]
    heading_deg: float
    error_m: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A sighting, its distance from where the other maps put the camera, and its turn from theirs."""

    sighting: Sighting
    residual_m: float
    turn_deg: float


def sightings(case: Case, reading: MapReading) -> list[Sighting]:
    """The case's clips whose camera was read on its map."""
    physical = {
        clip.camera_id: match[1] for clip in case.clips if (match := _PHYSICAL.search(clip.video_path))
    }
    return [
        Sighting(
            case_id=case.case_id,
            physical=physical[camera.camera_id],
            camera_id=camera.camera_id,
            xy_m=xy_m,
            heading_deg=camera.heading_deg,
            error_m=reading.error_m(camera),
        )
        for camera in reading.cameras
        if camera.camera_id in physical and (xy_m := reading.xy_m(camera)) is not None
    ]


def agreements(read_sightings: Sequence[Sighting]) -> list[Agreement]:
    """Each sighting that another one can contradict: its map and its camera are seen elsewhere too.

    Formula: x = place(camera) - cut(map), solved by least squares with weights 1 / residual, so that the sum
    of distances becomes small and a few false readings do not bend the rest.
    """
    maps, cameras = (
        Counter(sighting.case_id for sighting in read_sightings),
        Counter(sighting.physical for sighting in read_sightings),
    )
    tied = [
        sighting
        for sighting in read_sightings
        if maps[sighting.case_id] > 1 and cameras[sighting.physical] > 1
    ]
    if not tied:
        return []
    residuals_m = _residuals_m(tied)
    headings = {
        name: _middle_deg([sighting.heading_deg for sighting in tied if sighting.physical == name])
        for name in {sighting.physical for sighting in tied}
    }
    return [
        Agreement(
            sighting=sighting,
            residual_m=float(residual_m),
            turn_deg=turn_deg(headings[sighting.physical], sighting.heading_deg),
        )
        for sighting, residual_m in zip(tied, residuals_m, strict=True)
    ]


def _residuals_m(tied: Sequence[Sighting]) -> NDArray[np.float64]:
    maps = sorted({sighting.case_id for sighting in tied})
    cameras = sorted({sighting.physical for sighting in tied})
    terms = np.zeros((len(tied), len(maps) + len(cameras)))
    for row, sighting in enumerate(tied):
        terms[row, maps.index(sighting.case_id)] = -1
        terms[row, len(maps) + cameras.index(sighting.physical)] = 1
    places = np.array([sighting.xy_m for sighting in tied])
    residuals = np.ones(len(tied))
    for _ in range(ROUNDS):
        weight = np.sqrt(1 / np.maximum(residuals, FLOOR_M))[:, None]
        solved = np.linalg.lstsq(terms * weight, places * weight, rcond=None)[0]
        residuals = np.hypot(*(places - terms @ solved).T)
    return residuals


def _middle_deg(headings_deg: Sequence[float]) -> float:
    """The heading whose turns to all others are least in sum.

    >>> _middle_deg([359.0, 1.0, 2.0])
    1.0
    """
    return min(
        headings_deg,
        key=lambda heading_deg: sum(abs(turn_deg(heading_deg, other_deg)) for other_deg in headings_deg),
    )
