"""Makes tracking of positions (GPS, a drone's tracks), with virtual cameras that look straight down.

Between two positions a target is taken to go straight at constant speed, over no longer a time than a bound;
where positions lack for longer, the target ends and another begins.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from gnomon.core.errors import DataError
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene
from gnomon_worlds.tracking.cleaning import LIMITS, places_at
from gnomon_worlds.tracking.neutral_form import (
    Array,
    BodyKind,
    Boxes,
    Track,
    TrackedCamera,
    Tracking,
    from_the_first,
    instant_s,
    note_kind,
    number_at,
    scene_at,
    site_id,
)
from gnomon_worlds.tracking.tables import columns_of, csv_rows, text_of

BRIDGE_S = 60.0  # of GPS, by default
LOST_S = 2.0  # of a drone's tracks
PLACES = "cameras.csv"
COUNT = 8  # cameras, where no places are given
STEP_S = 0.2  # between two boxes
M_PER_PX = 0.1
AROUND_PX = 60  # of the picture, around the view, so that no box is cut
SIZES_M: Mapping[BodyKind, tuple[float, float]] = {"vehicle": (4.4, 4.4), "pedestrian": (0.6, 0.6)}
NAMES: Mapping[str, tuple[str, ...]] = {
    "target": ("target", "trip_id", "track_id", "vehicle_id", "device_id", "id"),
    "time": ("time_s", "time", "timestamp", "datetime", "t"),
    "lon": ("lon", "lng", "longitude"),
    "lat": ("lat", "latitude"),
}
DRONE = ("track", "xmin", "ymin", "xmax", "ymax", "frame", "lost", "occluded", "generated", "label")
DRONE_FPS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A virtual camera: its name, the middle of its view (metres) and the view's radius."""

    name: str
    xy_m: tuple[float, float]
    radius_m: float

    @property
    def view(self) -> Polygon:
        return shapely.Point(self.xy_m).buffer(self.radius_m, quad_segs=8)


def read_gps(folder: Path, *, scene: Path | None = None, bridge_s: float | None = None) -> Tracking:
    """Read a table of positions (`*.csv`: target, time, longitude, latitude, perhaps kind) in a folder.

    Cameras are those of `cameras.csv` (camera, lon, lat, perhaps radius_m), or stand where most targets pass.

    Raises:
        DataError: a file is absent or wrong; file, line and field are named.
    """
    tables = sorted(path for path in folder.glob("*.csv") if path.name != PLACES)
    if len(tables) != 1:
        raise DataError(
            f"{folder} holds {len(tables)} tables of positions (*.csv) instead of one", field="--from"
        )
    table, targets = tables[0], list[str]()
    kinds: dict[str, BodyKind] = {}
    names, columns = columns_of(table)[0].fieldnames or (), {}
    for name, known in NAMES.items():
        column = next((word for word in known if word in names), None)
        if column is None:
            raise DataError(
                f"{table.name} has no column {name}; it may be called {', '.join(known)}", field=name
            )
        columns[name] = column
    moments, places, unsaid = [], [], 0
    for line, fields in csv_rows(table, tuple(columns.values())):
        target = fields[columns["target"]].strip()
        if not target:
            raise DataError(f"{table.name}, line {line}: empty", field=columns["target"])
        kind = fields.get("kind", "").strip()
        unsaid += not kind
        note_kind(kinds, target, kind or "vehicle", file=table, line=line)
        targets.append(target)
        moments.append(instant_s(fields[columns["time"]], file=table, line=line, field=columns["time"]))
        places.append(
            [
                number_at(
                    fields[columns[name]], file=table, line=line, field=columns[name], low=-most, high=most
                )
                for name, most in (("lon", 180.0), ("lat", 90.0))
            ]
        )
    if not targets:
        raise DataError(f"{table.name} has no line", field="tracks")
    given = scene_at(scene) if scene else None
    lon_deg, lat_deg = np.median(places, axis=0).tolist()
    frame = given.frame if given else Frame(lon_deg=lon_deg, lat_deg=lat_deg, anchored=True)
    xy_m = np.array([frame.to_local((lon, lat)) for lon, lat in places])
    times_s, notes = from_the_first(np.array(moments))
    if unsaid:
        notes = (*notes, f"{unsaid:,} of {len(targets):,} positions name no kind: taken as vehicles")
    tracks, bodies, note = _tracks(targets, times_s, xy_m, kinds, bridge_s or BRIDGE_S)
    given_places = _given_places(folder / PLACES, frame) if (folder / PLACES).is_file() else None
    return _tracking(
        folder.resolve().name,
        tracks,
        bodies,
        given_places or _busiest(list(tracks.values()), 60.0, f"give {PLACES}"),
        frame=frame,
        scene=given,
        notes=(*notes, note, f"positions lie about {_degrees(lat_deg, 'NS')}, {_degrees(lon_deg, 'EW')}"),
    )


