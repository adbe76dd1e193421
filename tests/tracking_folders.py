"""Writes tracking in published layouts from a generated world: noisy boxes, gaps, switched identities.

The movement is known exactly, so what the pipeline makes of the files can be compared with it.
"""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import yaml
from PIL import Image

from gnomon_tools.scene.format import write_scene
from gnomon_tools.scene.frame import Frame
from gnomon_worlds.question import box
from gnomon_worlds.sample_making import world_of
from gnomon_worlds.tracking.neutral_form import COLUMNS, FORMAT, SITE_FILE, TRACKS, TrackedCamera, Tracking
from gnomon_worlds.trajectory import Trip, trip
from gnomon_worlds.world import World

Row = tuple[int, int, float, float, float, float]  # frame, identity, left, top, width, height


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """A folder with the world and the trips behind it; identities are positions among the trips, from 1."""

    folder: Path
    world: World
    trips: Sequence[Trip]
    scene: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """What is wrong with the boxes, as shares of sightings (of boxes: `stray`) and in pixels."""

    jitter_px: float = 1.0
    gaps: float = 0.1
    stray: float = 0.003
    switches: float = 0.02
    doubled: float = 0.02


NONE = Faults(jitter_px=0.0, gaps=0.0, stray=0.0, switches=0.0, doubled=0.0)


def trips_of(
    world: World, *, seed: int, count: int, within_s: float, body: str, least: int = 3
) -> list[Trip]:
    """Trips past `least` cameras or more, all within a time so short that they meet."""
    rng = Random(seed)
    drawn: list[Trip] = []
    while len(drawn) < count:
        taken = trip(world, rng)
        if taken and taken.journey.body.kind == body and len(taken.sightings) >= least:
            start_s = taken.sightings[0].start_s
            drawn.append(taken.later(5.0 + rng.uniform(0, within_s) - start_s))
    return drawn


def rows_of(
    world: World, trips: Sequence[Trip], *, fps: float, faults: Faults, seed: int, offsets_s: dict[str, float]
) -> dict[str, list[Row]]:
    """The boxes of every camera, frames counted from 0 by its own clock."""
    rng = np.random.default_rng(seed)
    rows: dict[str, list[Row]] = {camera: [] for camera in world.scene.cameras}
    for identity, taken in enumerate(trips, start=1):
        for sighting in taken.sightings:
            shown = identity
            if rng.random() < faults.switches:
                shown = int(rng.integers(1, len(trips) + 1))
            hidden_s = (0.0, 0.0)
            if rng.random() < faults.gaps:
                middle_s = (sighting.start_s + sighting.end_s) / 2
                hidden_s = (middle_s - 0.3, middle_s + 0.3)
            doubled = rng.random() < faults.doubled
            offset_s = offsets_s.get(sighting.camera, 0.0)
            first, last = (np.array([sighting.start_s, sighting.end_s]) - offset_s) * fps
            for frame in range(int(np.ceil(first)), int(np.floor(last)) + 1):
                time_s = frame / fps + offset_s
                if hidden_s[0] < time_s < hidden_s[1]:
                    continue
                ltwh = np.array(box(world.installation.mounts[sighting.camera], taken.journey, time_s))
                ltwh += rng.normal(scale=faults.jitter_px, size=4) if faults.jitter_px else 0.0
                if rng.random() < faults.stray:
                    ltwh[0] += 600 * rng.choice((-1, 1))
                left, top, width, height = np.maximum(ltwh, (-500, 0, 2, 2)).round(2).tolist()
                rows[sighting.camera].append((frame, shown, left, top, width, height))
                if doubled:
                    rows[sighting.camera].append((frame, shown + 500, left, top, width, height))
    return {camera: sorted(found) for camera, found in rows.items()}


def write_cityflow(
    folder: Path, *, seed: int = 5, count: int = 60, within_s: float = 300.0, faults: Faults | None = None,
    fps: float = 10.0, cameras: Sequence[str] | None = None, least: int = 3, roi: bool = True,
) -> Simulated:  # fmt: skip
    """S01/c001/{gt/gt.txt, calibration.txt, roi.jpg}, cam_timestamp/S01.txt, and the roads beside them."""
    world = world_of(seed, "outdoor", 0)
    trips = trips_of(world, seed=seed, count=count, within_s=within_s, body="vehicle", least=least)
    names = {camera: f"c{number:03d}" for number, camera in enumerate(sorted(world.scene.cameras), start=1)}
    rng = Random(seed)
    offsets_s = {camera: round(rng.uniform(0, 4), 3) for camera in names}
    rows = rows_of(
        world, trips, fps=fps, faults=Faults() if faults is None else faults, seed=seed, offsets_s=offsets_s
    )
    home = folder / "S01"
    for camera, name in names.items():
        if cameras is not None and name not in cameras:
            continue
        (home / name / "gt").mkdir(parents=True)
        lines = [
            f"{frame + 1},{identity},{left:g},{top:g},{width:g},{height:g},1,-1,-1,-1\n"
            for frame, identity, left, top, width, height in rows[camera]
        ]
        (home / name / "gt" / "gt.txt").write_text("".join(lines))
        (home / name / "calibration.txt").write_text(calibration_text(world, camera))
        if roi:
            Image.new("L", (1920, 1080), 255).save(home / name / "roi.jpg")
    (folder / "cam_timestamp").mkdir()
    stamps = [f"{name} {offsets_s[camera]}\n" for camera, name in names.items()]
    (folder / "cam_timestamp" / "S01.txt").write_text("".join(stamps))
    scene = folder / "roads.geojson"
    _write_ground(world, scene)
    return Simulated(folder=folder, world=world, trips=trips, scene=scene)


