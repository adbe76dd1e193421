"""A look at a recording names what would make answers wrong, before a question is made."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from PIL import Image

from gnomon.core.errors import DataError
from gnomon_worlds.commands.check_recording import check_recording
from gnomon_worlds.tracking.build import Options, build
from gnomon_worlds.tracking.check import checked
from gnomon_worlds.tracking.look import Look, look_at
from gnomon_worlds.tracking.neutral_form import Track, read_tracking
from gnomon_worlds.tracking.published_layouts import read_point_pairs
from gnomon_worlds.tracking.sightings import is_followed

STEEP = [[0.02, 0, -19.2], [0, -0.02, 10.8], [0, 0, 1]]  # straight down: 2 cm a pixel, about the origin
Row = tuple[str, str, float, float, float]  # camera, target, time, foot x, foot y (metres)


def walk(
    camera: str, target: str, *, start_s: float, x_m: float, seconds: float = 6.0, step_s: float = 0.5
) -> list[Row]:
    """Somebody who walks east at 1.2 m/s; a camera's middle is its own x."""
    times_s = start_s + np.arange(round(seconds / step_s) + 1) * step_s
    return [(camera, target, float(t), x_m + 1.2 * (float(t) - start_s), 0.0) for t in times_s]


def write(folder: Path, rows: list[Row], middles: dict[str, float], **site: Any) -> Path:
    """The neutral form: cameras that look straight down on 38 m by 22 m about (their x, 0)."""
    folder.mkdir(parents=True, exist_ok=True)
    cameras = {
        name: {"image_size": [1920, 1080], "homography": [[0.02, 0, x - 19.2], [0, -0.02, 10.8], [0, 0, 1]]}
        for name, x in middles.items()
    }
    document = {"format": "gnomon-tracking/1", "id": "s", "kind": "outdoor", "targets": "pedestrian"}
    (folder / "site.yaml").write_text(yaml.safe_dump({**document, "cameras": cameras, **site}))
    with (folder / "tracks.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["camera", "target", "time_s", "left", "top", "width", "height"])
        for camera, target, time_s, x, y in rows:
            u, v = (x - middles[camera] + 19.2) / 0.02, (10.8 - y) / 0.02
            writer.writerow([camera, target, round(time_s, 3), round(u - 15, 2), round(v - 60, 2), 30, 60])
    return folder


def look(folder: Path) -> Look:
    return look_at(read_tracking(folder))


def found(folder: Path, kind: str) -> list[str]:
    return [str(finding) for finding in look(folder).findings if finding.kind == kind]


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    site = yaml.safe_load((folder / "site.yaml").read_text())
    change(site)
    (folder / "site.yaml").write_text(yaml.safe_dump(site))
    return folder


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """Two cameras 60 m apart and five people who pass both."""
    rows = [
        row
        for number in range(5)
        for row in (
            *walk("a", str(number), start_s=10.0 * number, x_m=-5),
            *walk("b", str(number), start_s=10.0 * number + 50, x_m=55),
        )
    ]
    return write(tmp_path / "pair", rows, {"a": 0.0, "b": 60.0})


def test_where_one_sighting_ends_as_the_next_starts_the_reason_is_overlap(tmp_path: Path) -> None:
    rows = [
        *walk("a", "1", start_s=0, x_m=-15.3),
        *walk("b", "1", start_s=6, x_m=-8.1),
        *walk("c", "1", start_s=3, x_m=-11.7),
    ]
    folder = write(tmp_path / "in", rows, {"a": 0.0, "b": 0.0, "c": 0.0})
    report = build(read_tracking(folder), tmp_path / "out", Options())
    assert report["published"]["published"] == 0
    assert any("cameras overlap" in reason for reason in report["reasons"]["CausalReordering"])
    assert any("your cameras overlap" in note for note in report["notes"])


def test_boxes_near_the_horizon_are_dropped_and_counted_by_camera(tmp_path: Path) -> None:
    rows = [("a", "1", number / 10, 0.0, -(number * 0.04)) for number in range(70)]
    folder = write(tmp_path, rows, {"a": 0.0})
    level = [[6, 0, -5760], [0, 0, 9000], [0, 1, -560]]  # its horizon is row 560
    changed(folder, lambda site: site["cameras"]["a"].update(homography=level))
    (told,) = found(folder, "horizon")
    assert told.startswith("camera a: ")
    assert "of 70 boxes" in told
    assert look(folder).ground.on_floor.sum() < 70


def test_mirrored_axes_are_refused_until_it_is_said_which_way_they_lead(pair: Path) -> None:
    assert found(pair, "axes") == []
    mirrored = [[0.02, 0, -19.2], [0, 0.02, -10.8], [0, 0, 1]]
    changed(pair, lambda site: [camera.update(homography=mirrored) for camera in site["cameras"].values()])
    with pytest.raises(DataError, match="axes are mirrored"):
        look(pair).refuse()
    changed(pair, lambda site: site.update(axes="east-south"))
    look(pair).refuse()
    pixels = [(u, v) for u in (100.0, 900.0, 1800.0) for v in (100.0, 500.0, 1000.0)]
    points = np.array([[u, v, 0.02 * u - 19.2, 0.02 * v - 10.8] for u, v in pixels])  # y leads south, too
    turned = look_at(read_tracking(pair), {"a": points})
    turned.refuse()
    assert np.allclose(turned.ground.xy_m, look(pair).ground.xy_m)


@pytest.mark.parametrize("size", [[600, 500], [700, 300]])
def test_a_picture_smaller_than_its_boxes_is_refused(pair: Path, size: list[int]) -> None:
    changed(pair, lambda site: site["cameras"]["a"].update(image_size=size))
    with pytest.raises(DataError, match="camera a: its picture is"):
        look(pair).refuse()


def test_a_size_that_nobody_tells_is_bounded_by_the_boxes_and_said(pair: Path) -> None:
    changed(pair, lambda site: site["cameras"]["a"].pop("image_size"))
    (told,) = found(pair, "picture size")
    assert "a (" in told
    assert look(pair).tracking.cameras[0].size_from == "bounded by the boxes"


def test_the_edge_of_a_smaller_picture_is_seen_by_the_boxes_that_it_cuts(tmp_path: Path) -> None:
    folder = write(tmp_path, walk("a", "1", start_s=0, x_m=-5), {"a": 0.0})
    lines = [
        f"a,{target},{n / 10:.1f},{300 + 50 * target},{620 + 5 * n},40,{min(100, 720 - 620 - 5 * n)}"
        for target in range(4)
        for n in range(15)
    ]
    (folder / "tracks.csv").write_text(
        "camera,target,time_s,left,top,width,height\n" + "\n".join(lines) + "\n"
    )
    (told,) = found(folder, "picture size")
    assert "stop at row 720" in told


def test_centimetres_are_refused_as_speeds(pair: Path) -> None:
    cm = [[2.0, 0, -1920], [0, -2.0, 1080], [0, 0, 1]]
    changed(pair, lambda site: [camera.update(homography=cm) for camera in site["cameras"].values()])
    with pytest.raises(DataError, match="m/s: are the metres"):
        look(pair).refuse()


def test_who_comes_back_later_was_no_slower_in_view(tmp_path: Path) -> None:
    rows = [
        (camera, target, time_s, 10 * x, y)
        for number in range(4)
        for start_s in (0, 600)
        for camera, target, time_s, x, y in walk("a", str(number), start_s=start_s, x_m=-0.5, seconds=1.5)
    ]
    seen = look(write(tmp_path, rows, {"a": 0.0}))
    assert checked(seen)["speeds_mps"]["pedestrian"] == {"median": 12.0, "high": 12.0, "tracks": 8}
    with pytest.raises(DataError, match="half of all 8 sightings of pedestrians are faster than 12 m/s"):
        seen.refuse()


def test_a_clock_that_is_off_is_found_where_views_overlap(tmp_path: Path) -> None:
    rows = [
        row
        for number in range(6)
        for row in (
            *walk("a", str(number), start_s=10.0 * number, x_m=-5, step_s=0.2),
            *[
                (c, t, s + 2.0, x, y)
                for c, t, s, x, y in walk("b", str(number), start_s=10.0 * number, x_m=-5, step_s=0.2)
            ],
        )
    ]
    (told,) = found(write(tmp_path, rows, {"a": 0.0, "b": 0.0}), "clocks")
    assert told.startswith("camera b: its clock seems to be off by +2.0 s")


def test_a_camera_placed_far_from_what_it_sees_is_said(pair: Path) -> None:
    changed(pair, lambda site: site["cameras"]["b"].update(xy_m=[640.0, 0.0]))
    (told,) = found(pair, "position")
    assert told.startswith("camera b: the data place it 5")


def test_identities_that_each_camera_numbers_anew_are_refused(tmp_path: Path) -> None:
    rows = [
        row
        for number in range(12)
        for row in (
            *walk("a", str(number), start_s=8.0 * number, x_m=-5),
            *walk("b", str(number), start_s=8.0 * number + 2, x_m=1995),
        )
    ]
    with pytest.raises(DataError, match="numbered anew in each camera"):
        look(write(tmp_path, rows, {"a": 0.0, "b": 2000.0})).refuse()


def test_one_camera_that_nobody_could_come_from_in_time_is_refused_by_name(tmp_path: Path) -> None:
    middles = {name: 60.0 * number for number, name in enumerate("abcde")}
    rows = [
        row
        for person in range(2)
        for name, x_m in middles.items()
        for row in walk(name, str(person), start_s=20.0 * person + x_m / 1.2, x_m=x_m)
    ]
    folder = write(tmp_path, rows, middles)
    assert found(folder, "places") == []
    elsewhere = [[0.02, 0, 1980.8], [0, -0.02, 10.8], [0, 0, 1]]
    changed(folder, lambda site: site["cameras"]["c"].update(homography=elsewhere))
    with pytest.raises(DataError, match="camera c: 4 of 4 times a target comes or goes sooner"):
        look(folder).refuse()


def test_targets_that_no_two_cameras_share_are_said(tmp_path: Path) -> None:
    rows = [*walk("a", "1", start_s=0, x_m=-5), *walk("b", "2", start_s=50, x_m=55)]
    (told,) = found(write(tmp_path, rows, {"a": 0.0, "b": 60.0}), "identities")
    assert told.startswith("no target is seen by two cameras")


def test_a_pair_left_out_tells_more_than_those_that_were_fitted(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    pixels = rng.uniform((100, 500), (1800, 1060), size=(10, 2))
    points = [[u, v, 0.02 * u - 19.2 + e, -0.02 * v + 10.8 + f] for (u, v), (e, f) in
              zip(pixels.tolist(), rng.normal(scale=0.01, size=(10, 2)).tolist(), strict=True)]  # fmt: skip
    folder = write(tmp_path, walk("a", "1", start_s=0, x_m=-5), {"a": 0.0})
    changed(folder, lambda site: site["cameras"].update(a={"points": points, "image_size": [1920, 1080]}))
    calibration = look(folder).calibrated["a"]
    assert calibration.rms_m is not None
    assert calibration.held_out_m is not None
    assert calibration.held_out_m > 1.3 * calibration.rms_m


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("time_s", lambda t: f"{1769443022 + t}"),
        ("time", lambda t: f"2026-01-26T15:57:{2 + t:06.3f}Z"),
        ("frame", lambda t: f"{round(t * 2)}"),
        ("time_s", lambda t: f"{t:.3e}"),
    ],
)
def test_times_are_epoch_seconds_iso_times_or_frames(
    tmp_path: Path, column: str, told: Callable[[float], str]
) -> None:
    rows = walk("a", "1", start_s=0, x_m=-5)
    plain = read_tracking(write(tmp_path / "plain", rows, {"a": 0.0}))
    folder = write(tmp_path / "other", rows, {"a": 0.0}, fps=2)
    head, *lines = (folder / "tracks.csv").read_text().splitlines()
    cells = [line.split(",") for line in lines]
    changed_lines = [",".join([c[0], c[1], told(float(c[2])), *c[3:]]) for c in cells]
    text = "\n".join([head.replace("time_s", column), *changed_lines]) + "\n"
    (folder / "tracks.csv").write_text(text)
    assert read_tracking(folder).boxes.time_s == pytest.approx(plain.boxes.time_s)