def _degrees(degrees: float, sides: str) -> str:
    return f"{abs(degrees):.3f}° {sides[degrees < 0]}"


def read_drone(
    folder: Path, *, scale: float | None, fps: float | None = None, scene: Path | None = None
) -> Tracking:
    """Read a drone's tracks as the Stanford Drone Dataset has them: `annotations.txt`, with a scale (m/px).

    A line is track, left, top, right, bottom, frame, lost, occluded, generated, label. The picture is taken
    to be seen straight from above, with north up.

    Raises:
        DataError: the file is absent or wrong, or no scale is given.
    """
    if scale is None:
        raise DataError("a drone's pixels need their size: --scale, metres a pixel", field="--scale")
    path = folder / "annotations.txt"
    targets: list[str] = []
    kinds: dict[str, BodyKind] = {}
    rows = []
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        if len(words) < len(DRONE):
            raise DataError(
                f"{path.name}, line {number}: {len(words)} fields instead of {', '.join(DRONE)}",
                field=DRONE[len(words)],
            )
        at = [
            number_at(text, file=path, line=number, field=name)
            for name, text in zip(DRONE[:7], words, strict=False)
        ]
        if at[6]:
            continue  # out of the picture
        targets.append(words[0])
        note_kind(kinds, words[0], words[9].strip('"'), file=path, line=number)
        rows.append((at[5] / (fps or DRONE_FPS), (at[1] + at[3]) / 2 * scale, -(at[2] + at[4]) / 2 * scale))
    if not rows:
        raise DataError(f"{path.name} has no line of a target in the picture", field="tracks")
    table = np.array(rows)
    tracks, bodies, note = _tracks(targets, table[:, 0], table[:, 1:], kinds, LOST_S)
    given = scene_at(scene) if scene else None
    extent_m = float(np.hypot(*np.ptp(table[:, 1:], axis=0)))
    return _tracking(
        folder.resolve().name,
        tracks,
        bodies,
        _busiest(list(tracks.values()), max(extent_m / 16, 1.0), "is --scale too small?"),
        frame=given.frame if given else Frame(),
        scene=given,
        notes=(note, f"{fps or DRONE_FPS:g} frames a second, seen straight from above with north up"),
    )


