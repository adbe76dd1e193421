"""Measuring and moving: right by hand, and where properties must hold."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_tools.geometry.angles import signed_deg
from gnomon_tools.geometry.kinematics import displacement_m, path_length_m
from gnomon_tools.geometry.polyline import in_words, legs_of, simplified
from gnomon_tools.geometry.pose import (
    Pose,
    from_yaw_pitch_roll,
    nearest_rotation,
    rotation_angle_deg,
)

BOX = Toolbox(TOOLS, ToolContext())
metres = st.floats(-100, 100)
paths = st.lists(st.tuples(metres, metres), min_size=2, max_size=30).map(
    lambda path: np.array(path, dtype=float)
)
angles = st.floats(-180, 180)


def call(name, **arguments):
    return json.loads(BOX.call(name, json.dumps(arguments)).content)


def test_motion_by_hand():
    found = call("measure_motion", positions_m=[[0, 0, 0], [3, 4, 0], [3, 4, 10]], times_s=[0, 1, 3])
    assert found["displacement_m"] == pytest.approx(math.sqrt(125), abs=1e-3)
    assert (found["path_length_m"], found["average_speed_mps"]) == (15.0, 5.0)
    assert (found["speeds_mps"], found["accelerations_mps2"]) == ([5.0, 5.0], [0.0])
    assert found["first_heading_deg"] == pytest.approx(53.13, abs=1e-2)
    braking = call(
        "measure_motion", positions_m=[[0, 0], [8, 0], [8, 4]], times_s=[0, 1, 2], position_error_m=0.5
    )
    assert (braking["accelerations_mps2"], braking["average_acceleration_mps2"]) == ([-4.0], [-4.0][0])
    assert (braking["heading_change_deg"], braking["error_m"]) == (90.0, 1.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"positions_m": [[0, 0], [1, 0, 0]], "times_s": [0, 1]}, "two coordinates"),
        ({"positions_m": [[0, 0], [1, 0]], "times_s": [0]}, "List should have at least 2"),
        ({"positions_m": [[0, 0], [1, 0]], "times_s": [0, 1, 2]}, "2 positions but 3 times"),
        ({"positions_m": [[0, 0], [1, 0]], "times_s": [1, 1]}, "must rise"),
    ],
)
def test_motion_that_makes_no_sense_is_refused_in_words(arguments, words):
    assert words in call("measure_motion", **arguments)["error"]


@given(paths)
def test_no_path_is_shorter_than_its_displacement(path):
    assert path_length_m(path) >= displacement_m(path) - 1e-9


@given(path=paths, tolerance_m=st.floats(0.01, 50))
def test_a_simplified_path_stays_within_its_tolerance(path, tolerance_m):
    kept = simplified(path, tolerance_m)
    assert kept == sorted(set(kept))
    assert kept[0] == 0
    assert kept[-1] == len(path) - 1
    for first, last in itertools.pairwise(kept):
        for point in path[first : last + 1]:
            along = path[last] - path[first]
            share = np.clip((point - path[first]) @ along / (along @ along), 0, 1) if along @ along else 0.0
            assert np.linalg.norm(point - path[first] - share * along) <= tolerance_m + 1e-6


@given(paths)
def test_a_finer_tolerance_never_keeps_fewer_points(path):
    assert len(simplified(path, 0.1)) >= len(simplified(path, 10.0))


def test_a_drive_is_told_in_words():
    drive = [[float(x), 0.02 * (x % 2)] for x in range(31)] + [
        [30.0 + 1.7 * step, 20.0 * step] for step in (0.5, 1)
    ]
    told = call("describe_path", positions_m=drive, tolerance_m=0.5)
    assert told["words"] == "move forward 30m, then turn left 85°, then move forward 20.07m"
    assert in_words(legs_of(np.zeros((5, 2)), 0.1)) == "stay in place"
    back = call("describe_path", positions_m=[[0, 0], [5, 0], [1, 0.0]], tolerance_m=0.1)
    assert back["words"] == "move forward 5m, then turn left 180°, then move forward 4m"


@given(angles, angles, angles)
def test_yaw_pitch_and_roll_make_a_rotation_that_rounding_does_not_lose(yaw, pitch, roll):
    rotation = from_yaw_pitch_roll(yaw, pitch, roll)
    assert rotation @ rotation.T == pytest.approx(np.eye(3), abs=1e-9)
    assert np.linalg.det(rotation) == pytest.approx(1.0)
    mended = nearest_rotation(rotation.round(2))
    assert rotation_angle_deg(mended @ rotation.T) < 1.0


@given(angles, angles, angles, st.lists(metres, min_size=3, max_size=3))
def test_a_pose_and_its_inverse_cancel(yaw, pitch, roll, position):
    pose = Pose(position_m=np.array(position), rotation=from_yaw_pitch_roll(yaw, pitch, roll))
    same = pose.then(pose.inverse())
    assert same.position_m == pytest.approx(np.zeros(3), abs=1e-6)
    assert same.rotation == pytest.approx(np.eye(3), abs=1e-9)
    assert pose.seen_from(pose).position_m == pytest.approx(np.zeros(3), abs=1e-6)


@given(angles, angles)
def test_a_turn_about_the_vertical_is_a_change_of_azimuth(before, after):
    assume(abs(abs(signed_deg(after - before)) - 180) > 1e-3)
    poses = [Pose(position_m=np.zeros(3), rotation=from_yaw_pitch_roll(yaw, 0, 0)) for yaw in (before, after)]
    change = signed_deg(poses[1].azimuth_deg("x") - poses[0].azimuth_deg("x"))
    assert change == pytest.approx(signed_deg(after - before), abs=1e-6)


def test_steps_of_a_vehicle_add_up():
    start = {"position_m": [10.0, 0.0, 0.0], "yaw_deg": 90.0}
    moves = [{"position_m": [5.0, 0.0, 0.0], "yaw_deg": -90.0}, {"position_m": [2.0, 0.0, 1.0]}]
    found = call("compose_poses", start=start, moves=moves, forward="x")
    assert found["position_m"] == [12.0, 5.0, 1.0]
    assert (found["azimuth_change_deg"], found["turned_deg"]) == (-90.0, 90.0)
    assert found["moved_own_m"] == [5.0, -2.0, 1.0]


def test_published_poses_are_compared_and_bent_ones_refused():
    published = [[-0.4, -0.51, 0.76], [-0.92, 0.25, -0.32], [-0.03, -0.82, -0.56]]
    later = [[-0.46, -0.43, 0.78], [-0.89, 0.23, -0.4], [-0.01, -0.87, -0.49]]
    found = call(
        "compose_poses",
        start={"position_m": [1.36, 1.17, 1.36], "rotation": published},
        moves=[{"position_m": [1.23, 0.96, 1.36], "rotation": later}],
        frame="world",
    )
    assert found["moved_m"] == pytest.approx(0.247, abs=1e-3)
    assert found["azimuth_change_deg"] == pytest.approx(-4.4, abs=0.5)
    assert 0 < found["error_deg"] < 2
    mirrored = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]
    refused = call(
        "compose_poses",
        start={"position_m": [0, 0, 0], "rotation": mirrored},
        moves=[{"position_m": [0, 0, 0]}],
    )
    assert "start.rotation" in refused["error"]


@given(size_m=st.floats(0.1, 20), distance_m=st.floats(1, 500), focal_px=st.floats(200, 5000))
def test_the_pinhole_gives_back_each_of_its_three(size_m, distance_m, focal_px):
    extent_px = focal_px * size_m / distance_m
    whole = {"size_m": size_m, "distance_m": distance_m, "focal_px": focal_px}
    for name, value in whole.items():
        rest = {key: known for key, known in whole.items() if key != name}
        found = call("pinhole", extent_px=extent_px, **rest)
        assert found["found"] == name
        assert found[name] == pytest.approx(value, rel=1e-6, abs=1e-3)


def test_an_angle_of_view_is_a_focal_length():
    found = call("pinhole", extent_px=100, distance_m=10, fov_deg=90, image_width_px=1000)
    assert (found["focal_px"], found["size_m"]) == (500.0, 2.0)
    for bad in ({"size_m": 1}, {"size_m": 1, "distance_m": 1, "focal_px": 1}, {"size_m": 1, "fov_deg": 60}):
        assert "error" in call("pinhole", extent_px=100, **bad)


def test_boxes_and_points_are_measured_in_pixels():
    found = call("measure_image", points_px=[[0, 0], [3, 4], [3, 0]], boxes_px=[[0, 0, 2, 2], [1, 0, 2, 2]])
    assert found["distances_px"] == [5.0, 4.0]
    assert found["angles_deg"] == [53.13, 270.0]
    assert found["overlaps"] == [0.333]
    assert found["boxes"][0]["foot_px"] == [1.0, 2.0]
    for bad in ({}, {"points_px": [[0, 0]]}, {"boxes_px": [[0, 0, 0, 5]]}):
        assert "error" in call("measure_image", **bad)
