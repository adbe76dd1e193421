"""Survey: tool results as facts; where cameras stand, how targets moved, how far it is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.models.reference.evidence import Call, Evidence, Result
from agents.models.reference.question import Clip

Point = tuple[float, float]
Location = Mapping[str, Any]  # what the tools take: a camera, or x_m, y_m and floor

ASSUMED_RANGE_M = 30.0  # how far a camera sees whose range nobody knows
BLIND_SHARE = 0.25  # of its range: the floor right below a camera lies outside its picture
FLOOR_CHANGE_M = 12.0  # stairs slow a walker down as much as so many more metres would


@dataclass(frozen=True, slots=True, kw_only=True)
class Camera:
    """Where a camera stands and looks; None where nobody knows."""

    id: str
    xy_m: Point | None = None
    floor: int = 0
    heading_deg: float | None = None
    range_m: float | None = None

    def view_ends(self) -> tuple[Location, Location] | None:
        """The near and the far end of what it sees along its axis, judged by its range."""
        range_m = self.range_m or ASSUMED_RANGE_M
        return self.axis(BLIND_SHARE * range_m, range_m)

    def axis(self, near_m: float, far_m: float) -> tuple[Location, Location] | None:
        """Two points straight ahead of it, so many metres away."""
        if self.xy_m is None or self.heading_deg is None:
            return None
        x_m, y_m = self.xy_m
        east, north = math.sin(math.radians(self.heading_deg)), math.cos(math.radians(self.heading_deg))
        return (
            at((x_m + near_m * east, y_m + near_m * north), self.floor),
            at((x_m + far_m * east, y_m + far_m * north), self.floor),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """How a target moved through a clip."""

    first_m: Point
    last_m: Point
    floor: int
    speed_mps: float | None
    heading_deg: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Cameras by id, and the track of each clip that could be projected."""

    cameras: Mapping[str, Camera]
    tracks: Mapping[int, Track]
    clips: Sequence[Clip]

    def entry(self, index: int) -> Location:
        """Where the target of clip `index` came into view, as exactly as it is known."""
        track = self.tracks.get(index)
        return at(track.first_m, track.floor) if track else {"camera": self.clips[index].camera}

    def exit(self, index: int) -> Location:
        """Where it was last seen in clip `index`."""
        track = self.tracks.get(index)
        return at(track.last_m, track.floor) if track else {"camera": self.clips[index].camera}


def at(xy_m: Point, floor: int) -> Location:
    """A point as a tool's location."""
    return {"x_m": round(xy_m[0], 2), "y_m": round(xy_m[1], 2), "floor": floor}


def survey(evidence: Evidence, clips: Sequence[Clip], why: str) -> Survey:
    """Where the cameras stand and what the boxes mean on the ground, asked in one turn.

    Raises:
        Need: the tools have not been asked yet.
    """
    calls = [Call("list_cameras", {}), *(_projection(clip) for clip in clips if clip.boxes)]
    listing, *projected = evidence.ask(calls, why)
    found = iter(projected)
    tracks = {index: _track(next(found)) for index, clip in enumerate(clips) if clip.boxes}
    return Survey(
        cameras=_cameras(listing),
        tracks={index: track for index, track in tracks.items() if track is not None},
        clips=clips,
    )


def view_ends(evidence: Evidence, camera: Camera | None) -> tuple[Location, Location] | None:
    """The ends of what a camera sees, along its axis: of its polygon if a tool tells it, else by its range.

    Raises:
        Need: the tool has not been asked yet.
    """
    if camera is None or camera.xy_m is None or camera.heading_deg is None:
        return None
    [view] = evidence.ask([Call("camera_view", {"camera": camera.id})], f"I need what {camera.id} sees.")
    x_m, y_m = camera.xy_m
    heading = math.radians(camera.heading_deg)
    along_m = [
        (corner[0] - x_m) * math.sin(heading) + (corner[1] - y_m) * math.cos(heading)
        for corner in (view or {}).get("polygon_m", ())
    ]
    return camera.axis(min(along_m), max(along_m)) if along_m else camera.view_ends()


def distances(evidence: Evidence, pairs: Sequence[tuple[Location, Location]], why: str) -> list[float]:
    """Metres of the ways between the pairs, straight where there is no network, inf where nobody knows.

    A change of floors counts as FLOOR_CHANGE_M more: what matters is how long the way takes.

    Raises:
        Need: the tools have not been asked yet.
    """
    results = evidence.ask([Call("distance", {"start": a, "end": b}) for a, b in pairs], why)
    return [_metres(result) for result in results]


def _metres(result: Result | None) -> float:
    if result is None:
        return math.inf
    metres = float(result.get("path_m") or result.get("straight_m", math.inf))
    return metres + FLOOR_CHANGE_M * float(result.get("floor_changes") or 0)


def _projection(clip: Clip) -> Call:
    first_s = clip.times_s[0]
    times_s = [round(time_s - first_s, 3) for time_s in clip.times_s]
    arguments = {"camera": clip.camera, "boxes": [list(box) for box in clip.boxes], "times_s": times_s}
    return Call("project_track", arguments)


def _cameras(listing: Result | None) -> dict[str, Camera]:
    found: dict[str, Camera] = {}
    for row in (listing or {}).get("cameras", ()):
        known = row.get("x_m") is not None and row.get("y_m") is not None
        found[row["camera"]] = Camera(
            id=row["camera"],
            xy_m=(row["x_m"], row["y_m"]) if known else None,
            floor=row.get("floor", 0),
            heading_deg=row.get("heading_deg"),
            range_m=row.get("range_m"),
        )
    return found


def _track(result: Result | None) -> Track | None:
    points = (result or {}).get("points_m") or ()
    if result is None or not points:
        return None
    return Track(
        first_m=tuple(points[0]),
        last_m=tuple(points[-1]),
        floor=result.get("floor", 0),
        speed_mps=result.get("speed_mps") or None,
        heading_deg=result.get("heading_deg"),
    )
