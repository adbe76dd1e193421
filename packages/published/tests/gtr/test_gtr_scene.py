"""The scenes of GTR-Bench, and the published data and table themselves."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw
from shapely import Point

from gnomon.core.benchmark import BENCHMARKS, PromptProtocol
from gnomon.core.errors import DataError
from gnomon.core.sample import ImageRef
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.gtr_bench import gtr_bench
from gnomon_published.benchmarks.gtr_bench.case import TASKS, body_of, case_from_json
from gnomon_published.benchmarks.gtr_bench.layout import find_layout, read_cases
from gnomon_published.benchmarks.gtr_bench.scenes import indoor_scene, map_image_of, outdoor_scene

Entry = dict[str, Any]


def test_the_plug_in_is_found_by_its_name() -> None:
    assert BENCHMARKS.get("gtr-bench") is gtr_bench
    assert "gtr-bench" in BENCHMARKS.names()


def test_the_building_has_sixteen_cameras_that_see_where_they_look() -> None:
    scene = indoor_scene(None)
    assert sorted(scene.cameras) == [f"c{number:02d}" for number in range(1, 17)]
    assert Counter(camera.floor for camera in scene.cameras.values()) == {1: 7, 2: 7, 3: 2}
    for camera in scene.cameras.values():
        assert camera.xy_m is not None
        assert camera.field_of_view is not None
        assert camera.heading_deg is not None
        assert camera.range_m is not None
        assert camera.field_of_view.is_valid
        assert camera.homography is None
        centre = camera.field_of_view.centroid
        heading = math.radians(camera.heading_deg)
        ahead = (centre.x - camera.xy_m[0]) * math.sin(heading) + (centre.y - camera.xy_m[1]) * math.cos(
            heading
        )
        assert 0 < ahead < camera.range_m < 60
        assert camera.fov_deg is None  # the map does not tell it


def test_north_is_up_and_east_is_right() -> None:
    cameras = indoor_scene(None).cameras
    assert cameras["c05"].heading_deg == pytest.approx(90, abs=5)
    assert cameras["c01"].heading_deg == pytest.approx(270, abs=5)
    assert cameras["c15"].heading_deg == pytest.approx(360, abs=10)
    (west_m, hall_m), (_, south_m) = cameras["c05"].xy_m or (0, 0), cameras["c04"].xy_m or (0, 0)
    assert west_m < 20 < hall_m
    assert south_m < hall_m


def test_a_homography_is_composed_with_the_map_into_metres(tmp_path: Path) -> None:
    identity = np.eye(3).tolist()
    path = tmp_path / "homography.json"
    path.write_text(json.dumps([{"camera_id": "c01", "homography_matrix": identity}]), encoding="utf-8")
    matrix = indoor_scene(path).cameras["c01"].homography
    assert matrix is not None
    assert matrix @ (112.0, 546.0 - 224.0, 1.0) == pytest.approx((10.0, 20.0, 1.0))
    assert indoor_scene(path) is indoor_scene(path)


def test_broken_homographies_are_refused_with_the_file_name(tmp_path: Path) -> None:
    path = tmp_path / "homography.json"
    path.write_text('[{"camera_id": "c01", "homography_matrix": [[1]]}]', encoding="utf-8")
    with pytest.raises(DataError, match=r"homography\.json"):
        indoor_scene(path)


def test_outdoor_cameras_have_names_and_no_positions(reordering: Entry) -> None:
    scene = outdoor_scene(case_from_json(reordering, "outdoor"))
    assert list(scene.cameras) == ["c01", "c02", "c03"]
    assert all(camera.xy_m is None and camera.heading_deg is None for camera in scene.cameras.values())


def test_a_picture_without_known_titles_has_no_scale(tmp_path: Path) -> None:
    path = tmp_path / "map.png"
    image = Image.new("L", (824, 616), "white")
    ImageDraw.Draw(image).rectangle((0, 50, 823, 596), fill=128)
    image.save(path)
    ref = ImageRef(sha256="0", media_type="image/png", width=824, height=616)
    assert map_image_of(ref, path) is None


def test_the_published_means_are_means_of_the_cells() -> None:
    rows = gtr_bench.published()
    assert len(rows) == 14
    cells = {f"{scene}.{task.short}" for scene in gtr_bench.scenes for task in TASKS.values()}
    for row in rows:
        assert set(row.by_task) == cells
        values = [value for value in row.by_task.values() if value is not None]
        assert row.aggregate == pytest.approx(sum(values) / 14, abs=6e-5)
    assert [(row.model, row.aggregate) for row in rows if row.group == "human"] == [("Human Level", 0.7861)]


@pytest.fixture(params=["guarded", "official"])
def protocol(request: pytest.FixtureRequest) -> PromptProtocol:
    chosen: PromptProtocol = request.param
    return chosen


def test_every_published_case_is_used(gtr_dir: Path) -> None:
    cases, faults = read_cases(find_layout(gtr_dir))
    assert cases
    assert not faults
    assert len({case.case_id for case in cases}) == len(cases)


def test_a_right_answer_scores_one_on_every_published_case(gtr_dir: Path, tmp_path: Path) -> None:
    layout = find_layout(gtr_dir)
    for case in read_cases(layout)[0]:
        answer = [body_of(choice) for choice in case.gold]
        response = json.dumps({"answer": answer, "time_duration": list(case.correct_time_str)})
        record = {"case": case.raw, "response": response}
        assert gtr_bench.score_record(record, scoring="strict").value == pytest.approx(1.0)


def test_published_samples_open_and_score_under_each_protocol(
    gtr_dir: Path, gtr_media: MediaStore, protocol: PromptProtocol
) -> None:
    samples = gtr_bench.open(data=gtr_dir, select=Select(limit=12), protocol=protocol, media=gtr_media)
    assert len(samples.refs) <= 12
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        assert sample.scene is not None
        score = gtr_bench.score(sample, '{"answer": "A"}', scoring="strict")
        assert score.answer == (None if ref.task == "TrajectoryForecasting" else "A")


def test_no_guarded_prompt_of_the_published_cases_tells_what_is_hidden(
    gtr_dir: Path, gtr_media: MediaStore
) -> None:
    samples = gtr_bench.open(data=gtr_dir, select=Select(), protocol="guarded", media=gtr_media)
    layout = find_layout(gtr_dir)
    cases = {case.case_id: case for case in read_cases(layout)[0]}
    for ref in samples.refs[:28]:  # two of each cell
        text = "\n".join(str(part.content) for part in samples.get(ref.sample_id).parts)
        case = cases[ref.sample_id]
        assert case.case_id not in text
        assert "North of" not in text
        assert all(clip.video_path not in text for clip in case.clips)


def test_feet_seen_by_a_camera_fall_where_the_map_says_it_looks(gtr_dir: Path) -> None:
    layout = find_layout(gtr_dir)
    scene = indoor_scene(layout.homographies)
    inside = total = 0
    for case in read_cases(layout)[0]:
        for clip in case.clips if case.scene == "indoor" else ():
            camera = scene.cameras[clip.camera_id]
            if camera.homography is None or camera.field_of_view is None:
                continue
            near = camera.field_of_view.buffer(1.0)
            for x, y, width, height in clip.bboxes:
                foot = (x + width / 2, y + height)
                if 0 <= foot[0] <= 1920 and 0 <= foot[1] <= 1080:
                    east, north, scale = camera.homography @ (*foot, 1.0)
                    inside += near.contains(Point(east / scale, north / scale))
                    total += 1
    if not total:
        pytest.skip("no homographies in this copy of the data")
    assert inside / total > 0.7


def test_the_floors_of_every_indoor_map_are_recognised(gtr_dir: Path) -> None:
    layout = find_layout(gtr_dir)
    seen = set()
    for case in read_cases(layout)[0]:
        path = layout.map_of(case) if case.scene == "indoor" else None
        if path is None or (size := path.stat().st_size) in seen:
            continue
        seen.add(size)
        with Image.open(path) as picture:
            width, height = picture.size
        ref = ImageRef(sha256="0", media_type="image/png", width=width, height=height)
        image = map_image_of(ref, path)
        assert image is not None
        assert 10 / image.metres_per_pixel == pytest.approx(112)
        assert set(image.origin_px) <= {1, 2, 3}
