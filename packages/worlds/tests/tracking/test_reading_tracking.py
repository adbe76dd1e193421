"""Reading tracking: the neutral form there and back, published layouts, faults by file, line and field."""

import csv
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
import yaml

from gnomon.core.errors import DataError, SpecError
from gnomon_analyses.reviews.decisions import Decision
from gnomon_published.homography import to_image
from gnomon_worlds.tracking.build import Options, build
from gnomon_worlds.tracking.calibration import calibrate, foot_points, on_ground, project
from gnomon_worlds.tracking.look import look_at
from gnomon_worlds.tracking.neutral_form import Lens, Track, Tracking, read_tracking
from gnomon_worlds.tracking.published_layouts import read_cityflow, read_mtmmc, read_point_pairs
from tests.tracking_folders import NONE, write_cityflow, write_example, write_mtmmc, write_tracking

ROOT = Path(__file__).parents[4]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?")


@pytest.fixture(scope="module")
def cityflow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cityflow(tmp_path_factory.mktemp("in"), count=5, within_s=30.0, faults=NONE).folder


@pytest.fixture
def neutral(cityflow: Path, tmp_path: Path) -> Path:
    write_tracking(read_cityflow(cityflow, scene=cityflow / "roads.geojson"), tmp_path / "site")
    return tmp_path / "site"


def same(first: Tracking, second: Tracking) -> None:
    assert [camera.id for camera in first.cameras] == [camera.id for camera in second.cameras]
    order = [np.lexsort((t.boxes.frame, t.boxes.camera, t.boxes.ltwh[:, 0])) for t in (first, second)]
    for name in ("camera", "frame", "time_s", "ltwh"):
        left, right = (getattr(t.boxes, name)[rows] for t, rows in zip((first, second), order, strict=True))
        assert np.allclose(left, right)
    names = [
        np.array(t.targets)[t.boxes.target[rows]] for t, rows in zip((first, second), order, strict=True)
    ]
    assert (names[0] == names[1]).all()


def test_the_neutral_form_is_read_as_it_was_written(cityflow: Path, neutral: Path) -> None:
    first, second = read_cityflow(cityflow, scene=cityflow / "roads.geojson"), read_tracking(neutral)
    same(first, second)
    assert second.scene is not None
    assert first.scene is not None
    assert second.scene.roads.keys() == first.scene.roads.keys()
    both = [project(one, calibrate(one)[0]).xy_m for one in (first, second)]
    assert np.allclose(both[0], both[1], atol=1e-6)


def test_parquet_says_the_same_as_csv(neutral: Path) -> None:
    first = read_tracking(neutral)
    with (neutral / "tracks.csv").open() as file:
        rows = list(csv.DictReader(file))
    (neutral / "tracks.csv").unlink()
    numbers = {
        name: [float(row[name]) for row in rows] for name in ("time_s", "left", "top", "width", "height")
    }
    columns = {name: [row[name] for row in rows] for name in ("camera", "target")} | numbers
    pq.write_table(
        pa.table({**columns, "frame": [int(row["frame"]) for row in rows]}), neutral / "tracks.parquet"
    )
    same(first, read_tracking(neutral))


def test_clocks_frames_and_sizes_of_cityflow(cityflow: Path) -> None:
    tracking = read_cityflow(cityflow)
    stamps = dict(line.split() for line in (cityflow / "cam_timestamp/S01.txt").read_text().splitlines())
    first = tracking.boxes.camera == 0
    rate = np.unique(np.round(tracking.boxes.time_s[first] - tracking.boxes.frame[first] / 10, 6))
    assert rate.tolist() == [pytest.approx(float(stamps["c001"]))]
    assert {camera.image_size for camera in tracking.cameras} == {(1920, 1080)}
    assert {camera.published_error for camera in tracking.cameras} == {1.5}
    slow = tracking.boxes.camera == [camera.id for camera in tracking.cameras].index("c015")
    assert np.allclose(tracking.boxes.time_s[slow] - float(stamps["c015"]), tracking.boxes.frame[slow] / 8)


def test_one_of_several_scenarios_is_named(tmp_path: Path) -> None:
    write_mtmmc(tmp_path, count=3)
    (tmp_path / "train" / "s02").symlink_to(tmp_path / "train" / "s01")
    scene = tmp_path / "building.geojson"
    with pytest.raises(DataError, match="several scenarios, name one: s01, s02") as error:
        read_mtmmc(tmp_path, scene=scene)
    assert error.value.field == "--scenario"
    tracking = read_mtmmc(tmp_path, scenario="s01", scene=scene)
    assert len(tracking.cameras) in (12, 18)
    assert np.allclose(tracking.boxes.time_s, tracking.boxes.frame / 23)


def test_cameras_that_the_building_lacks_are_told(tmp_path: Path) -> None:
    write_mtmmc(tmp_path, count=3)
    (tmp_path / "train/s01/c99/gt").mkdir(parents=True)
    (tmp_path / "train/s01/c99/gt/gt.txt").write_text("0000,001,1,1,1,1\n")
    assert "c99" in read_mtmmc(tmp_path, scene=tmp_path / "building.geojson").notes[0]