def test_a_cut_view_also_sees_whom_only_another_camera_has_a_box_of(tmp_path: Path) -> None:
    middles = {"a": 0.0, "b": 12.0, "c": 24.0, "d": 36.0}
    rows = [
        row
        for number in range(6)
        for row in walk("a", str(number), start_s=20.0 * number, x_m=-18, seconds=60)
        for row in [(camera, *row[1:]) for camera, x in middles.items() if abs(row[3] - x) < 19]
        if (row[0], row[1]) != ("b", "3")
    ]
    seen = look_at(read_tracking(write(tmp_path, rows, middles)), cut_views=True)
    third = seen.tracking.targets.index("3")
    cameras = [(one.camera, len(one.rows) > 0) for one in seen.seen[third]]
    assert cameras == [(0, True), (1, False), (2, True), (3, True)]
    first, _, after, _ = seen.seen[third]
    assert not is_followed(seen.seen[third], (first, after))
    assert all(len(one.rows) for target, those in seen.seen.items() if target != third for one in those)


def test_few_boxes_have_no_part_of_a_view(tmp_path: Path) -> None:
    rows = [("a", "1", float(at), float(at), float((at + 1) % 3)) for at in range(3)]
    with pytest.raises(DataError, match="only 0 of 0 cameras"):
        look_at(read_tracking(write(tmp_path, rows, {"a": 0.0})), cut_views=True)