def write_example(folder: Path) -> Simulated:
    """The folder `examples/tracking/cityflow`."""
    return write_cityflow(folder, seed=8, count=24, within_s=50.0, fps=5.0, least=4, roi=False)


def calibration_text(world: World, camera: str) -> str:
    """The homography from latitude and longitude to pixels, linear about the camera's view."""
    mount, frame = world.installation.mounts[camera], world.scene.frame
    view = world.scene.cameras[camera].field_of_view
    assert view is not None
    to_metres = _linear(frame, (view.centroid.x, view.centroid.y))
    matrix = np.linalg.inv(mount.homography()) @ to_metres
    matrix /= np.abs(matrix).max()
    rows = ";".join(" ".join(f"{value:.17g}" for value in row) for row in matrix)
    return f"Homography matrix: {rows}\nReprojection error: 1.5\n"


def _linear(frame: Frame, middle_m: tuple[float, float]) -> np.ndarray:
    """(latitude, longitude, 1) to metres, exact at three points about a place."""
    spots_m = [middle_m, (middle_m[0] + 20, middle_m[1]), (middle_m[0], middle_m[1] + 20)]
    degrees = np.array([(*reversed(frame.to_wgs84(spot)), 1.0) for spot in spots_m])
    metres = np.array([(*spot, 1.0) for spot in spots_m])
    return np.asarray(np.linalg.solve(degrees, metres).T)


def _write_ground(world: World, path: Path) -> None:
    """The world's roads or rooms, without its cameras."""
    write_scene(replace(world.scene, cameras={}, map_image=None), path)


def write_mtmmc(
    folder: Path, *, seed: int = 5, count: int = 40, within_s: float = 400.0, faults: Faults | None = None
) -> Simulated:
    """train/s01/c01/gt/gt.txt at 23 frames a second, and the building with its homographies as a scene."""
    world = world_of(seed, "indoor", 0)
    trips = trips_of(world, seed=seed, count=count, within_s=within_s, body="pedestrian")
    rows = rows_of(
        world,
        trips,
        fps=23.0,
        faults=Faults(jitter_px=0.7) if faults is None else faults,
        seed=seed,
        offsets_s={},
    )
    for camera, boxes in rows.items():
        (folder / "train" / "s01" / camera / "gt").mkdir(parents=True)
        lines = [
            f"{frame:04d},{identity:03d},{left:g},{top:g},{wide:g},{high:g}\n"
            for frame, identity, left, top, wide, high in boxes
        ]
        (folder / "train" / "s01" / camera / "gt" / "gt.txt").write_text("".join(lines))
    scene = folder / "building.geojson"
    write_scene(replace(world.scene, map_image=None), scene)
    return Simulated(folder=folder, world=world, trips=trips, scene=scene)


def published(out: Path) -> list[dict[str, object]]:
    """The kept attempts of a build: records with their sources."""
    lines = (out / "build" / "questions.ndjson").read_text().splitlines()[1:]
    return [entry for entry in map(json.loads, lines) if entry["status"] == "kept"]


def write_tracking(tracking: Tracking, folder: Path) -> None:
    """Write the neutral form, with the scene beside it where there is one; clips stay where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    site: dict[str, Any] = {
        "format": FORMAT,
        "id": tracking.id,
        "kind": tracking.kind,
        "targets": tracking.body,
        "cameras": {camera.id: _written(camera) for camera in tracking.cameras},
    }
    if tracking.scene is not None:
        write_scene(tracking.scene, folder / "scene.geojson")
        site["scene"] = "scene.geojson"
    elif tracking.frame.anchored:
        site["frame"] = {"lon_deg": tracking.frame.lon_deg, "lat_deg": tracking.frame.lat_deg}
    (folder / SITE_FILE).write_text(yaml.safe_dump(site, sort_keys=False), encoding="utf-8")
    boxes = tracking.boxes
    with (folder / TRACKS[0]).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*COLUMNS, "frame"))
        for camera, target, time_s, ltwh, frame in zip(
            boxes.camera,
            boxes.target,
            boxes.time_s.tolist(),
            boxes.ltwh.tolist(),
            boxes.frame.tolist(),
            strict=True,
        ):
            writer.writerow((tracking.cameras[camera].id, tracking.targets[target], time_s, *ltwh, frame))


def _written(camera: TrackedCamera) -> dict[str, Any]:
    fields: dict[str, Any] = {"floor": camera.floor}
    if camera.image_size is not None:
        fields["image_size"] = list(camera.image_size)
    if camera.xy_m is not None:
        fields["xy_m"] = list(camera.xy_m)
    if camera.homography is not None:
        fields["homography"] = camera.homography.tolist()
    elif camera.points is not None:
        fields["points"] = camera.points.tolist()
    return fields
