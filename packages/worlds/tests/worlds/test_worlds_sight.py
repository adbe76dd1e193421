"""What hides from cameras and what their clocks say."""

import math
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import shapely
from hypothesis import given
from hypothesis import strategies as st
from shapely import LineString, Point

from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.gtr_bench.audit.shown_question import seen_in_files
from gnomon_published.benchmarks.gtr_bench.case import case_from_json
from gnomon_published.benchmarks.gtr_bench.prompt import guarded_parts
from gnomon_published.solver.clips.question import read_question
from gnomon_tools.geometry.network import Network
from gnomon_worlds.benchmarks.worlds import worlds
from gnomon_worlds.buildings import visible
from gnomon_worlds.camera_model import OFF_S, Mount
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.outdoor import MASTS_M
from gnomon_worlds.sample_making import Drawn, draw, world_of
from gnomon_worlds.sample_numbers import Number
from gnomon_worlds.world import World

SEED = 11
HIDDEN = WorldOptions(sight="occluded")
APART = WorldOptions(clocks="apart")


def town(round_: int = 0) -> World:
    return world_of(SEED, "outdoor", round_, options=HIDDEN)


@cache
def questions(options: WorldOptions) -> tuple[Drawn, ...]:
    return tuple(draw(Number(SEED, k, options=options)) for k in range(28))


def lens_sees(mount: Mount, x_m: float, y_m: float) -> bool:
    """Whether the ground there is in the picture, between its sides, and no farther than the range."""
    u, v, depth_m = mount.pixel((x_m, y_m))
    if depth_m <= 0:
        return False
    width, height = mount.image_size
    off_deg = abs(
        (math.degrees(math.atan2(x_m - mount.xy_m[0], y_m - mount.xy_m[1])) - mount.heading_deg + 180) % 360
        - 180
    )
    away_m = math.dist(mount.xy_m, (x_m, y_m))
    return (
        0 <= u <= width
        and 0 <= v <= 0.97 * height
        and off_deg <= mount.fov_deg / 2
        and away_m <= mount.range_m
    )


def test_a_camera_sees_what_its_lens_sees_and_no_wall_hides() -> None:
    rng, agreed, hidden = Random(0), 0, 0
    for round_ in range(2):
        world = town(round_)
        walls = shapely.STRtree([building.area for building in world.buildings])
        for camera in world.scene.cameras.values():
            view, mount = camera.field_of_view, world.installation.mounts[camera.id]
            assert view is not None
            for _ in range(150):
                away_m, turn = rng.uniform(0, 70), math.radians(mount.heading_deg + rng.uniform(-50, 50))
                x_m, y_m = mount.xy_m[0] + away_m * math.sin(turn), mount.xy_m[1] + away_m * math.cos(turn)
                sight = LineString([mount.xy_m, (x_m, y_m)])
                is_free = len(walls.query(sight, predicate="intersects")) == 0
                is_seen = is_free and lens_sees(mount, x_m, y_m)
                hidden += lens_sees(mount, x_m, y_m) and not is_free
                if view.boundary.distance(Point(x_m, y_m)) > 0.25:
                    assert view.contains(Point(x_m, y_m)) == is_seen
                    agreed += 1
    assert agreed > 3_000
    assert hidden > 100


@given(st.integers(0, 10**6))
def test_what_walls_leave_is_what_straight_sight_lines_reach(seed: int) -> None:
    rng = Random(seed)
    view = Point(0, 0).buffer(50, quad_segs=32)
    walls = []
    for _ in range(rng.randint(1, 5)):
        away, turn = rng.uniform(12, 40), rng.uniform(0, 2 * math.pi)
        middle = Point(away * math.cos(turn), away * math.sin(turn))
        walls.append(
            shapely.affinity.rotate(
                shapely.box(middle.x - 4, middle.y - 3, middle.x + 4, middle.y + 3), rng.uniform(0, 90)
            )
        )
    left = visible(view, (0.0, 0.0), walls)
    if left.is_empty:
        return
    for _ in range(60):
        away, turn = rng.uniform(1, 49), rng.uniform(0, 2 * math.pi)
        at = Point(away * math.cos(turn), away * math.sin(turn))
        if left.boundary.distance(at) > 1e-6:
            assert left.contains(at) == (not any(LineString([(0, 0), at]).intersects(wall) for wall in walls))


