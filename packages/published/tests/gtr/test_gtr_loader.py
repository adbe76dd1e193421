"""Reading GTR-Bench's published folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.errors import DataError, NotFound, SpecError
from gnomon.core.sample import ImageRef
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.gtr_bench import gtr_bench
from gnomon_tools.scene.format import scene_to_json
from tests.numbered import number_of, write_clip

Entry = dict[str, Any]
Publish = Callable[..., Path]


def _open(data: Path, media: MediaStore, protocol: PromptProtocol = "guarded", **select: Any) -> Any:
    return gtr_bench.open(data=data, select=Select(**select), protocol=protocol, media=media)


def test_a_folder_and_its_data_child_are_both_accepted(
    publish: Publish, media: MediaStore, arrival: Entry
) -> None:
    root = publish(arrival)
    assert [ref.cell for ref in _open(root, media).refs] == ["indoor.ATI"]
    assert _open(root / "data", media).get("case-ati").missing == _open(root, media).get("case-ati").missing


def test_a_folder_without_question_files_says_what_is_expected(tmp_path: Path, media: MediaStore) -> None:
    with pytest.raises(DataError, match=r"expected data/\{outdoor,indoor\}"):
        _open(tmp_path, media)


@pytest.mark.parametrize(
    ("field", "name"), [("select.tasks", {"tasks": ("GL",)}), ("select.scenes", {"scenes": ("moon",)})]
)
def test_an_unknown_task_or_scene_is_refused_by_field(
    publish: Publish, media: MediaStore, arrival: Entry, field: str, name: dict[str, Any]
) -> None:
    with pytest.raises(SpecError) as caught:
        _open(publish(arrival), media, **name)
    assert caught.value.field == field


def test_a_malformed_case_is_named_and_the_others_run(
    publish: Publish, media: MediaStore, arrival: Entry, forecast: Entry
) -> None:
    broken = [
        {**arrival, "case_id": "short", "ground_truth": ""},
        {**arrival, "case_id": "boxes", "camera_images": [{**arrival["camera_images"][0], "bboxes": []}]},
        {**arrival, "case_id": "stray", "ground_truth": "A. not an option"},
        {**arrival, "case_id": "letters", "choices": ["B. x", "A. y"]},
        {**forecast, "case_id": "half", "correct_time_str": []},
        "no object",
        {**arrival, "map_image_path": "./data/indoor/map/other.png"},
    ]
    samples = _open(publish(arrival, *broken), media)
    assert [ref.sample_id for ref in samples.refs] == ["case-ati"]
    kinds = {fault.sample_id: fault.kind for fault in samples.faults if fault.sample_id}
    assert kinds == {
        "short": "malformed",
        "boxes": "malformed",
        "stray": "malformed",
        "letters": "malformed",
        "half": "malformed",
        "indoor_GeoLocation_30.json[0]": "malformed",
        "case-ati": "duplicate",
    }
    assert all(fault.detail for fault in samples.faults)


def test_a_file_that_is_no_json_is_a_fault_and_not_the_end(
    publish: Publish, media: MediaStore, arrival: Entry
) -> None:
    root = publish(arrival)
    (root / "data/indoor/indoor_MotionState_30.json").write_text("{", encoding="utf-8")
    samples = _open(root, media)
    assert len(samples.refs) == 1
    assert "indoor_MotionState_30.json" in {fault.sample_id for fault in samples.faults}


def test_a_case_without_its_map_still_runs_and_is_named(
    publish: Publish, media: MediaStore, arrival: Entry
) -> None:
    samples = _open(publish(arrival, without_map=("case-ati",)), media)
    sample = samples.get("case-ati")
    assert arrival["map_image_path"] in sample.missing
    assert sample.parts[0].content == "Map: not available."
    assert ("case-ati", "map") in {(fault.sample_id, fault.kind) for fault in samples.faults}
    official = _open(publish(arrival, without_map=("case-ati",)), media, "official").get("case-ati")
    assert not [part for part in official.parts if part.shown == "map"]


def test_absent_frames_are_one_line_with_a_denominator(
    publish: Publish, media: MediaStore, arrival: Entry, forecast: Entry
) -> None:
    faults = [fault for fault in _open(publish(arrival, forecast), media).faults if fault.kind == "media"]
    assert [fault.detail.partition(" clips")[0] for fault in faults] == ["frames of 4 of 4"]


@pytest.mark.parametrize("protocol", ["guarded", "official"])
def test_frames_that_are_there_are_shown(
    publish: Publish, media: MediaStore, arrival: Entry, protocol: PromptProtocol
) -> None:
    root = publish(arrival)
    folder = root / "data/indoor/mtmmc/train/s01/c01/rgb"
    folder.mkdir(parents=True)
    for frame in (100, 120, 130):  # first, middle and last of four
        Image.new("RGB", (2000, 300), "white").save(folder / f"{frame:06d}.jpg")
    sample = _open(root, media, protocol).get("case-ati")
    pictures = [part.content for part in sample.parts if part.shown == "media"]
    images = [picture for picture in pictures if isinstance(picture, ImageRef)]
    assert [(image.media_type, image.width) for image in images] == [("image/jpeg", 1800)] * 3
    assert sample.missing == (arrival["camera_images"][1]["video_path"],)


def test_a_path_that_leads_out_of_the_folder_is_not_read(
    publish: Publish, media: MediaStore, arrival: Entry, png: bytes
) -> None:
    root = publish(arrival, without_map=("case-ati",))
    (root / "secret.png").write_bytes(png)
    arrival["map_image_path"] = "./data/../secret.png"
    assert (
        arrival["map_image_path"]
        in _open(publish(arrival, without_map=("case-ati",)), media).get("case-ati").missing
    )


@pytest.mark.parametrize("protocol", ["guarded", "official"])
@pytest.mark.parametrize("cut", [4, 60])
def test_a_broken_map_is_the_datas_fault(
    publish: Publish, media: MediaStore, arrival: Entry, protocol: PromptProtocol, cut: int
) -> None:
    root = publish(arrival)
    path = root / arrival["map_image_path"]
    path.write_bytes(path.read_bytes()[:cut])
    samples = _open(root, media, protocol)
    with pytest.raises(DataError):
        samples.get("case-ati")


@pytest.mark.parametrize("scene", ["indoor", "outdoor"])
def test_what_tools_can_look_at_does_not_depend_on_the_answer(
    publish: Publish, media: MediaStore, arrival: Entry, scene: str
) -> None:
    other = arrival | {
        "ground_truth": arrival["choices"][0],
        "middle_path": ["c98"],
        "middle_point": {"camera_id": "c97", "time": "12:00:13.486"},
    }
    scenes = [
        scene_to_json(
            _open(publish(one, scene=scene, without_map=("case-ati",)), media).get("case-ati").scene
        )
        for one in (arrival, other)
    ]
    assert scenes[0] == scenes[1]


def test_a_smaller_limit_is_a_prefix_of_a_larger_one(
    publish: Publish, media: MediaStore, arrival: Entry
) -> None:
    root = publish(*({**arrival, "case_id": f"case-{n}"} for n in range(12)))

    def drawn(limit: int | None, seed: int = 0) -> list[str]:
        return [ref.sample_id for ref in _open(root, media, limit=limit, seed=seed).refs]

    assert drawn(5) == drawn(None)[:5] == drawn(9)[:5]
    assert drawn(None, seed=1) != drawn(None)
    assert sorted(drawn(None, seed=1)) == sorted(drawn(None))


def test_a_sample_outside_the_selection_is_not_found(
    publish: Publish, media: MediaStore, arrival: Entry, forecast: Entry
) -> None:
    samples = _open(publish(arrival, forecast), media, tasks=("TrajectoryForecasting",))
    with pytest.raises(NotFound):
        samples.get("case-ati")


def test_clusters_are_components_of_targets_over_the_whole_data_set(
    publish: Publish, media: MediaStore, arrival: Entry, forecast: Entry, meeting: Entry
) -> None:
    nine = {**arrival, "case_id": "nine", "camera_images": [dict(meeting["camera_images"][1])]}
    root = publish(arrival, nine, forecast, meeting)
    clusters = {ref.sample_id: ref.cluster for ref in _open(root, media).refs}
    assert clusters == {
        "case-ati": "indoor.7",
        "case-tf": "indoor.8",
        "case-mttf": "indoor.8",
        "nine": "indoor.8",
    }
    alone = _open(root, media, tasks=("ArrivalTimeInterval",)).refs
    assert {ref.sample_id: ref.cluster for ref in alone} == {"case-ati": "indoor.7", "nine": "indoor.8"}


def test_equal_target_numbers_in_two_scenes_are_two_targets(
    publish: Publish, media: MediaStore, arrival: Entry
) -> None:
    publish(arrival)
    root = publish({**arrival, "case_id": "street"}, scene="outdoor", without_map=("street",))
    assert {ref.cluster for ref in _open(root, media).refs} == {"indoor.7", "outdoor.7"}


@pytest.mark.parametrize("protocol", ["guarded", "official"])
def test_outdoor_videos_show_the_numbered_frames(
    publish: Publish, media: MediaStore, arrival: Entry, protocol: PromptProtocol
) -> None:
    for clip, frames in zip(arrival["camera_images"], ([3, 9, 14, 20], [1, 2]), strict=True):
        path = f"./data/outdoor/cityflow/{clip['camera_id']}/vdo.avi"
        clip |= {"video_path": path, "frame_ids": frames, "bboxes": [[20.0, 60.0, 40.0, 30.0]] * len(frames)}
    arrival["map_image_path"] = "./data/outdoor/map/case-ati.png"
    root = publish(arrival, scene="outdoor")
    write_clip(root / arrival["camera_images"][0]["video_path"], 25, codec="mpeg4", width=640, height=384)
    broken = root / arrival["camera_images"][1]["video_path"]
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"no video")
    sample = _open(root, media, protocol).get("case-ati")
    pictures = [part.content for part in sample.parts if part.shown == "media"]
    sent = [media.read(picture.sha256) for picture in pictures if isinstance(picture, ImageRef)]
    if protocol == "guarded":  # the official panel covers some of the numbers' bits
        assert [number_of(data) for data in sent] == [3, 14, 20]
    assert len(sent) == 3
    assert sample.missing == (arrival["camera_images"][1]["video_path"],)