def test_times_too_late_for_a_day_are_counted_from_the_first_whatever_the_layout(tmp_path: Path) -> None:
    plain = read_tracking(write(tmp_path, walk("a", "1", start_s=0, x_m=-5), {"a": 0.0}))
    boxes = replace(plain.boxes, time_s=plain.boxes.time_s + 86_000)
    track = Track(times_s=boxes.time_s, xy_m=np.zeros((len(boxes), 2)))
    seen = look_at(replace(plain, boxes=boxes, tracks={"1": track})).tracking
    assert seen.boxes.time_s == pytest.approx(plain.boxes.time_s)
    assert seen.tracks["1"].times_s == pytest.approx(plain.boxes.time_s)
    assert "times count from 86,000 s" in seen.notes


def test_targets_of_several_kinds_are_held_to_their_own_limits(tmp_path: Path) -> None:
    folder = write(tmp_path, walk("a", "1", start_s=0, x_m=-5), {"a": 0.0})
    lines = (folder / "tracks.csv").read_text().splitlines()
    text = (
        "\n".join([f"{lines[0]},kind", *(f"{line},person" for line in lines[1:]), "a,2,0,5,5,9,9,car"]) + "\n"
    )
    (folder / "tracks.csv").write_text(text)
    tracking = read_tracking(folder)
    assert [tracking.body_of(0), tracking.body_of(1)] == ["pedestrian", "vehicle"]
    (folder / "tracks.csv").write_text(text.replace("car", "comet"))
    with pytest.raises(DataError, match="'comet' is none of"):
        read_tracking(folder)


