"""The digitised building of GTR-Bench: whole in itself, and in keeping with the published clips."""

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, permutations
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from shapely import Point, Polygon, union_all
from shapely.geometry.base import BaseGeometry

from gnomon_published.benchmarks.gtr_bench.case import Box, Case, Clip
from gnomon_published.benchmarks.gtr_bench.layout import Layout, find_layout, read_cases
from gnomon_published.benchmarks.gtr_bench.scenes import METRES_PER_PIXEL, PANEL_PX, indoor_scene
from gnomon_published.passages.stairs import in_view
from gnomon_tools.geometry.network import Network
from gnomon_tools.geometry.route import Path as Way
from gnomon_tools.scene.format import scene_from_json, scene_to_json
from gnomon_tools.scene.scene import Camera, Scene

FLOORS = (1, 2, 3)


@pytest.fixture
def scene() -> Scene:
    return indoor_scene(None)


def metres(x_px: float, y_px: float) -> tuple[float, float]:
    """A pixel of a floor's panel, as read from the published picture."""
    return x_px * METRES_PER_PIXEL, (PANEL_PX - y_px) * METRES_PER_PIXEL


def way(scene: Scene, start_px: tuple[float, float, int], end_px: tuple[float, float, int]) -> Way:
    """The shortest way between two pixels with their floors."""
    (*start, floor), (*end, to_floor) = start_px, end_px
    found = Network.of(scene).path(metres(*start), int(floor), metres(*end), int(to_floor))
    assert found is not None
    return found


def zone_ids(path: Way) -> list[str]:
    return [leg.id for leg in path.legs if leg.kind == "zone"]


def position(camera: Camera) -> tuple[float, float]:
    assert camera.xy_m is not None
    return camera.xy_m


def view(camera: Camera) -> Polygon:
    assert camera.field_of_view is not None
    return camera.field_of_view


def walkable(scene: Scene, floor: int) -> BaseGeometry:
    return union_all([zone.area for zone in scene.zones.values() if zone.floor == floor])


def test_the_scene_survives_its_own_format(scene: Scene) -> None:
    again = scene_from_json(scene_to_json(scene))
    assert (set(again.zones), set(again.portals)) == (set(scene.zones), set(scene.portals))
    assert set(again.cameras) == set(scene.cameras)


def test_zones_are_convex_and_do_not_overlap(scene: Scene) -> None:
    for zone in scene.zones.values():
        assert zone.area.convex_hull.area == pytest.approx(zone.area.area)
    for one, other in combinations(scene.zones.values(), 2):
        if one.floor == other.floor:
            assert one.area.intersection(other.area).area < 0.01, (one.id, other.id)


def test_every_zone_can_be_reached_from_every_other(scene: Scene) -> None:
    for one, other in permutations(scene.zones.values(), 2):
        start, end = one.area.centroid, other.area.centroid
        path = Network.of(scene).path((start.x, start.y), one.floor, (end.x, end.y), other.floor)
        assert path is not None, (one.id, other.id)
        straight_m = math.dist((start.x, start.y), (end.x, end.y))
        assert path.length_m >= straight_m - 1e-6


def test_a_door_lies_on_the_wall_of_both_its_zones(scene: Scene) -> None:
    for portal in scene.portals.values():
        if portal.kind == "door":
            assert portal.ends_m[0] == portal.ends_m[1]
            for zone in portal.zones:
                wall = scene.zones[zone].area.exterior
                assert wall.distance(Point(portal.ends_m[0])) < 0.01, (portal.id, zone)


def test_stairs_end_inside_their_zones_and_lead_up(scene: Scene) -> None:
    stairs = [portal for portal in scene.portals.values() if portal.kind == "stairs"]
    for portal in stairs:
        for zone, end_m in zip(portal.zones, portal.ends_m, strict=True):
            assert scene.zones[zone].area.contains(Point(end_m))
        low, high = (scene.zones[zone].floor for zone in portal.zones)
        assert low <= high
        assert portal.length_m > math.dist(*portal.ends_m)
    assert {portal.kind for portal in scene.portals.values()} == {"door", "stairs"}


def test_the_hall_is_as_long_as_the_picture_says(scene: Scene) -> None:
    path = way(scene, (136.5, 156, 1), (709.5, 155.5, 1))
    assert path.length_m == pytest.approx(573 / 11.2, abs=0.01)
    assert zone_ids(path) == ["hall-1"]


def test_the_way_out_of_the_hall_leads_through_its_wide_opening(scene: Scene) -> None:
    path = way(scene, (310, 142, 1), (310, 342, 1))
    assert path.length_m == pytest.approx(200 / 11.2, abs=0.01)
    assert zone_ids(path) == ["hall-1", "yard-1"]


def test_one_storey_of_the_west_stairs_is_as_long_as_its_parts(scene: Scene) -> None:
    path = way(scene, (107, 241, 1), (139, 242, 2))
    stairs_m = [leg.length_m for leg in path.legs if leg.kind == "stairs"]
    assert stairs_m == [8.0, 3.5, 3.5, 7.0]
    assert path.length_m == pytest.approx(sum(stairs_m) + 10.9, abs=0.1)
    assert path.floors == (1, 2)