GT = "S01/c001/gt/gt.txt"
CALIBRATION = "S01/c001/calibration.txt"


@pytest.mark.parametrize(
    ("file", "text", "message", "field"),
    [
        (GT, "1,2,3,4,5\n", "c001/gt/gt.txt, line 1: 5 fields", "height"),
        (GT, "1,2,3,4,5,6\n7,8,x,1,1,1\n", "gt.txt, line 2: 'x' is not a number", "left"),
        (GT, "0,2,3,4,5,6\n", "line 1: 0 is too small", "frame"),
        (GT, "1,2,3,4,0,6\n", "line 1: 0 is too small", "width"),
        (GT, "1,2,3,4,nan,6\n", "line 1: nan is not between", "width"),
        (CALIBRATION, "Reprojection error: 1\n", "has no line of it", "Homography matrix"),
        (
            CALIBRATION,
            "Homography matrix: 1 2 3;4 5 6;7 8\n",
            "line 1: 8 numbers instead of 9",
            "Homography matrix",
        ),
        (CALIBRATION, "Homography matrix: 1 0 0;0 1 0;0 0 0\n", "no inverse", "Homography matrix"),
        (CALIBRATION, "Homography matrix: 1 0 0;0 1 0;0 0 1\n", "no latitude", "Homography matrix"),
        (CALIBRATION, "hello\n", "line 1: not a name, a colon", ""),
        ("cam_timestamp/S01.txt", "c001\n", "line 1: not a camera", ""),
        ("cam_timestamp/S01.txt", "c001 soon\n", "line 1: 'soon' is not a number", "timestamp"),
    ],
)
def test_a_fault_of_cityflow_is_named(cityflow: Path, file: str, text: str, message: str, field: str) -> None:
    path = cityflow / file
    whole = path.read_text()
    try:
        path.write_text(text)
        with pytest.raises(DataError, match=message) as error:
            read_cityflow(cityflow)
        assert error.value.field == field
    finally:
        path.write_text(whole)