def test_ways_are_told_as_finely_as_a_targets_own_kind_needs(tmp_path: Path) -> None:
    turning = [
        ("a", "1", at / 4, -5 + min(at * 0.3, 6.0), max(at * 0.3 - 6.0, 0.0) * 0.4) for at in range(40)
    ]
    car = [("a", "2", 30 + at / 4, 2.0 * at - 9, -5.0) for at in range(12)]
    told = []
    for name, rows in (("alone", turning), ("beside", [*turning, *car])):
        folder = write(tmp_path / name, rows, {"a": 0.0})
        head, *lines = (folder / "tracks.csv").read_text().splitlines()
        kinds = [f"{line},{'car' if line.startswith('a,2') else 'person'}" for line in lines]
        (folder / "tracks.csv").write_text("\n".join([f"{head},kind", *kinds]) + "\n")
        changed(folder, lambda site: site.update(targets="vehicle"))
        build(read_tracking(folder), tmp_path / f"{name}-out", Options(tasks=("GeoLocation",)))
        trips = (tmp_path / f"{name}-out/build/trips.ndjson").read_text().splitlines()
        told += [
            stay["motion"]
            for trip in map(json.loads, trips)
            if trip["target"] == "1"
            for stay in trip["stays"]
        ]
    assert len(told) == 2
    assert told[0] == told[1]


def test_the_command_tells_it_as_text_as_json_and_as_a_picture(pair: Path, tmp_path: Path) -> None:
    words = [str(pair), "--from", "tracking"]
    said = CliRunner().invoke(check_recording, [*words, "--picture", str(tmp_path / "plan.png")])
    assert said.exit_code == 0, said.output
    assert "130 boxes of 5 pedestrians in 2 cameras" in said.output
    with Image.open(tmp_path / "plan.png") as picture:
        assert picture.width >= 900
    changed(pair, lambda site: site["cameras"]["a"].update(image_size=[700, 300]))
    told = CliRunner().invoke(check_recording, [*words, "--json"])
    assert told.exit_code == 1
    document = json.loads(told.output)
    assert document["fit"] is False
    assert [one["camera"] for one in document["findings"] if one["refused"]] == ["a"]


