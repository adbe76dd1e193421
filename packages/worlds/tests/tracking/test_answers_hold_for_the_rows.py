"""What the rows say of who was seen where and when is what questions say, however odd a row is."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from gnomon.core.clock import day_span
from gnomon_published.benchmarks.gtr_bench.case import TASKS
from gnomon_worlds.tracking.asking import NO_ROADS, Asker, grid_of
from gnomon_worlds.tracking.build import Options, build
from gnomon_worlds.tracking.cleaning import clean
from gnomon_worlds.tracking.look import look_at
from gnomon_worlds.tracking.neutral_form import Boxes, Tracking
from gnomon_worlds.tracking.published_layouts import read_cityflow
from gnomon_worlds.tracking.sightings import is_followed, seen_of
from gnomon_worlds.tracking.site_world import place_of
from tests.tracking_folders import published, write_cityflow


def boxes_at(*rows: tuple[int, float]) -> Boxes:
    """Boxes of one target: camera, time."""
    return Boxes(
        camera=np.array([camera for camera, _ in rows], dtype=np.intp),
        target=np.zeros(len(rows), np.intp),
        frame=np.array([round(time_s * 10) for _, time_s in rows]),
        time_s=np.array([time_s for _, time_s in rows]),
        ltwh=np.tile([0.0, 0.0, 9.0, 9.0], (len(rows), 1)),
    )


def test_a_single_box_is_a_sighting_and_comes_between_others() -> None:
    first, glimpse, last = seen_of(boxes_at((0, 0.0), (0, 1.0), (1, 3.0), (2, 5.0), (2, 6.0)), 2.0)[0]
    assert (glimpse.camera, glimpse.start_s, glimpse.end_s) == (1, 3.0, 3.0)
    assert not is_followed((first, glimpse, last), (first, last))
    assert is_followed((first, last), (first, last))


def test_a_break_of_two_seconds_parts_nothing_and_a_second_look_soon_after_is_doubtful() -> None:
    (whole,) = seen_of(boxes_at((0, 0.0), (0, 2.0)), 2.0)[0]
    assert (whole.start_s, whole.end_s) == (0.0, 2.0)
    seen = seen_of(boxes_at((0, 0.0), (1, 4.0), (1, 7.0)), 2.0)[0]
    assert len(seen) == 3
    assert not is_followed(seen, seen[:2])


def test_frames_are_found_in_times_that_keep_to_them() -> None:
    assert grid_of(np.array([1.64, 1.74, 2.14])) == pytest.approx((1.64, 0.1))
    assert grid_of(np.array([0.0, 24.0, 41.0, 66.5, 66.9])) is None


@pytest.fixture(scope="module")
def tracking(tmp_path_factory: pytest.TempPathFactory) -> Tracking:
    folder = tmp_path_factory.mktemp("site")
    simulated = write_cityflow(folder, count=30, within_s=150.0)
    return read_cityflow(folder, scene=simulated.scene)


def with_glimpses(tracking: Tracking) -> Tracking:
    """Every target has a box more in each of five cameras that never saw it, long after all others."""
    boxes, cameras = tracking.boxes, len(tracking.cameras)
    more = []
    for target in range(len(tracking.targets)):
        seen = set(boxes.camera[boxes.target == target].tolist())
        more += [(camera, target) for camera in [c for c in range(cameras) if c not in seen][:5]]
    added = np.array(more, dtype=np.intp)
    end_s = boxes.time_s.max() + 100.0 * (1 + np.arange(len(added)) % 5)
    joined = Boxes(
        camera=np.concatenate([boxes.camera, added[:, 0]]),
        target=np.concatenate([boxes.target, added[:, 1]]),
        frame=np.concatenate([boxes.frame, np.full(len(added), 99_999)]),
        time_s=np.concatenate([boxes.time_s, end_s]),
        ltwh=np.concatenate([boxes.ltwh, np.tile([900.0, 600.0, 60.0, 60.0], (len(added), 1))]),
    )
    return replace(tracking, boxes=joined)


def test_a_camera_with_one_box_of_the_target_is_no_wrong_option(tracking: Tracking, tmp_path: Path) -> None:
    spoiled = with_glimpses(tracking)
    tasks = ("GeoLocation", "NextSpotForecasting", "TrajectoryForecasting")
    build(spoiled, tmp_path / "out", Options(limit=18, tasks=tasks))
    entries = published(tmp_path / "out")
    assert len(entries) >= 9
    place = {index: camera.id for index, camera in enumerate(tracking.cameras)}
    for entry in entries:
        (source,) = entry["sources"]
        target = tracking.targets.index(source["target"])
        saw = {place[camera] for camera in spoiled.boxes.camera[spoiled.boxes.target == target].tolist()}
        record = entry["record"]
        right = record.get("correct_cam_name") or [record["ground_truth"]]
        names = {dealt: name for name, dealt, *_ in source["sightings"]}
        wrong = [choice.partition(". ")[2] for choice in record["choices"] if choice not in right]
        assert not {names.get(camera) for camera in wrong} & saw


@pytest.fixture(scope="module")
def arrivals(tracking: Tracking, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, list[Any]]]:
    """Of each question about a time of arrival the true interval and all intervals."""
    out = tmp_path_factory.mktemp("arrivals")
    build(tracking, out, Options(limit=24, tasks=("ArrivalTimeInterval",)))
    return [
        (
            day_span(text_of(record["ground_truth"])),
            [day_span(text_of(choice)) for choice in record["choices"]],
        )
        for record in (entry["record"] for entry in published(out))
    ]


def text_of(choice: str) -> str:
    return choice.partition(". ")[2]


def test_wrong_times_lie_on_the_frames_of_the_asked_camera(arrivals: list[tuple[Any, list[Any]]]) -> None:
    assert arrivals
    for truth, spans in arrivals:
        for span in spans:
            steps = (np.array(span) - truth[0]) / 0.1
            assert np.abs(steps - steps.round()).max() < 0.03


def test_the_true_time_is_any_of_the_four(arrivals: list[tuple[Any, list[Any]]]) -> None:
    ranks = Counter(sorted(spans).index(truth) for truth, spans in arrivals)
    assert all(len(set(spans)) == 4 for _, spans in arrivals)
    assert len(ranks) >= 3, ranks


def test_without_roads_the_motion_between_two_views_is_not_asked(tmp_path: Path) -> None:
    write_cityflow(tmp_path, count=12, within_s=60.0)
    look = look_at(read_cityflow(tmp_path))
    place = place_of(
        look.tracking, look.calibrated, clean(look.tracking, look.ground).walkers, look.seen, seed=0
    )
    asker = Asker(look.tracking, place)
    trip = max(place.trips, key=lambda trip: len(trip.sightings))
    assert asker.ask("MotionState", Random(0), trip) == NO_ROADS
    passed_once = trip.part(range(1))
    assert asker.ask("MotionState", Random(0), passed_once) == NO_ROADS, "more cameras would not help"


def test_every_question_says_what_seen_means(tracking: Tracking, tmp_path: Path) -> None:
    build(tracking, tmp_path / "out", Options(limit=7))
    texts = [entry["record"]["question"] for entry in published(tmp_path / "out")]
    assert len(texts) >= len(TASKS) - 2
    assert all(
        "from its first box in the picture to its last. Breaks of up to 2 s count as seen." in t
        for t in texts
    )