def test_masts_are_lower_than_roofs_and_lenses_differ() -> None:
    world = town()
    assert min(building.height_m for building in world.buildings) > MASTS_M[1]
    assert len({round(mount.fov_deg, -1) for mount in world.installation.mounts.values()}) > 1
    for building in world.buildings:
        for road in world.scene.roads.values():
            assert building.area.distance(road.line) > 7


def test_a_clip_never_shows_its_target_behind_a_wall() -> None:
    for drawn in questions(HIDDEN):
        walls = [building.area for building in drawn.world.buildings]
        for trip, sighting in drawn.question.clip_sightings:
            mount = drawn.world.installation.mounts[sighting.camera]
            for share in np.linspace(0.01, 0.99, 5):
                at = trip.journey.at(sighting.start_s + share * sighting.stay_s).xy_m
                sight = LineString([mount.xy_m, at])
                assert not any(sight.crosses(wall) for wall in walls)


def test_a_town_without_walls_has_none() -> None:
    assert not world_of(SEED, "outdoor", 0).buildings
    assert not world_of(SEED, "indoor", 0, options=HIDDEN).buildings


def test_clips_go_by_their_cameras_clock_and_options_by_the_true_time() -> None:
    for drawn in questions(APART):
        off_s = drawn.world.clocks_s
        assert off_s.keys() == drawn.world.scene.cameras.keys()
        assert max(map(abs, off_s.values())) <= OFF_S
        for clip, (_, sighting) in zip(
            drawn.record["camera_images"], drawn.question.clip_sightings, strict=True
        ):
            assert abs(clip["start_timestamp"] - sighting.start_s - off_s[sighting.camera]) < 0.0011
        is_told = all(f"{camera} {by_s:+.1f}" in drawn.record["question"] for camera, by_s in off_s.items())
        assert is_told == (drawn.question.task_id != "CausalReordering")


def test_the_reference_reads_the_clocks_and_corrects_them() -> None:
    for drawn in questions(APART):
        if drawn.question.task_id == "CausalReordering":
            continue
        case = case_from_json(drawn.record, drawn.world.scene.kind)
        text = "\n".join(part.content for part in guarded_parts(case, None) if isinstance(part.content, str))
        read = read_question([{"role": "user", "content": text}])
        for clip, (_, sighting) in zip(read.clips, drawn.question.clip_sightings, strict=True):
            assert clip.start_s is not None
            assert abs(clip.start_s - 43_200 - sighting.start_s) < 0.0021


def test_rules_of_thumb_read_the_clocks_and_correct_them(tmp_path: Path) -> None:
    select = Select(limit=28, seed=SEED, world={"clocks": "apart"})
    samples = worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    for number, ref in enumerate(samples.refs):
        true = [sighting for _, sighting in questions(APART)[number].question.clip_sightings]
        shown = seen_in_files(samples.get(ref.sample_id)).clips
        for clip, sighting in zip(shown, true, strict=True):
            assert clip.span_s is not None
            is_withheld = ref.task == "CausalReordering"
            assert is_withheld or abs(clip.span_s[0] - 43_200 - sighting.start_s) < 0.0021


def test_buildings_of_several_plans_have_up_to_six_floors_bridges_and_atriums() -> None:
    several = WorldOptions(buildings="several")
    floors, cores = set(), set()
    for round_ in range(24):
        scene = world_of(SEED, "indoor", round_, options=several).scene
        by_floor: dict[int, list[str]] = {}
        for zone in scene.zones.values():
            by_floor.setdefault(zone.floor, []).append(zone.name.split(" ")[0])
        floors.add(len(by_floor))
        inner = [names.count("Hall") for names in by_floor.values()]
        bridges = [names.count("Passage") for names in by_floor.values()]
        cores.add(
            "yard"
            if min(bridges) == 0 or max(bridges) == 1
            else "atrium"
            if inner[0] > 1 and not sum(inner[1:])
            else "rooms"
        )
        assert len(scene.cameras) == 6 * len(by_floor)
    assert floors >= {1, 2, 3, 4, 5, 6}
    assert cores == {"yard", "atrium", "rooms"}


def test_every_room_of_every_building_can_be_reached() -> None:
    several = WorldOptions(buildings="several")
    for round_ in range(6):
        world = world_of(SEED, "indoor", round_, options=several)
        network = Network.of(world.scene)
        start = world.ends[0]
        for end in world.ends[1:]:
            assert network.path(start.xy_m, start.floor, end.xy_m, end.floor)