def test_the_store_is_reached_by_the_east_stairs(scene: Scene) -> None:
    path = way(scene, (710, 150, 2), (660, 200, 3))
    assert zone_ids(path) == ["hall-2", "stairwell-east-2", "stairwell-east-3", "store-3"]
    assert "stairs-east-2-3" in path.via


def test_a_stair_camera_looks_at_the_flights_below_its_floor(scene: Scene) -> None:
    for camera_id, side in (("c03", "west"), ("c11", "east")):
        seen = view(scene.cameras[camera_id])
        for part in ("low", "middle", "high"):
            assert seen.intersects(scene.zones[f"landing-{side}-{part}-2"].area)
        shown = in_view(scene, 2, seen)
        assert {f"stairs-{side}-low-middle", f"stairs-{side}-middle-high"} <= set(shown)


def test_cameras_and_their_views_lie_on_the_zones_of_their_floor(scene: Scene) -> None:
    ground = {floor: walkable(scene, floor) for floor in FLOORS}
    for camera in scene.cameras.values():
        floor = ground[camera.floor]
        assert floor.distance(Point(position(camera))) <= camera.position_error_m, camera.id
        on_floor = view(camera).intersection(floor).area / view(camera).area
        assert on_floor > 0.65, (camera.id, on_floor)


def test_views_overlap_in_the_halls_and_the_yard_and_at_open_doors(scene: Scene) -> None:
    pairs = {
        (one.id, other.id)
        for one, other in combinations(scene.cameras.values(), 2)
        if one.floor == other.floor and view(one).intersects(view(other))
    }
    halls = {("c01", "c05"), ("c02", "c04"), ("c09", "c14"), ("c09", "c16"), ("c14", "c16")}
    assert pairs == halls | {("c07", "c08"), ("c12", "c13")}


def _clips(layout: Layout) -> set[Clip]:
    return {clip for case in _indoor(layout) for clip in case.clips}


def _indoor(layout: Layout) -> list[Case]:
    return [case for case in read_cases(layout)[0] if case.scene == "indoor"]


def _foot_m(camera: Camera, box: Box) -> tuple[float, float]:
    """Where the foot point stands; the middle of the view of a camera without homography."""
    if camera.homography is None:
        centre = view(camera).centroid
        return centre.x, centre.y
    left, top, width, height = box
    x, y, scale = camera.homography @ np.array((left + width / 2, top + height, 1.0))
    return float(x / scale), float(y / scale)


def _published_scene(layout: Layout) -> Scene:
    if not layout.homographies.is_file():
        pytest.skip("no homographies in this copy of the data")
    return indoor_scene(layout.homographies)


def test_people_on_level_floors_stand_inside_the_zones(gtr_dir: Path) -> None:
    layout = find_layout(gtr_dir)
    scene = _published_scene(layout)
    near = {floor: walkable(scene, floor).buffer(1.0) for floor in FLOORS}
    inside: dict[str, list[bool]] = defaultdict(list)
    for clip in _clips(layout):
        camera = scene.cameras[clip.camera_id]
        for box in clip.bboxes if camera.homography is not None else ():
            if 0 <= box[0] + box[2] / 2 <= 1920 and 0 <= box[1] + box[3] <= 1080:
                inside[camera.id].append(near[camera.floor].contains(Point(_foot_m(camera, box))))
    assert inside
    for camera_id, found in inside.items():
        least = 0.6 if camera_id == "c08" else 0.9  # c08 sees feet on a flight, above the plane of its floor
        assert np.mean(found) > least, (camera_id, sum(found), len(found))


def _hops(scene: Scene, layout: Layout) -> Iterator[tuple[float, float]]:
    """Metres and seconds from the end of a target's first clip to the start of its next in another view."""
    for case in _indoor(layout):
        if case.task.short not in ("GL", "ATI", "MS"):
            continue
        first, last = sorted(case.clips, key=lambda clip: clip.start_s)
        one, other = scene.cameras[first.camera_id], scene.cameras[last.camera_id]
        gap_s = last.start_s - first.end_s
        if one.id != other.id and gap_s > 0:
            start_m, end_m = _foot_m(one, first.bboxes[-1]), _foot_m(other, last.bboxes[0])
            path = Network.of(scene).path(start_m, one.floor, end_m, other.floor)
            assert path is not None
            yield path.length_m, gap_s


def test_people_walk_from_view_to_view_at_walking_speed(gtr_dir: Path) -> None:
    layout = find_layout(gtr_dir)
    speeds_mps = [length_m / gap_s for length_m, gap_s in _hops(_published_scene(layout), layout)]
    assert 0.6 < median(speeds_mps) < 1.5
    assert np.mean([speed > 2.5 for speed in speeds_mps]) < 0.05
    assert np.mean([speed < 0.2 for speed in speeds_mps]) < 0.1
