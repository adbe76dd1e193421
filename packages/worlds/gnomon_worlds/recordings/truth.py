"""Computes the eight quantities of STI-Bench's appendix A.2 from a recording."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnomon_tools.geometry.angles import signed_deg
from gnomon_tools.geometry.kinematics import accelerations_mps2, speeds_mps
from gnomon_tools.geometry.polyline import PolylineTurn, legs_of
from gnomon_tools.geometry.pose import Pose
from gnomon_worlds.recordings.recording import Array, BoxAt, Frame, Recording

DOMINANT = 1.5  # a difference along one axis is «significantly larger» from this ratio on

SIDES = ("Front", "Back", "Left", "Right", "Up", "Down")


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraBox:
    """A box in camera coordinates (equation 4): x ahead, y to the left, z up, in metres."""

    size_m: tuple[float, float, float]
    centre_m: tuple[float, float, float]
    heading_deg: float


def distance_m(first: BoxAt | Pose, second: BoxAt | Pose) -> float:
    """The distance between the centres of two objects, or of an object and the camera (equation 2)."""
    return float(np.linalg.norm(_centre(first) - _centre(second)))


def relation(recording: Recording, frame: Frame, name: str, reference: str) -> str | None:
    """On which side of `reference` the object `name` is, as the camera sees it (equation 3).

    The axis with the greatest difference decides; None unless it is DOMINANT times the next. Front is nearer
    to the camera.
    """
    difference = _own(recording, frame) @ (_centre(frame.boxes[name]) - _centre(frame.boxes[reference]))
    order = np.argsort(-np.abs(difference))
    if abs(difference[order[0]]) < DOMINANT * abs(difference[order[1]]) or not difference.any():
        return None
    ahead = (("Back", "Front"), ("Left", "Right"), ("Up", "Down"))[order[0]]
    return ahead[0] if difference[order[0]] > 0 else ahead[1]


def camera_box(recording: Recording, frame: Frame, name: str) -> CameraBox:
    """The object's box in camera coordinates (equation 4)."""
    own, box = _own(recording, frame), frame.boxes[name]
    x, y, z = (own @ (_centre(box) - np.array(frame.camera.position_m))).tolist()
    heading = np.radians(box.heading_deg)
    ahead = own @ np.array([np.cos(heading), np.sin(heading), 0.0])
    length, width, height = box.size_m
    return CameraBox(
        size_m=(length, width, height),
        centre_m=(x, y, z),
        heading_deg=float(np.degrees(np.arctan2(ahead[1], ahead[0]))),
    )


def pose_at(recording: Recording, time_s: float) -> Pose:
    """The camera's pose (equation 5) in the frame nearest to a time."""
    return recording.at(time_s).camera.pose()


def average_speed(positions_m: Array, times_s: Array) -> float:
    """Mean of the steps' speeds (equation 8), each weighted by its duration: path length over time."""
    return float(np.average(speeds_mps(positions_m, times_s), weights=np.diff(times_s)))


def average_acceleration(positions_m: Array, times_s: Array) -> float:
    """Mean of the steps' accelerations (equation 8), each weighted by its duration; needs three positions."""
    return float(np.average(accelerations_mps2(positions_m, times_s), weights=np.diff(times_s)[1:]))


def orientation_change_deg(recording: Recording, start_s: float, end_s: float) -> float:
    """Change of the camera's azimuth in (−180, 180], left positive (equation 9)."""
    axis = recording.camera_forward
    before, after = (pose_at(recording, time_s).azimuth_deg(axis) for time_s in (start_s, end_s))
    return signed_deg(after - before)


def trajectory(positions_m: Array, tolerance_m: float) -> list[PolylineTurn]:
    """Straight legs and turns seen from above, by Ramer, Douglas and Peucker."""
    return legs_of(positions_m[:, :2], tolerance_m)


def _own(recording: Recording, frame: Frame) -> NDArray[np.float64]:
    """The camera's directions ahead, to the left and up, in the world, as rows."""
    pose = frame.camera.pose()
    ahead, up = pose.forward(recording.camera_forward), pose.forward(recording.camera_up)
    return np.stack([ahead, np.cross(up, ahead), up])


def _centre(of: BoxAt | Pose) -> Array:
    return of.position_m if isinstance(of, Pose) else np.array(of.centre_m, dtype=float)
