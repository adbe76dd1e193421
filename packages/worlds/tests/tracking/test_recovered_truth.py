"""Simulated CityFlow and MTMMC folders through the pipeline: paths and answers against the exact movement."""

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from gnomon.core.clock import NOON_S, day_span
from gnomon_tools.geometry.angles import EIGHTHS
from gnomon_worlds.tracking.build import Options, build
from gnomon_worlds.tracking.calibration import calibrate, project
from gnomon_worlds.tracking.cleaning import clean
from gnomon_worlds.tracking.neutral_form import Tracking
from gnomon_worlds.tracking.published_layouts import read_cityflow, read_mtmmc
from gnomon_worlds.trajectory import Sighting, Trip
from gnomon_worlds.walks import between
from tests.tracking_folders import Simulated, published, write_cityflow, write_mtmmc

AGREE = 0.95  # share of the questions whose truth is the world's
OVERLAP = 0.8  # of a true interval with the exact one


@pytest.fixture(scope="module", params=["cityflow", "mtmmc"])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Simulated, Tracking]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "cityflow":
        simulated = write_cityflow(folder)
        return simulated, read_cityflow(folder, scene=simulated.scene)
    simulated = write_mtmmc(folder)
    return simulated, read_mtmmc(folder, scene=simulated.scene)


def world_names(simulated: Simulated, tracking: Tracking) -> dict[str, str]:
    """The world's camera by the data set's name: CityFlow numbers them anew, in their order."""
    ours = sorted(simulated.world.scene.cameras)
    if tracking.kind == "indoor":
        return {camera: camera for camera in ours}
    return {f"c{number:03d}": camera for number, camera in enumerate(ours, start=1)}


def exact(taken: Trip, camera: str) -> Sighting | None:
    return next((sighting for sighting in taken.sightings if sighting.camera == camera), None)


def iou(first: tuple[float, float], second: tuple[float, float]) -> float:
    shared = max(0.0, min(first[1], second[1]) - max(first[0], second[0]))
    return shared / (max(first[1], second[1]) - min(first[0], second[0]))


def span_s(option: str) -> tuple[float, float]:
    span = day_span(option.partition(". ")[2] or option)
    assert span is not None
    return span[0] - NOON_S, span[1] - NOON_S


def agrees(entry: dict[str, Any], simulated: Simulated, cameras: dict[str, str]) -> bool:
    """Whether the truth of a question is that of the exact movement of the target that its files name."""
    record = entry["record"]
    real = {dealt: cameras[name] for source in entry["sources"] for name, dealt, *_ in source["sightings"]}
    taken = [simulated.trips[(int(source["target"]) - 1) % 500] for source in entry["sources"]]
    order = [sighting.camera for sighting in taken[0].sightings]
    shown = [real[clip["camera_id"]] for clip in record["camera_images"]]
    if entry["task"] == "CausalReordering":
        right = [real[name] for name in record["ground_truth"].partition(". ")[2].split(" → ")]
        return [camera for camera in order if camera in right] == right
    if entry["task"] == "MultiTargetTrajectoryForecasting":
        camera = real[record["correct_cam_name"][0].partition(". ")[2]]
        both = [exact(one, camera) for one in taken]
        if not all(both):
            return False
        met = max(one.start_s for one in both if one), min(one.end_s for one in both if one)
        return met[0] < met[1] and iou(span_s(record["correct_time_str"][0]), met) >= 0.6
    if "correct_cam_name" in record:
        right = [real[name.partition(". ")[2]] for name in record["correct_cam_name"]]
        first = order.index(shown[-1]) + 1 if shown[-1] in order else len(order)
        stays = [exact(taken[0], camera) for camera in right]
        return order[first : first + len(right)] == right and all(
            stay is not None and iou(span_s(text), (stay.start_s, stay.end_s)) >= OVERLAP
            for text, stay in zip(record["correct_time_str"], stays, strict=True)
        )
    start, end = (exact(taken[0], camera) for camera in shown)
    if start is None or end is None:
        return False
    if entry["task"] == "MotionState":
        runs = between(taken[0].journey, start.end_s, end.start_s)
        told = record["ground_truth"].partition(": ")[2]
        ways = [part.split()[2].rstrip(".") for part in told.split(", then ")]
        return runs is not None and [EIGHTHS[run.direction] for run in runs] == ways
    middle = exact(taken[0], real[record["middle_point"]["camera_id"]])
    if middle is None or not start.end_s < middle.start_s < end.start_s:
        return False
    if entry["task"] == "GeoLocation":
        return real.get(record["ground_truth"].partition(". ")[2]) == middle.camera
    overlaps = {option: iou(span_s(option), (middle.start_s, middle.end_s)) for option in record["choices"]}
    return (
        max(overlaps, key=overlaps.__getitem__) == record["ground_truth"]
        and max(overlaps.values()) >= OVERLAP
    )