def csv_line(number: int, column: int, value: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        lines = (folder / "tracks.csv").read_text().splitlines()
        fields = lines[number - 1].split(",")
        fields[column] = value
        lines[number - 1] = ",".join(fields)
        (folder / "tracks.csv").write_text("\n".join(lines) + "\n")

    return change


def site_field(change: Callable[[dict[str, object]], object]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        site = yaml.safe_load((folder / "site.yaml").read_text())
        change(site)
        (folder / "site.yaml").write_text(yaml.safe_dump(site))

    return apply


@pytest.mark.parametrize(
    ("change", "message", "field"),
    [
        (csv_line(3, 0, "c777"), "tracks.csv, line 3: no camera 'c777'", "camera"),
        (csv_line(4, 2, "-1"), "tracks.csv, line 4: -1 is too small", "time_s"),
        (csv_line(5, 5, "wide"), "tracks.csv, line 5: 'wide' is not a number", "width"),
        (csv_line(6, 1, " "), "tracks.csv, line 6: empty", "target"),
        (csv_line(1, 2, "seconds"), "no column time_s", "time_s"),
        (csv_line(7, 7, "1,2"), "tracks.csv, line 7: not as many fields", ""),
        (site_field(lambda site: site.update(kind="wood")), "outdoor", "kind"),
        (site_field(lambda site: site.update(colour="red")), "Extra", "colour"),
        (site_field(lambda site: site.update(scene="gone.geojson")), "gone.geojson", "scene"),
        (lambda folder: (folder / "site.yaml").write_text("a: ["), "no YAML", ""),
        (lambda folder: (folder / "site.yaml").unlink(), "cannot be read", ""),
        (lambda folder: (folder / "tracks.csv").unlink(), "neither tracks.csv", ""),
    ],
)
def test_a_fault_of_the_neutral_form_is_named(
    neutral: Path, change: Callable[[Path], None], message: str, field: str
) -> None:
    change(neutral)
    with pytest.raises(DataError, match=message) as error:
        read_tracking(neutral)
    assert error.value.field == field


def test_point_pairs_calibrate_before_the_data_sets_own(cityflow: Path, tmp_path: Path) -> None:
    tracking = read_cityflow(cityflow, scene=cityflow / "roads.geojson")
    own = calibrate(tracking)[0]["c001"].homography
    pixels = np.array([(u, v) for u in (300.0, 900.0, 1500.0) for v in (650.0, 850.0, 1000.0)])
    metres = to_image(np.linalg.inv(own), pixels)
    metres[4] += 6.0
    lines = [f"c001,{u},{v},{x},{y}" for (u, v), (x, y) in zip(pixels, metres, strict=True)]
    (tmp_path / "pairs.csv").write_text("\n".join(["camera,u,v,x,y", *lines]) + "\n")
    first, *rest = tracking.cameras
    lens = Lens(intrinsic=np.diag([1500.0, 1500.0, 1.0]), distortion=(0.3, 0.0, 0.0, 0.0))
    tracking = replace(tracking, cameras=(replace(first, lens=lens), *rest))
    looked = look_at(tracking, read_point_pairs(tmp_path / "pairs.csv"))
    calibration = looked.calibrated["c001"]
    assert calibration.source == "point pairs"
    assert calibration.outliers == (5,)
    assert calibration.rms_m is not None
    assert calibration.rms_m < 1e-3
    mine = tracking.boxes.camera == 0
    feet = on_ground(own, foot_points(tracking.boxes.ltwh[mine]), (1920, 1080))
    assert np.allclose(looked.ground.xy_m[mine], feet.xy_m, atol=1e-3, equal_nan=True)
    with pytest.raises(DataError, match="at least 8"):
        look_at(tracking, {"c001": np.zeros((3, 4))})
    with pytest.raises(DataError, match="no camera 'c777'"):
        look_at(tracking, {"c777": np.zeros((9, 4))})


def test_a_folder_of_another_build_is_not_written_over(cityflow: Path, tmp_path: Path) -> None:
    tracking = read_cityflow(cityflow, scene=cityflow / "roads.geojson")
    build(tracking, tmp_path / "out", Options(limit=7))
    with pytest.raises(SpecError, match="other data or options"):
        build(tracking, tmp_path / "out", Options(limit=7, seed=1))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("mine")
    with pytest.raises(SpecError, match="there already"):
        build(tracking, tmp_path / "mine", Options(limit=7))


def test_a_build_does_not_go_on_with_another_map_camera_or_kind(cityflow: Path, tmp_path: Path) -> None:
    tracking = read_cityflow(cityflow, scene=cityflow / "roads.geojson")
    options = Options(limit=1, tasks=("GeoLocation",))
    build(tracking, tmp_path / "out", options)
    assert tracking.scene is not None
    first, *rest = tracking.cameras
    lens = Lens(intrinsic=np.eye(3), distortion=(0.1, 0.1, 0.1, 0.1))
    cameras = [
        replace(first, image_size=(1280, 720)),
        replace(first, xy_m=(1.0, 2.0)),
        replace(first, view=shapely.box(0, 0, 9, 9)),
        replace(first, lens=lens),
    ]
    others: list[dict[str, Any]] = [
        {"scene": replace(tracking.scene, roads=dict(list(tracking.scene.roads.items())[1:]))},
        *({"cameras": (camera, *rest)} for camera in cameras),
        {"kind": "indoor"},
        {"body": "pedestrian"},
        {"bodies": ("vehicle",) * len(tracking.targets)},
        {"targets": tuple(f"x{name}" for name in tracking.targets)},
        {"tracks": {tracking.targets[0]: Track(times_s=np.arange(2.0), xy_m=np.eye(2))}},
    ]
    for other in others:
        with pytest.raises(SpecError, match="other data or options"):
            build(replace(tracking, **other), tmp_path / "out", options)


def test_a_person_can_drop_a_question_but_not_change_its_truth(cityflow: Path, tmp_path: Path) -> None:
    tracking = read_cityflow(cityflow, scene=cityflow / "roads.geojson")
    before = build(tracking, tmp_path / "out", Options(limit=7))["published"]
    case = f"S01-{_first_key(tmp_path / 'out')}"
    dropped = {case: Decision(sample_id=case, decision="drop")}
    after = build(tracking, tmp_path / "out", Options(limit=7, decisions=dropped))["published"]
    assert after["published"] == before["published"] - 1
    assert after["dropped_by_review"] == 1
    with pytest.raises(SpecError, match="keep it or drop it"):
        Options(decisions={case: Decision(sample_id=case, decision="fix", answer="A")})


def _first_key(out: Path) -> str:
    import json

    lines = map(json.loads, (out / "build/questions.ndjson").read_text().splitlines()[1:])
    return next(str(line["key"]) for line in lines if line["status"] == "kept")


def test_an_indoor_site_without_a_plan_is_refused(neutral: Path, tmp_path: Path) -> None:
    site_field(lambda site: site.update(kind="indoor", scene=""))(neutral)
    with pytest.raises(DataError, match="floor plan"):
        build(read_tracking(neutral), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_example_is_what_its_maker_writes(tmp_path: Path) -> None:
    write_example(tmp_path)
    here = ROOT / "examples/tracking/cityflow"
    made, kept = (
        {path.relative_to(folder): path.read_text() for path in folder.rglob("*.*") if path.is_file()}
        for folder in (tmp_path, here)
    )
    assert made.keys() == kept.keys()
    for name, text in made.items():
        assert NUMBER.split(text) == NUMBER.split(kept[name])
        numbers, wanted = ([float(found) for found in NUMBER.findall(whole)] for whole in (text, kept[name]))
        assert numbers == pytest.approx(wanted, rel=1e-9), name  # processors differ in the last digits


def test_a_camera_on_a_floor_without_rooms_is_refused(tmp_path: Path) -> None:
    simulated = write_mtmmc(tmp_path, count=6)
    tracking = read_mtmmc(tmp_path, scene=simulated.scene)
    upstairs = tuple(replace(camera, floor=7) for camera in tracking.cameras)
    with pytest.raises(DataError, match="no room on floor 7, where camera c0") as error:
        build(replace(tracking, cameras=upstairs), tmp_path / "out")
    assert error.value.field == "floor"
