"""Measures what makes a question about a moving camera hard."""

from collections.abc import Sequence

import numpy as np

from gnomon_tools.geometry.kinematics import displacement_m, path_length_m, speeds_mps
from gnomon_worlds.features import detour
from gnomon_worlds.motion.flying import Flight
from gnomon_worlds.motion.tour import Tour
from gnomon_worlds.recordings.questions import Draft
from gnomon_worlds.recordings.recording import Recording

FEATURES = (
    "away_m", "closeness", "detour", "gap_s", "hidden", "in_view", "length_m", "look_alikes", "manoeuvres",
    "speed_change", "turn_deg",
)  # fmt: skip


def features_of_ride(draft: Draft, recording: Recording, tour: Tour) -> dict[str, float]:
    """The features of a question about a ride, or about the part of one that it asks about.

    length_m, gap_s: of the way of the camera, or of the one asked about; detour: that over its straight line;
    turn_deg: all turns of the camera together; speed_change: the largest speed of the way less the smallest,
    in m/s. Of a moment: away_m: how far the one asked about is; in_view: how many are; look_alikes: how many
    of these are of its shape; hidden: in which share of the ride it is not in view.
    """
    headings = np.unwrap(np.radians([frame.camera.pose().azimuth_deg("x") for frame in recording.frames]))
    turn_deg = float(np.degrees(np.abs(np.diff(headings)).sum()))
    if draft.at_s is None:
        times_s, positions_m = recording.track(draft.about[0])
        return {**of_way(times_s, positions_m), "turn_deg": turn_deg}
    frame = next(frame for frame in recording.frames if frame.time_s == draft.at_s)
    name = str(draft.about[0])
    between_m = np.array(frame.boxes[name].centre_m) - np.array(frame.camera.position_m)
    shape = name.rpartition("-")[2]
    return {
        "away_m": float(np.linalg.norm(between_m)),
        "in_view": float(len(frame.boxes)),
        "look_alikes": float(sum(each.rpartition("-")[2] == shape for each in frame.boxes) - 1),
        "hidden": 1 - float(tour.in_view[:, tour.number(name)].mean()),
    }


def features_of_flight(flight: Flight, numbers: Sequence[int] = ()) -> dict[str, float]:
    """The features of a question about a flight, or a part of one; `numbers`: of the manoeuvres asked about.

    manoeuvres: how many kinds of these there are in the flight; look_alikes: how many others are of the same
    kind as one asked about.
    """
    choices = [each.choice for each in flight.manoeuvres]
    asked = {choices[number] for number in numbers}
    return {
        **of_way(np.array(flight.times_s), flight.poses[:, :3]),
        "turn_deg": float(np.abs(np.diff(flight.poses[:, 3])).sum()),
        "manoeuvres": float(len(set(choices))),
        "look_alikes": float(sum(choice in asked for choice in choices) - len(numbers)),
    }


def of_way(times_s: np.ndarray, positions_m: np.ndarray) -> dict[str, float]:
    """Features of a way: how long, how lasting, how bent and how uneven it is."""
    length_m, speeds = path_length_m(positions_m), speeds_mps(positions_m, times_s)
    return {
        "length_m": length_m,
        "gap_s": float(times_s[-1] - times_s[0]),
        "detour": detour(length_m, displacement_m(positions_m)),
        "speed_change": float(speeds.max() - speeds.min()),
    }