def test_the_questions_truth_is_that_of_the_movement(
    site: tuple[Simulated, Tracking], tmp_path: Path
) -> None:
    simulated, tracking = site
    report = build(tracking, tmp_path / "out", Options(limit=70))
    entries = published(tmp_path / "out")
    cameras = world_names(simulated, tracking)
    right = [agrees(entry, simulated, cameras) for entry in entries]
    wrong = Counter(entry["task"] for entry, is_right in zip(entries, right, strict=True) if not is_right)
    assert len(entries) == report["published"]["published"] >= 40
    assert sum(right) >= AGREE * len(right), wrong
    kept = {task for task, counts in report["tasks"].items() if counts["kept"]}
    assert len(kept) >= 6, report["tasks"]


def test_paths_are_recovered_within_a_metre_or_less(site: tuple[Simulated, Tracking]) -> None:
    simulated, tracking = site
    calibrated, _ = calibrate(tracking)
    cleaned = clean(tracking, project(tracking, calibrated))
    cameras = world_names(simulated, tracking)
    errors_m: list[float] = []
    for walker in cleaned.walkers:
        taken = simulated.trips[(int(walker.target) - 1) % 500]
        for stay in walker.stays:
            sighting = exact(taken, cameras[tracking.cameras[stay.camera].id])
            if sighting is None or abs(sighting.start_s - stay.start_s) > 1.0:
                continue  # a switched identity: another's stay
            there_m = np.array([taken.journey.at(float(time_s)).xy_m for time_s in stay.times_s])
            errors_m += np.linalg.norm(stay.xy_m - there_m, axis=1).tolist()
    middle, most = np.quantile(errors_m, (0.5, 0.95))
    assert len(errors_m) > 2000
    assert middle < (0.25 if tracking.kind == "outdoor" else 0.1)
    assert most < (1.0 if tracking.kind == "outdoor" else 0.3)


def test_the_cameras_hang_where_the_world_hung_them(tmp_path: Path) -> None:
    simulated = write_cityflow(tmp_path, count=6)
    tracking = read_cityflow(tmp_path, scene=simulated.scene)
    calibrated, without = calibrate(tracking)
    assert without == []
    for name, camera in world_names(simulated, tracking).items():
        eye_m = calibrated[name].eye_m
        assert eye_m is not None
        assert np.hypot(*np.subtract(eye_m, simulated.world.installation.mounts[camera].xy_m)) < 0.05


def test_without_roads_they_are_drawn_from_view_to_view(tmp_path: Path) -> None:
    write_cityflow(tmp_path / "in", count=25, within_s=120.0)
    report = build(read_cityflow(tmp_path / "in"), tmp_path / "out", Options(limit=14))
    assert report["place"]["roads"] == "straight lines between the views"
    assert report["published"]["published"] >= 7
    assert (tmp_path / "out/data/outdoor/map/S01.png").read_bytes().startswith(b"\x89PNG")


def test_a_site_with_few_cameras_gets_synthetic_ones_that_are_never_right(tmp_path: Path) -> None:
    few = [f"c{number:03d}" for number in range(1, 17, 2)]
    simulated = write_cityflow(tmp_path / "in", count=40, cameras=few)
    report = build(read_cityflow(tmp_path / "in", scene=simulated.scene), tmp_path / "out", Options(limit=70))
    assert report["place"]["cameras"] + report["place"]["synthetic"] == 12
    names = {camera for source in published(tmp_path / "out") for camera in _right_cameras(source["record"])}
    cameras = json.loads((tmp_path / "out/build/cameras.json").read_text())
    assert names <= set(cameras["cameras"])
    assert not names & set(cameras["synthetic"])


def _right_cameras(record: Any) -> list[str]:
    if "correct_cam_name" in record:
        return [name.partition(". ")[2] for name in record["correct_cam_name"]]
    return [record["ground_truth"].partition(". ")[2]] if record["task_id"] == "GeoLocation" else []


def test_the_same_inputs_make_the_same_files_however_often_they_are_cut_off(tmp_path: Path) -> None:
    simulated = write_cityflow(tmp_path / "in", count=12, within_s=60.0)
    tracking = read_cityflow(tmp_path / "in", scene=simulated.scene)
    options = Options(limit=14, seed=3)
    build(tracking, tmp_path / "whole", options)
    journal = tmp_path / "whole/build/questions.ndjson"
    lines = journal.read_text()
    cut = tmp_path / "cut/build/questions.ndjson"
    cut.parent.mkdir(parents=True)
    cut.write_text(lines[: int(len(lines) * Random(1).uniform(0.3, 0.7))])
    build(tracking, tmp_path / "cut", options)
    whole = {
        path.relative_to(tmp_path / "whole"): path.read_bytes() for path in (tmp_path / "whole").rglob("*.*")
    }
    again = {
        path.relative_to(tmp_path / "cut"): path.read_bytes() for path in (tmp_path / "cut").rglob("*.*")
    }
    assert whole == again
