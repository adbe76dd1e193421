"""Fields of view: sectors, who sees what, and where a path is seen."""

import math
from itertools import pairwise

import numpy as np
import pytest
import shapely
from hypothesis import example, given
from hypothesis import strategies as st
from shapely import LineString, Polygon, box

from gnomon_tools.geometry.angles import bearing_deg, turn_deg
from gnomon_tools.geometry.field_of_view import (
    Crossed,
    CrossedConvex,
    arcs,
    crossed,
    crossings,
    crossings_of_each,
    fields_containing,
    sector,
    view_of,
    views,
)
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Camera, Scene


def test_of_no_view_there_is_no_arc() -> None:
    assert arcs([]) == []


metres = st.floats(-200, 200)
points = st.tuples(metres, metres)


@given(points, st.floats(0, 360), st.floats(1, 359), st.floats(1, 200), points)
def test_a_sector_holds_what_is_near_enough_and_within_its_angle(apex, heading, fov, range_m, point):
    distance = math.dist(apex, point)
    if distance < 1e-6:
        return
    off_axis = abs(turn_deg(heading, bearing_deg(apex, point)))
    area = sector(apex, heading, fov, range_m)
    # Between the chords and the arc, and a hair from the edges, either answer is right.
    if distance < range_m * 0.999 and off_axis < fov / 2 - 0.01:
        assert area.intersects(shapely.Point(point))
    if distance > range_m * 1.0001 or off_axis > fov / 2 + 0.01:
        assert area.distance(shapely.Point(point)) > 0


@given(st.floats(0, 360), st.floats(1, 360), st.floats(1, 200))
def test_a_sector_has_nearly_the_area_of_the_true_one(heading, fov, range_m):
    true_m2 = math.radians(fov) / 2 * range_m**2
    area_m2 = sector((3, 4), heading, fov, range_m).area
    assert 0.999 * true_m2 < area_m2 <= true_m2 * (1 + 1e-9)


def test_a_full_turn_is_a_disc_without_a_slit():
    disc = sector((0, 0), 0, 360, 10)
    assert disc.is_valid
    assert disc.contains(shapely.Point(0, -9.9))


@pytest.mark.parametrize(
    ("fov", "range_m"), [(0, 10), (361, 10), (60, 0), (60, -1), (60, math.inf), (math.nan, 10)]
)
def test_impossible_sectors_are_refused(fov, range_m):
    with pytest.raises(ValueError, match="fov_deg must be"):
        sector((0, 0), 0, fov, range_m)


def test_a_given_polygon_comes_before_the_sector():
    area = box(0, 0, 1, 1)
    camera = Camera(id="c", xy_m=(0, 0), heading_deg=0, fov_deg=60, range_m=9, field_of_view=area)
    assert view_of(camera) is area


def test_a_camera_of_which_too_little_is_known_has_no_view():
    assert view_of(Camera(id="c", xy_m=(0, 0), heading_deg=0, fov_deg=60)) is None


def _scene(count: int, seed: int) -> Scene:
    rng = np.random.default_rng(seed)
    cameras = [
        Camera(
            id=f"c{index}",
            xy_m=tuple(rng.uniform(0, 300, 2).tolist()),
            floor=int(rng.integers(0, 2)),
            heading_deg=float(rng.uniform(0, 360)),
            fov_deg=70,
            range_m=60,
        )
        for index in range(count)
    ]
    return Scene(id="s", frame=Frame(), kind="outdoor", cameras={camera.id: camera for camera in cameras})


@given(st.integers(0, 10_000), st.integers(0, 40), st.integers(1, 60))
def test_many_points_at_once_are_seen_as_each_alone(seed, cameras, count):
    scene = _scene(cameras, seed)
    cloud = np.random.default_rng(seed + 1).uniform(-20, 320, (count, 2))
    seen = fields_containing(scene, cloud, 0)
    for camera in scene.cameras.values():
        view = view_of(camera)
        alone = [
            index
            for index, point in enumerate(cloud)
            if camera.floor == 0 and view.intersects(shapely.Point(point))
        ]
        assert seen.get(camera.id, np.array([])).tolist() == alone


def test_the_edge_of_a_view_belongs_to_it():
    scene = Scene(
        id="s",
        frame=Frame(),
        kind="outdoor",
        cameras={"c": Camera(id="c", field_of_view=box(0, 0, 2, 2))},
    )
    assert fields_containing(scene, np.array([[2.0, 1.0], [2.1, 1.0]]))["c"].tolist() == [0]


def test_a_scene_without_views_sees_nothing():
    empty = Scene(id="s", frame=Frame(), kind="outdoor")
    assert fields_containing(empty, np.zeros((3, 2))) == {}
    assert views(empty, 0).cameras == ()


@given(st.lists(points, min_size=2, max_size=8), points, st.floats(0, 360), st.floats(10, 300))
def test_crossings_are_the_length_of_path_inside(path, apex, heading, range_m):
    area = sector(apex, heading, 80, range_m)
    stretches = crossings(path, area)
    inside_m = sum(LineString(piece).intersection(area).length for piece in pairwise(path))
    assert math.isclose(sum(b - a for a, b in stretches), inside_m, abs_tol=1e-3)
    assert all(a < b for a, b in stretches)
    assert all(first[1] < second[0] for first, second in pairwise(stretches))


