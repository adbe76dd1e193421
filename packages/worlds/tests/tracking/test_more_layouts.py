"""MOT text, WILDTRACK, submissions, GPS and drones are read as they are described; faults are named."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import shapely
from PIL import Image

from bench.tracking_data import write_wildtrack
from gnomon.core.errors import DataError, SpecError
from gnomon_tools.scene.format import read_scene
from gnomon_worlds.tracking.build import Options, build
from gnomon_worlds.tracking.look import look_at
from gnomon_worlds.tracking.reading import Inputs, read_layout
from tests.mot_folder import write_mot
from tests.tracking_folders import published, write_cityflow

NOTHING = Inputs()


@pytest.fixture(scope="module")
def mot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_mot(tmp_path_factory.mktemp("mot"), people=8)


@pytest.fixture(scope="module")
def wildtrack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_wildtrack(tmp_path_factory.mktemp("wild"), people=12, frames=80)


def test_mot_text_has_sizes_rates_classes_and_homographies(mot: Path) -> None:
    tracking = read_layout("mot", mot, NOTHING)
    assert {camera.image_size for camera in tracking.cameras} == {(1920, 1080)}
    assert "90000" not in tracking.targets
    assert any("of no person and no vehicle" in note for note in tracking.notes)
    assert tracking.body_of(0) == "pedestrian"
    look_at(tracking).refuse()


def test_a_folder_of_any_name_makes_a_site_and_what_is_assumed_is_said(tmp_path: Path) -> None:
    folder = write_mot(tmp_path / f"zürich-{'x' * 80}", people=3)
    for path in folder.glob("*/gt/gt.txt"):
        lines = [line.rsplit(",", 3)[0] for line in path.read_text().splitlines() if ",90000," not in line]
        path.write_text("".join(f"{line},1\n" for line in lines))
    tracking = read_layout("mot", folder, NOTHING)
    assert tracking.id.startswith("z-rich-xxx")
    assert len(tracking.id) == 64
    assert "all cameras are taken to start together" in tracking.notes
    assert any("have no class: taken as vehicles, as the site is outdoor" in note for note in tracking.notes)
    gps = read_layout("gps", write_gps(tmp_path / "gps"), NOTHING)
    assert "74 of 74 positions name no kind: taken as vehicles" in gps.notes


def test_pictures_are_brought_by_the_number_of_their_frame(tmp_path: Path) -> None:
    folder = write_mot(tmp_path / "mot", people=4)
    tracking = read_layout("mot", folder, NOTHING)
    for index, camera in enumerate(tracking.cameras):
        frames = tracking.boxes.frame[tracking.boxes.camera == index].tolist()
        (folder / camera.id / "img1").mkdir()
        for frame in set(frames):
            Image.new("RGB", (16, 9), (frame % 256, 0, 0)).save(
                folder / camera.id / "img1" / f"{frame:08d}.png"
            )
    options = Options(limit=2, tasks=("NextSpotForecasting",), clips=True)
    build(read_layout("mot", folder, NOTHING), tmp_path / "out", options)
    told = {
        int(line.split(",")[0])
        for path in folder.glob("*/gt/gt.txt")
        for line in path.read_text().splitlines()
        if ",90000," not in line
    }
    clips = [clip for entry in published(tmp_path / "out") for clip in entry["record"]["camera_images"]]
    assert clips
    for clip in clips:
        for frame in clip["frame_ids"]:
            assert frame in told
            with Image.open(tmp_path / "out" / clip["video_path"] / f"{frame:06d}.jpg") as picture:
                assert abs(picture.getpixel((8, 4))[0] - frame % 256) < 9
    for path in folder.glob("*/img1/*.png"):
        path.rename(path.with_stem(f"f{path.stem}"))
    with pytest.raises(DataError, match="holds no picture of frame"):
        build(read_layout("mot", folder, NOTHING), tmp_path / "none", options)


def test_wildtracks_feet_agree_between_its_cameras(wildtrack: Path) -> None:
    look = look_at(read_layout("wildtrack", wildtrack, NOTHING))
    look.refuse()
    apart_m = [pair.apart_m for pair in look.pairs if pair.apart_m is not None]
    assert len(apart_m) >= 10
    assert max(apart_m) < 1.0
    assert any(finding.kind == "overlap" for finding in look.findings)


def test_cut_views_do_not_overlap_and_are_said(wildtrack: Path) -> None:
    look = look_at(read_layout("wildtrack", wildtrack, NOTHING), cut_views=True)
    views = [camera.view for camera in look.tracking.cameras if camera.view is not None]
    assert len(views) >= 4
    assert all(a.distance(b) > 1.4 for number, a in enumerate(views) for b in views[:number])
    assert any("cut to regions" in str(finding) for finding in look.findings)


def test_a_submission_takes_the_place_of_annotations(tmp_path: Path) -> None:
    folder = write_cityflow(tmp_path, count=6, within_s=60.0).folder
    plain = read_layout("cityflow", folder, NOTHING)
    lines = []
    for path in sorted(folder.glob("S01/c*/gt/gt.txt")):
        for line in path.read_text().splitlines():
            frame, identity, *ltwh = line.split(",")[:6]
            lines.append(" ".join([path.parents[1].name[1:], identity, frame, *ltwh, "0", "0"]))
        path.unlink()
    (tmp_path / "track1.txt").write_text("\n".join(lines) + "\n")
    submitted = read_layout("cityflow", folder, Inputs(tracks=str(tmp_path / "track1.txt")))
    assert len(submitted.boxes) == len(plain.boxes)
    assert submitted.boxes.time_s.sum() == pytest.approx(plain.boxes.time_s.sum())
    (tmp_path / "track1.txt").write_text("1 2 3 4\n")
    with pytest.raises(DataError, match=r"track1.txt, line 1: 4 fields"):
        read_layout("cityflow", folder, Inputs(tracks=str(tmp_path / "track1.txt")))


def write_gps(folder: Path) -> Path:
    """Four buses on an L of 3 km, a fix every 20 s, one with a gap of 5 min."""
    folder.mkdir()
    lines = ["trip_id,timestamp,latitude,longitude"]
    for bus in range(4):
        for tick in range(20):
            if bus == 3 and 8 <= tick < 14:
                continue
            along = tick / 19 * 3000
            east, north = min(along, 1500), max(along - 1500, 0)
            second = bus * 100 + tick * 20
            stamp = f"2026-01-26 15:{second // 60:02d}:{second % 60:02d}"
            lines.append(f"{bus},{stamp},{60 + north / 111_412:.7f},{25 + east / 55_800:.7f}")
    (folder / "buses.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_positions_get_virtual_cameras_and_a_gap_ends_a_target(tmp_path: Path) -> None:
    tracking = read_layout("gps", write_gps(tmp_path / "gps"), NOTHING)
    assert "3/2" in tracking.targets
    assert any("further apart (1 times)" in note for note in tracking.notes)
    report = build(tracking, tmp_path / "out", Options(limit=14))
    assert report["published"]["published"] >= 4
    assert report["place"]["roads"] == "where targets went"


def cross(folder: Path) -> Path:
    """Cars on two ways that cross, a position every 50 s (of 1,500 m), with five cameras on each way."""
    folder.mkdir()
    lines, cameras = ["id,t,lat,lon"], ["camera,lon,lat"]
    for car in range(6):
        for tick in range(4):
            along = (1500.0 * tick - 2250) * (1 if car % 4 < 2 else -1)
            east, north = (along, 0.0) if car % 2 else (0.0, along)
            lines.append(f"{car},{car * 7 + tick * 50},{60 + north / 111_412:.7f},{25 + east / 55_800:.7f}")
    for number, along in enumerate((-1900, -1400, -900, 1000, 1500)):
        cameras += [f"e{number},{25 + along / 55_800},60", f"n{number},25,{60 + along / 111_412}"]
    (folder / "cars.csv").write_text("\n".join(lines) + "\n")
    (folder / "cameras.csv").write_text("\n".join(cameras) + "\n")
    return folder


def test_cameras_passed_between_two_positions_are_no_wrong_options(tmp_path: Path) -> None:
    tracking = read_layout("gps", cross(tmp_path / "gps"), NOTHING)
    build(tracking, tmp_path / "out", Options(limit=60, tasks=("GeoLocation", "NextSpotForecasting")))
    entries = published(tmp_path / "out")
    assert len(entries) >= 5
    (path,) = (tmp_path / "out/data/outdoor/scenes").iterdir()
    views = {name: camera.field_of_view for name, camera in read_scene(path).cameras.items()}
    for entry in entries:
        (source,) = entry["sources"]
        times_s = [time_s for _, _, *span in source["sightings"] for time_s in span]
        track = tracking.tracks[source["target"]]
        at_s = np.linspace(min(times_s), max(times_s), 400)
        way = shapely.LineString(
            np.column_stack([np.interp(at_s, track.times_s, axis) for axis in track.xy_m.T])
        )
        record = entry["record"]
        right = record.get("correct_cam_name") or [record["ground_truth"]]
        wrong = [choice.partition(". ")[2] for choice in record["choices"] if choice not in right]
        assert not any(way.intersects(views[camera]) for camera in wrong)


def test_a_bad_first_position_is_dropped_and_so_is_a_second_at_one_time(tmp_path: Path) -> None:
    folder = cross(tmp_path / "gps")
    path = folder / "cars.csv"
    head, first, *lines = path.read_text().splitlines()
    whose, time_s, _, lon = first.split(",")
    path.write_text("\n".join([head, f"{whose},{time_s},60.9,{lon}", *lines, lines[-1]]) + "\n")
    tracking = read_layout("gps", folder, NOTHING)
    assert any("dropped: 1 at the time of another, 1 out of reach" in note for note in tracking.notes)
    assert tracking.tracks["0"].times_s.tolist() == [50.0, 100.0, 150.0]


def test_a_target_of_two_kinds_is_refused(tmp_path: Path) -> None:
    path = cross(tmp_path / "gps") / "cars.csv"
    head, *lines = path.read_text().splitlines()
    kinds = ["car", "person", *["car"] * (len(lines) - 2)]
    rows = [f"{line},{kind}" for line, kind in zip(lines, kinds, strict=True)]
    path.write_text("\n".join([f"{head},kind", *rows]) + "\n")
    with pytest.raises(DataError, match=r"cars.csv, line 3: 0 was another kind before"):
        read_layout("gps", tmp_path / "gps", NOTHING)


def test_cameras_stand_where_a_person_puts_them(tmp_path: Path) -> None:
    folder = write_gps(tmp_path / "gps")
    (folder / "cameras.csv").write_text(
        "camera,lon,lat,radius_m\nstop,25.0134,60.0,40\ncorner,25.0269,60.0,90\n"
    )
    tracking = read_layout("gps", folder, NOTHING)
    assert [camera.id for camera in tracking.cameras] == ["stop", "corner"]
    assert set(tracking.boxes.camera.tolist()) == {0, 1}


def test_a_drones_tracks_take_their_scale_and_kinds(tmp_path: Path) -> None:
    lines = [
        f'{target} {x - 5} {300 - 5} {x + 5} {300 + 5} {frame} {int(frame == 90)} 0 0 "{label}"'
        for target, label in ((0, "Pedestrian"), (1, "Biker"), (2, "Pedestrian"))
        for frame in range(0, 900, 30)
        for x in [100 + 1.0 * frame + 20 * target]
    ]
    (tmp_path / "annotations.txt").write_text("\n".join(lines) + "\n")
    tracking = read_layout("drone", tmp_path, Inputs(scale=0.04))
    track = tracking.tracks["0"]
    assert np.linalg.norm(track.xy_m[-1] - track.xy_m[0]) == pytest.approx(870 * 0.04)
    assert set(tracking.bodies) == {"pedestrian", "vehicle"}
    with pytest.raises(DataError, match="--scale"):
        read_layout("drone", tmp_path, NOTHING)


def broken(folder: Path, name: str, change: Callable[[str], str]) -> None:
    path = next(folder.glob(name))
    path.write_text(change(path.read_text()))


@pytest.mark.parametrize(
    ("layout", "name", "change", "message"),
    [
        ("mot", "c001/homography.txt", lambda text: text + " 7", "c001/homography.txt: not nine numbers"),
        ("mot", "c001/seqinfo.ini", lambda _: "frameRate", "c001/seqinfo.ini"),
        ("mot", "c001/gt/gt.txt", lambda _: "1,-1,5,5,9,9,1,1,1\n", "these are detections"),
        ("mot", "c001/gt/gt.txt", lambda _: "1,2,5,5\n", "line 1: 4 fields"),
        ("mot", "c001/gt/gt.txt", lambda _: "\n1,2,5,5,9,9,1,person,1\n", "gt.txt, line 2: 'person' is not"),
        ("mot", "c001/seqinfo.ini", lambda text: text.replace("=15", "=0"), "frames a second of c001"),
        ("mot", "c001/seqinfo.ini", lambda text: text.replace("=15", "=nan"), "frames a second of c001"),
        (
            "wildtrack",
            "calibrations/extrinsic/extr_CVLab1.xml",
            lambda _: "<rvec>1 2</rvec>",
            "not 3 numbers",
        ),
        (
            "wildtrack",
            "annotations_positions/00000000.json",
            lambda _: "[{}]",
            "00000000.json: Field required",
        ),
        ("wildtrack", "annotations_positions/00000000.json", lambda _: "[", "00000000.json: Invalid JSON"),
    ],
)
def test_a_fault_is_named_with_its_file(
    tmp_path: Path, layout: str, name: str, change: Callable[[str], str], message: str
) -> None:
    if layout == "mot":
        write_mot(tmp_path, people=3)
    else:
        write_wildtrack(tmp_path, people=3, frames=20)
    broken(tmp_path, name, change)
    with pytest.raises(DataError, match=message):
        read_layout(layout, tmp_path, NOTHING)


def test_a_layout_refuses_what_it_does_not_take(mot: Path) -> None:
    with pytest.raises(SpecError, match="not with --from mot") as error:
        read_layout("mot", mot, Inputs(bridge_s=30.0))
    assert error.value.field == "--bridge"


def test_a_report_names_every_reason_in_words(wildtrack: Path, tmp_path: Path) -> None:
    report = build(read_layout("wildtrack", wildtrack, NOTHING), tmp_path / "out", Options(limit=14))
    reasons = {reason for counts in report["reasons"].values() for reason in counts}
    assert any(reason.startswith("your cameras overlap") for reason in reasons)
    assert json.loads((tmp_path / "out/build/report.json").read_text())["reasons"] == report["reasons"]


def test_a_camera_with_boxes_and_no_homography_is_named(tmp_path: Path) -> None:
    folder = write_mot(tmp_path / "mot", people=6)
    (folder / "c003" / "homography.txt").unlink()
    findings = look_at(read_layout("mot", folder, NOTHING)).findings
    assert [finding.camera for finding in findings if finding.kind == "calibration"] == ["c003"]


def test_places_where_nobody_passes_and_a_wrong_scale_are_said_as_that(tmp_path: Path) -> None:
    folder = write_gps(tmp_path / "gps")
    (folder / "cameras.csv").write_text("camera,lon,lat\nA,10,50\n")
    with pytest.raises(DataError, match="no target passes a camera"):
        read_layout("gps", folder, NOTHING)
    (tmp_path / "annotations.txt").write_text(
        "".join(f'1 {x} 0 {x + 20} 20 {frame} 0 0 0 "Biker"\n' for frame, x in enumerate(range(0, 900, 9)))
    )
    with pytest.raises(DataError, match="is the scale or the unit of times wrong"):
        read_layout("drone", tmp_path, Inputs(scale=3.5))


def test_doubtful_questions_can_be_read_with_their_rows(tmp_path: Path) -> None:
    folder = write_mot(tmp_path / "mot", people=30)
    report = build(read_layout("mot", folder, NOTHING), tmp_path / "out", Options(limit=14))
    text = (tmp_path / "out" / "build" / "review.md").read_text()
    assert text.count("\n## ") == report["published"]["in_review"]
    assert text.count("(told as right)") >= report["published"]["in_review"]
    assert report["targets_by_kind"] == {"pedestrian": 26}
