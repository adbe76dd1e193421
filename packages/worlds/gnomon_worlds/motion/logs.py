"""Writes what a moving camera's instruments tell: where it was, how it moved, where corners are."""

import numpy as np

from gnomon_tools.geometry.angles import signed_deg
from gnomon_worlds.motion.tour import Tour
from gnomon_worlds.motion.travellers import Array
from gnomon_worlds.recordings.questions import GROUNDING, ORIENTATION, POSE, RELATION, SIZE, Draft
from gnomon_worlds.recordings.recording import BoxAt, Recording

WORLD = "in the world (x east, y north, z up, in metres)"
CORNERS = ("rear right below", "front right below", "rear left below", "rear right above")


def log_of(recording: Recording, draft: Draft) -> str:
    """The log from which a question about a recording can be answered; it never holds the answer itself."""
    if draft.task in (ORIENTATION, POSE):
        return moves_log(recording)
    if draft.at_s is not None:
        return _moment_log(recording, draft)
    name = draft.about[0]
    times_s, positions_m = recording.track(name)
    return track_log("camera" if name is None else recording.objects[name], times_s, positions_m)


def track_log(name: str, times_s: Array, positions_m: Array) -> str:
    """Where the camera or an object was at each moment."""
    lines = [
        f"{time_s:g} s: {_point(at_m)}" for time_s, at_m in zip(times_s.tolist(), positions_m, strict=True)
    ]
    return "\n".join((f"Log of the middle of {_the(name)} {WORLD}:", *lines))


def moves_log(recording: Recording) -> str:
    """How the camera moved and turned from each frame to the next, as its own gyroscope and wheels tell."""
    lines = []
    for before, after in zip(recording.frames, recording.frames[1:], strict=False):
        own = after.camera.pose().seen_from(before.camera.pose())
        turned_deg = round(own.azimuth_deg("x"), 2) + 0.0
        lines.append(f"{after.time_s:g} s: {_point(own.position_m)}, turned {turned_deg:.2f}°")
    head = (
        "Log of the camera's moves, each from one frame to the next, in its own axes before the move"
        " (x ahead, y left, z up, in metres), and by how much it then turned to the left:"
    )
    return "\n".join((head, f"{recording.frames[0].time_s:g} s: start", *lines))


def _moment_log(recording: Recording, draft: Draft) -> str:
    """The camera and the boxes that are asked about, at one moment."""
    frame = next(frame for frame in recording.frames if frame.time_s == draft.at_s)
    lines = [f"Log of {frame.time_s:g} s {WORLD}:"]
    is_far = draft.task == SIZE and draft.question.startswith("How far")
    if draft.task in (GROUNDING, RELATION) or is_far:
        heading_deg = signed_deg(frame.camera.pose().azimuth_deg(recording.camera_forward))
        lines.append(
            f"The camera: {_point(np.array(frame.camera.position_m))},"
            f" level, ahead is {heading_deg:.2f}° counter-clockwise from x"
        )
    has_corners = draft.task in (SIZE, GROUNDING) and not is_far
    for name in draft.about:
        if name is not None:
            box = frame.boxes[name]
            place = _corners(box) if has_corners else f"middle {_point(np.array(box.centre_m))}"
            lines.append(f"{recording.objects[name]}: {place}")
    return "\n".join(lines)


def _corners(box: BoxAt) -> str:
    return "; ".join(f"{words} {_point(at_m)}" for words, at_m in zip(CORNERS, corners_of(box), strict=True))


def corners_of(box: BoxAt) -> Array:
    """The CORNERS of a box (4 × 3)."""
    length_m, width_m, height_m = box.size_m
    turn = np.radians(box.heading_deg)
    ahead, left = np.array([np.cos(turn), np.sin(turn), 0]), np.array([-np.sin(turn), np.cos(turn), 0])
    up = np.array([0.0, 0.0, 1.0])
    rear = np.array(box.centre_m) - (ahead * length_m + left * width_m + up * height_m) / 2
    return np.array([rear, rear + ahead * length_m, rear + left * width_m, rear + up * height_m])


def _point(at_m: Array) -> str:
    return "(" + ", ".join(f"{metres:.3f}" for metres in (at_m + 0.0).round(3) + 0.0) + ")"


def _the(name: str) -> str:
    return name if name.startswith("the ") else f"the {name}"


def flight_log(tour: Tour) -> str:
    """Where a drone was each second, and which way its camera looked."""
    lines = []
    for time_s, (*at_m, heading_deg, pitch_deg) in zip(tour.times_s, tour.poses.tolist(), strict=True):
        ahead_deg = round(signed_deg(90 - heading_deg), 2) + 0.0
        tilt = f"{abs(pitch_deg):.2f}° {'down' if pitch_deg < 0 else 'up'}"
        lines.append(f"{time_s:g} s: {_point(np.array(at_m))}, ahead {ahead_deg:.2f}°, camera {tilt}")
    head = f"Log of the drone {WORLD}, which way is ahead (counter-clockwise from x), and the camera's tilt:"
    return "\n".join((head, *lines))
