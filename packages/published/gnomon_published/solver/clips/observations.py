"""Gathers tool results as facts: where cameras are, how targets moved, how far it is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gnomon_agents.models.reference.tool_results import Call, Evidence, Result
from gnomon_published.solver.clips.constants import SHIPPED
from gnomon_published.solver.clips.pace import VEHICLE_AVERAGE, Pace, is_vehicle, pace
from gnomon_published.solver.clips.question import Clip

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
    has_homography: bool = False
    error_m: float = 0.0

    @property
    def vagueness(self) -> float:
        """How vague what it sees is, from 0 to 1: 1 m off, or a range that nobody knows, is all vague."""
        return 1.0 if self.range_m is None else min(1.0, self.error_m)

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

    points_m: tuple[Point, ...]
    floor: int
    speed_mps: float | None
    speed_error_mps: float
    heading_deg: float | None

    @property
    def first_m(self) -> Point:
        return self.points_m[0]

    @property
    def last_m(self) -> Point:
        return self.points_m[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Cameras by id, and the track of each clip that could be put on the ground."""

    cameras: Mapping[str, Camera]
    tracks: Mapping[int, Track]
    clips: Sequence[Clip]

    @property
    def is_exact(self) -> bool:
        """Whether the scene states exactly where every camera looks, as generated ones do."""
        return bool(self.cameras) and all(camera.vagueness == 0 for camera in self.cameras.values())

    def entry(self, index: int) -> Location:
        """Where the target of clip `index` came into view, as exactly as it is known."""
        track = self.tracks.get(index)
        return at(track.first_m, track.floor) if track else {"camera": self.clips[index].camera}

    def came_from(self, index: int) -> Location:
        """Its point in clip `index` farthest from where it left: where it came into view, or turned back."""
        track = self.tracks.get(index)
        if track is None:
            return self.entry(index)
        return at(max(track.points_m, key=lambda point: math.dist(point, track.last_m)), track.floor)

    def exit(self, index: int) -> Location:
        track = self.tracks.get(index)
        return at(track.last_m, track.floor) if track else {"camera": self.clips[index].camera}

    def timed_track(self, index: int) -> dict[str, Any] | None:
        """The points of clip `index` with its clock, or where its camera stands; None if neither is known."""
        clip, track = self.clips[index], self.tracks.get(index)
        if track is not None:
            points = [list(point) for point in track.points_m]
            times_s = [round(time_s, 3) for time_s in clip.times_s]
            return {"floor": track.floor, "points_m": points, "times_s": times_s, "seen_by": clip.camera}
        camera = self.cameras.get(clip.camera)
        if camera is None or camera.xy_m is None or clip.start_s is None:
            return None
        at_s = round(clip.start_s + (clip.lasting_s if index == 0 else 0.0), 3)
        return {"floor": camera.floor, "points_m": [list(camera.xy_m)], "times_s": [at_s]}

    def pace(self, index: int) -> Pace:
        """How fast it may be taken to go on after clip `index`."""
        track = self.tracks.get(index)
        measured = (track.speed_mps, track.speed_error_mps) if track and track.speed_mps else None
        vehicle = is_vehicle(self.clips[index])
        going = pace(measured, drives=vehicle)
        share = VEHICLE_AVERAGE if vehicle else 1.0
        return Pace(speed_mps=share * going.speed_mps, error_mps=share * going.error_mps)

    def heading(self, index: int) -> float | None:
        track = self.tracks.get(index)
        return track.heading_deg if track else None

    def departure(self, index: int) -> dict[str, Any]:
        """The end of clip `index`, as the forecasting tools take it."""
        going, heading_deg = self.pace(index), self.heading(index)
        fields = {
            "at": self.exit(index),
            "time_s": round(self.clips[index].end_s or 0.0, 3),
            "speed_mps": round(going.speed_mps, 3),
            "speed_error_mps": round(going.error_mps, 3),
            "seen_by": self.clips[index].camera,
        }
        track = self.tracks.get(index)
        if track is not None and len(track.points_m) > 1:
            fields["track_m"] = [[round(x_m, 2), round(y_m, 2)] for x_m, y_m in track.points_m]
            fields["track_times_s"] = [round(time_s, 3) for time_s in self.clips[index].times_s]
        if is_vehicle(self.clips[index]):
            fields["seen_within_m"] = SHIPPED.vehicle_seen_m
        return fields if heading_deg is None else {**fields, "heading_deg": heading_deg}


def at(xy_m: Point, floor: int) -> Location:
    """A point as a tool's location."""
    return {"x_m": round(xy_m[0], 2), "y_m": round(xy_m[1], 2), "floor": floor}


def survey(evidence: Evidence, clips: Sequence[Clip], why: str) -> Survey:
    """Where the cameras stand, then what the boxes mean on the ground.

    Raises:
        Need: the tools have not been asked yet.
    """
    [listing] = evidence.ask([Call("list_cameras", {})], why)
    cameras = _cameras(listing)
    shown = [index for index, clip in enumerate(clips) if clip.boxes]
    calls = [_track_call(clips[index], cameras) for index in shown]
    results = evidence.ask(calls, "I put the boxes on the ground.")
    tracks = {index: _track(result) for index, result in zip(shown, results, strict=True)}
    return Survey(
        cameras=cameras,
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
    """Length in metres of the way between each pair; the straight line without a network, inf if unknown.

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


def _track_call(clip: Clip, cameras: Mapping[str, Camera]) -> Call:
    first_s = clip.times_s[0]
    times_s = [round(time_s - first_s, 3) for time_s in clip.times_s]
    arguments = {"camera": clip.camera, "boxes": [list(box) for box in clip.boxes], "times_s": times_s}
    camera = cameras.get(clip.camera)
    if camera is None or camera.has_homography:
        return Call("project_track", arguments)
    target = "vehicle" if is_vehicle(clip) else "person"
    return Call("estimate_track", {**arguments, "target": target})


def _cameras(listing: Result | None) -> dict[str, Camera]:
    cameras: dict[str, Camera] = {}
    for row in (listing or {}).get("cameras", ()):
        has_place = row.get("x_m") is not None and row.get("y_m") is not None
        cameras[row["camera"]] = Camera(
            id=row["camera"],
            xy_m=(row["x_m"], row["y_m"]) if has_place else None,
            floor=row.get("floor", 0),
            heading_deg=row.get("heading_deg"),
            range_m=row.get("range_m"),
            has_homography=bool(row.get("has_homography")),
            error_m=row.get("error_m") or 0.0,
        )
    return cameras


def _track(result: Result | None) -> Track | None:
    points = (result or {}).get("points_m") or ()
    if result is None or not points:
        return None
    return Track(
        points_m=tuple((point[0], point[1]) for point in points),
        floor=result.get("floor", 0),
        speed_mps=result.get("speed_mps") or None,
        speed_error_mps=result.get("speed_error_mps") or 0.0,
        heading_deg=result.get("heading_deg"),
    )