def _tracks(
    targets: Sequence[str], times_s: Array, xy_m: Array, kinds: Mapping[str, BodyKind], bridge_s: float
) -> tuple[dict[str, Track], dict[str, BodyKind], str]:
    """By name each track and its kind, and a note; a target without positions for too long has several."""
    tracks: dict[str, Track] = {}
    bodies: dict[str, BodyKind] = {}
    names = np.array(targets)
    repeated = far = breaks = bridged = 0
    for name in dict.fromkeys(targets):
        rows = np.flatnonzero(names == name)
        rows = rows[np.argsort(times_s[rows], kind="stable")]
        order = _chain(rows, times_s, xy_m, LIMITS[kinds[name]].speed_mps)
        lost = np.setdiff1d(rows, order)
        again = int(np.isin(times_s[lost], times_s[order]).sum())
        repeated, far = repeated + again, far + len(lost) - again
        steps_s = np.diff(times_s[order])
        ends = np.flatnonzero(steps_s > bridge_s) + 1
        breaks += len(ends)
        bridged += int((steps_s <= bridge_s).sum())
        for number, part in enumerate(np.split(order, ends), start=1):
            if len(part) > 1:
                called = name if number == 1 else f"{name}/{number}"
                tracks[called] = Track(times_s=times_s[part], xy_m=xy_m[part])
                bodies[called] = kinds[name]
    if not tracks and far:
        raise DataError(
            "hardly a position can be reached from the one before: is the scale or the unit of times wrong?",
            field="tracks",
        )
    if not tracks:
        raise DataError(
            f"no target has two positions within {bridge_s:g} s of one another; --bridge allows longer gaps",
            field="--bridge",
        )
    dropped = (
        f"; dropped: {repeated:,} at the time of another, {far:,} out of reach" if repeated or far else ""
    )
    note = (
        f"{len(targets):,} positions; targets go straight between two of them that are up to {bridge_s:g} s"
        f" apart ({bridged:,} gaps), and end where they are further apart ({breaks:,} times){dropped}"
    )
    return tracks, bodies, note


def _chain(rows: NDArray[np.intp], times_s: Array, xy_m: Array, speed_mps: float) -> NDArray[np.intp]:
    """The longest chain of rows each of which can be reached from the one before; none is trusted unseen.

    A row joins the longest chain that it can be reached from.
    """
    chains: list[list[int]] = []
    for row in rows.tolist():
        last = np.array([chain[-1] for chain in chains], dtype=int)
        past_s, gone_m = times_s[row] - times_s[last], np.linalg.norm(xy_m[row] - xy_m[last], axis=1)
        homes = np.flatnonzero((past_s > 0) & (gone_m <= speed_mps * past_s)).tolist()
        if homes:
            chains[max(homes, key=lambda home: (len(chains[home]), times_s[last[home]]))].append(row)
        elif not ((past_s == 0) & (gone_m == 0)).any():
            chains.append([row])
    return np.array(max(chains, key=len))


def _given_places(path: Path, frame: Frame) -> list[_Place]:
    places = []
    for line, fields in csv_rows(path, ("camera", "lon", "lat")):
        lon_lat_deg = (
            number_at(fields["lon"], file=path, line=line, field="lon", low=-180, high=180),
            number_at(fields["lat"], file=path, line=line, field="lat", low=-90, high=90),
        )
        text = fields.get("radius_m") or "60"
        radius_m = number_at(text, file=path, line=line, field="radius_m", low=1, high=2000)
        places.append(
            _Place(name=fields["camera"].strip(), xy_m=frame.to_local(lon_lat_deg), radius_m=radius_m)
        )
    if len({place.name for place in places}) < max(len(places), 1):
        raise DataError(f"{path.name}: no camera, or two of one name", field="camera")
    return places