def rewritten(folder: Path, change: Callable[[list[str]], list[str]]) -> Path:
    """The folder with every line of its table changed."""
    head, *lines = (folder / "tracks.csv").read_text().splitlines()
    (folder / "tracks.csv").write_text(
        "\n".join([head, *(",".join(change(line.split(","))) for line in lines)])
    )
    return folder


def in_corners(fields: list[str]) -> list[str]:
    left, top, width, height = map(float, fields[3:7])
    return [*fields[:5], f"{left + width}", f"{top + height}"]


def in_shares(fields: list[str]) -> list[str]:
    return [*fields[:3], *(f"{float(text) / 1920:.6f}" for text in fields[3:7])]


def on_their_side(fields: list[str]) -> list[str]:
    return [*fields[:5], fields[6], fields[5]]


def an_hour_later(fields: list[str]) -> list[str]:
    return [*fields[:2], str(float(fields[2]) + 3600 * (fields[0] == "b")), *fields[3:]]


@pytest.mark.parametrize(
    ("change", "kind", "says", "refused"),
    [
        (in_corners, "boxes", "left, top, right, bottom", True),
        (in_shares, "boxes", "shares of the picture", True),
        (on_their_side, "boxes", "turned by 90°", False),
        (an_hour_later, "clocks", "of every other camera: is its clock off?", False),
    ],
)
def test_what_numbers_of_another_meaning_do_is_named(
    pair: Path, change: Callable[[list[str]], list[str]], kind: str, says: str, refused: bool
) -> None:
    findings = [finding for finding in look(rewritten(pair, change)).findings if says in finding.text]
    assert {(finding.kind, finding.refused) for finding in findings} == {(kind, refused)}


def test_degrees_in_place_of_metres_are_refused_as_speeds(pair: Path) -> None:
    def shrink(site: dict[str, Any]) -> None:
        for camera in site["cameras"].values():
            camera["homography"] = (np.diag([1e-5, 1e-5, 1]) @ np.array(camera["homography"])).tolist()

    with pytest.raises(DataError, match="are the metres degrees or kilometres"):
        look(changed(pair, shrink)).refuse()


def test_parked_cars_do_not_make_walkers_metres_doubtful(tmp_path: Path) -> None:
    parked: list[Row] = [("a", "2", at / 2, 3.0, 2.0) for at in range(20)]
    rows = [*walk("a", "1", start_s=0, x_m=-5), *parked]
    site = look(write(tmp_path / "both", rows, {"a": 0.0})).tracking
    kinds = tuple("vehicle" if name == "2" else "pedestrian" for name in site.targets)
    assert [f for f in look_at(replace(site, bodies=kinds)).findings if f.kind == "units"] == []
    alone = write(tmp_path / "alone", parked, {"a": 0.0}, targets="vehicle")
    assert any("1 sightings of vehicles" in text for text in found(alone, "units"))


def test_only_numbers_of_a_table_with_semicolons_have_decimal_commas(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("camera;u;v;x;y\nHall, north;1,5;2;-,5;1,2e3\n")
    assert {name: pairs.tolist() for name, pairs in read_point_pairs(table).items()} == {
        "Hall, north": [[1.5, 2, -0.5, 1200]]
    }


def test_a_first_line_whose_quotes_do_not_end_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text('"camera,u,v,x,y\na,1,2,3,4\n')
    with pytest.raises(DataError, match=r"pairs\.csv, line 1: unexpected end of data"):
        read_point_pairs(table)


def test_tables_of_spreadsheets_are_read_as_others_are(pair: Path) -> None:
    plain = read_tracking(pair).boxes
    text = (pair / "tracks.csv").read_text().replace(",", ";").replace(".", ",")
    (pair / "tracks.csv").write_bytes(text.title().replace("\n", "\r\n").lower().encode("utf-8-sig"))
    assert np.array_equal(read_tracking(pair).boxes.ltwh, plain.ltwh)
    (pair / "tracks.csv").write_text(text.replace(";", ","))
    with pytest.raises(DataError, match="decimal commas need semicolons"):
        read_tracking(pair)


def test_a_camera_without_boxes_and_targets_without_a_path_are_said(pair: Path) -> None:
    look_of_pair = look(changed(pair, lambda site: site["cameras"].update(gone=site["cameras"]["a"])))
    assert "without a box: gone" in map(str, look_of_pair.findings)
    numbered = iter(range(10_000))
    glimpsed = look(rewritten(pair, lambda fields: [fields[0], str(next(numbered)), *fields[2:]]))
    assert any(finding.kind == "tracks" for finding in glimpsed.findings)