def piece_by_piece(path, area):
    """The crossings by the definition: each straight piece with the area, one after the other."""
    stretches, gone_m = [], 0.0
    for start, end in pairwise(path):
        piece = LineString([start, end])
        if start != end and piece.intersects(area):
            for part in shapely.get_parts(piece.intersection(area)):
                along_m = gone_m + np.hypot(*(shapely.get_coordinates(part) - np.array(start)).T)
                if along_m.size:  # a piece of 1e-309 m meets an area in a part without points
                    stretches.append((along_m.min(), along_m.max()))
        gone_m += np.hypot(*(np.array(end) - np.array(start)))
    merged = []
    for enters_m, leaves_m in sorted(stretches):
        if merged and enters_m <= merged[-1][1] + 1e-6:
            merged[-1] = (merged[-1][0], max(merged[-1][1], leaves_m))
        else:
            merged.append((enters_m, leaves_m))
    return [(enters_m, leaves_m) for enters_m, leaves_m in merged if leaves_m - enters_m > 1e-6]


@given(
    st.lists(points, min_size=2, max_size=8),
    st.lists(st.tuples(points, st.floats(0, 360), st.floats(10, 300)), max_size=5),
)
@example([(21.0, 0.0), (21.0, 7.1e-310)], [])
def test_crossings_of_many_areas_at_once_are_those_of_each_piece_to_the_last_bit(path, cameras):
    ring = box(-50, -50, 50, 50).difference(box(-20, -20, 20, 20))
    areas = [ring, *(sector(apex, heading, 80, range_m) for apex, heading, range_m in cameras)]
    expected = [piece_by_piece(path, area) for area in areas]
    assert crossings_of_each(path, areas) == expected
    assert [crossings(path, area) for area in areas] == expected
    assert crossings_of_each(path, []) == []


@given(
    st.lists(points, min_size=2, max_size=8),
    st.lists(st.tuples(points, st.floats(0, 360), st.floats(10, 300)), min_size=1, max_size=5),
)
@example([(0.0, 0.0), (0.0, 0.0)], [((0.0, 0.0), 0.0, 10.0)])
def test_areas_without_dents_are_crossed_in_plain_numbers_as_by_geos(path, cameras):
    areas = [sector(apex, heading, 80, range_m) for apex, heading, range_m in cameras]
    assert isinstance(crossed(areas), CrossedConvex)
    for ours, theirs in zip(crossed(areas).by(path), Crossed(areas).by(path), strict=True):
        assert sum(b - a for a, b in ours) == pytest.approx(sum(b - a for a, b in theirs), abs=1e-5)
        if len(ours) == len(theirs):  # a stretch of a micrometre may be a touch
            assert np.array(ours) == pytest.approx(np.array(theirs), abs=1e-5)


def test_an_area_with_a_dent_or_a_hole_is_left_to_geos():
    ring = box(-50, -50, 50, 50).difference(box(-20, -20, 20, 20))
    wide = sector((0, 0), 0, 270, 30)
    for area in (ring, wide):
        assert not isinstance(crossed([sector((0, 0), 0, 80, 30), area]), CrossedConvex)


def test_a_path_that_crosses_itself_is_measured_along_its_way():
    loop = [(0, 0), (10, 0), (10, 10), (5, 10), (5, -10)]
    assert crossings(loop, box(4, -1, 6, 1)) == [(4, 6), (34, 36)]


def test_a_corner_inside_does_not_split_a_stretch():
    assert crossings([(-5, 0), (0, 0), (0, 5)], box(-1, -1, 1, 1)) == [(4, 6)]


def test_a_touch_is_no_stretch():
    assert crossings([(-5, 1), (5, 1)], Polygon([(0, 1), (-1, 2), (1, 2)])) == []


def test_a_hole_splits_a_stretch():
    ring = box(0, -5, 10, 5).difference(box(4, -1, 6, 1))
    assert crossings([(-1, 0), (11, 0)], ring) == [(1, 5), (7, 11)]


@pytest.mark.parametrize("path", [[], [(0, 0)], [(0, 0), (0, 0)]])
def test_a_path_that_goes_nowhere_has_no_stretches(path):
    assert crossings(path, box(-1, -1, 1, 1)) == []


def test_no_path_crosses_an_area_that_is_empty_and_the_others_are_cut_as_before():
    square, path = box(0, 0, 10, 10), [(-5.0, 5.0), (15.0, 5.0)]
    areas = crossed([Polygon(), square])
    assert isinstance(areas, CrossedConvex)
    assert areas.by(path) == [[], [(5.0, 15.0)]]


def test_a_path_of_no_point_or_one_crosses_nothing():
    assert crossings([], box(-1, -1, 1, 1)) == crossings([(0, 0)], box(-1, -1, 1, 1)) == []


def test_nothing_crosses_an_area_that_is_empty():
    assert crossings([(0, 0), (5, 0)], Polygon()) == []