def _busiest(tracks: Sequence[Track], radius_m: float, hint: str) -> list[_Place]:
    """Places apart from one another that most targets pass, none of them where a target starts or ends."""
    every_m = np.concatenate([track.xy_m for track in tracks])
    apart_m = max(4 * radius_m, float(np.hypot(*np.ptp(every_m, axis=0))) / 12)
    passed: dict[tuple[int, int], set[int]] = {}
    for number, track in enumerate(tracks):
        steps_m = np.linalg.norm(np.diff(track.xy_m, axis=0), axis=1)
        along_m = np.concatenate([[0.0], np.cumsum(steps_m)])
        at_m = np.arange(2 * radius_m, max(along_m[-1] - 2 * radius_m, 0.0), radius_m / 2)
        places = places_at(at_m, along_m, track.xy_m)
        for cell in {(math.floor(x / radius_m), math.floor(y / radius_m)) for x, y in places.tolist()}:
            passed.setdefault(cell, set()).add(number)
    chosen: list[_Place] = []
    for cell in sorted(passed, key=lambda cell: (-len(passed[cell]), cell)):
        middle_m = ((cell[0] + 0.5) * radius_m, (cell[1] + 0.5) * radius_m)
        if len(chosen) < COUNT and all(math.dist(middle_m, place.xy_m) >= apart_m for place in chosen):
            chosen.append(_Place(name=f"v{len(chosen) + 1:02d}", xy_m=middle_m, radius_m=radius_m))
    if len(chosen) < 2:
        raise DataError(f"targets pass fewer than two places that are {apart_m:.0f} m apart: {hint}")
    return chosen


def _tracking(
    name: str,
    tracks: Mapping[str, Track],
    bodies: Mapping[str, BodyKind],
    places: Sequence[_Place],
    *,
    frame: Frame,
    scene: Scene | None,
    notes: tuple[str, ...],
) -> Tracking:
    cameras, targets, times_s, ltwh = [], [], [], []
    names = tuple(tracks)
    for number, called in enumerate(names):
        track, size_m = tracks[called], SIZES_M[bodies[called]]
        ticks = np.arange(math.ceil(track.times_s[0] / STEP_S), math.floor(track.times_s[-1] / STEP_S) + 1)
        at_s = ticks * STEP_S
        xy_m = places_at(at_s, track.times_s, track.xy_m)
        for index, place in enumerate(places):
            within = shapely.contains_xy(place.view, xy_m)
            middle_px = place.radius_m / M_PER_PX + AROUND_PX
            feet = (xy_m[within] - place.xy_m) / (M_PER_PX, -M_PER_PX) + middle_px
            wide, high = (side / M_PER_PX for side in size_m)
            cameras.append(np.full(len(feet), index))
            targets.append(np.full(len(feet), number))
            times_s.append(at_s[within])
            ltwh.append(np.column_stack([feet - (wide / 2, high), np.full((len(feet), 2), (wide, high))]))
    all_s = np.concatenate(times_s)
    if not len(all_s):
        raise DataError(
            f"no target passes a camera: do the places of {PLACES} lie where the positions do?", field=PLACES
        )
    unseen = len(names) - len(np.unique(np.concatenate(targets)))
    if unseen:
        notes = (*notes, f"{unseen:,} of {len(names):,} targets pass no camera")
    boxes = Boxes(
        camera=np.concatenate(cameras).astype(np.intp),
        target=np.concatenate(targets).astype(np.intp),
        frame=np.round(all_s / STEP_S).astype(np.int64),
        time_s=all_s,
        ltwh=np.concatenate(ltwh),
    )
    kinds = {bodies[called] for called in names}
    return Tracking(
        id=site_id(name, "positions"),
        kind="outdoor",
        body="vehicle" if "vehicle" in kinds else "pedestrian",
        cameras=tuple(map(_camera, places)),
        targets=names,
        boxes=boxes,
        frame=frame,
        scene=scene,
        notes=notes,
        bodies=tuple(bodies[called] for called in names) if len(kinds) > 1 else (),
        tracks=dict(tracks),
        sees="feet",
    )


def _camera(place: _Place) -> TrackedCamera:
    x_m, y_m = place.xy_m
    side_px = math.ceil(2 * (place.radius_m / M_PER_PX + AROUND_PX))
    half_m = place.radius_m + AROUND_PX * M_PER_PX
    return TrackedCamera(
        id=place.name,
        homography=np.array([[M_PER_PX, 0, x_m - half_m], [0, -M_PER_PX, y_m + half_m], [0, 0, 1.0]]),
        image_size=(side_px, side_px),
        xy_m=place.xy_m,
        view=place.view,
    )
