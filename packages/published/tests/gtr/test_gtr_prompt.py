"""The guarded prompt tells nothing that it must not; the official one keeps the released quirks."""

import copy
import re
from typing import Any

import pytest

from gnomon_published.benchmarks.gtr_bench.case import case_from_json, displayed_choices
from gnomon_published.benchmarks.gtr_bench.prompt import guarded_parts, official_parts

Entry = dict[str, Any]


def _guarded(entry: Entry) -> list[object]:
    return [part.content for part in guarded_parts(case_from_json(entry, "indoor"), None)]


def _text(entry: Entry) -> str:
    return "\n".join(map(str, _guarded(entry)))


@pytest.fixture(params=["reordering", "arrival", "forecast", "meeting"])
def entry(request: pytest.FixtureRequest) -> Entry:
    found: Entry = request.getfixturevalue(request.param)
    return found


def test_hidden_fields_ids_and_file_names_cannot_change_the_guarded_prompt(entry: Entry) -> None:
    other = copy.deepcopy(entry)
    other |= {
        "case_id": "another",
        "map_image_path": "./data/indoor/map/x_map_99_another.png",
        "start_point": {"camera_id": "c98", "time": "12:34:56.789"},
        "middle_point": {"camera_id": "c97"},
        "middle_path": ["c96"],
        "surprise": "c95",
    }
    for clip in other["camera_images"]:
        clip |= {
            "object_id": 1000 + int(clip["object_id"]),
            "video_path": "elsewhere.avi",
            "direction": "",
            "frame_ids": [frame + 5000 for frame in clip["frame_ids"]],
        }
    if "ground_truth" in other:
        other["ground_truth"] = other["choices"][-1]
    else:
        other["correct_cam_name"] = other["correct_cam_name"][::-1]
        other["correct_time_str"] = ["12:59:00.000-12:59:01.000"] * len(other["correct_time_str"])
    assert _guarded(other) == _guarded(entry)


def test_no_id_file_name_or_direction_stands_in_the_guarded_prompt(entry: Entry) -> None:
    text = _text(entry)
    for hidden in ("case-", "mtmmc", ".png", "North of", "c99", entry["task_id"]):
        assert hidden not in text
    assert set(re.findall(r"target \d+", text)) <= {"target 1", "target 2"}


def test_the_order_and_the_clock_of_published_clips_cannot_change_a_reordering_prompt(
    reordering: Entry,
) -> None:
    other = copy.deepcopy(reordering)
    other["camera_images"].reverse()
    for index, clip in enumerate(other["camera_images"]):
        length_s = clip["end_timestamp"] - clip["start_timestamp"]
        clip["start_timestamp"] = 1000.0 * (index + 1)
        clip["end_timestamp"] = clip["start_timestamp"] + length_s
        clip["frame_ids"] = [frame + 3000 * index for frame in clip["frame_ids"]]
    assert _guarded(other) == _guarded(reordering)


def test_a_reordering_prompt_holds_no_clock_time(reordering: Entry) -> None:
    text = _text(reordering)
    assert not re.search(r"\d\d:\d\d:\d\d", text)
    assert "lasting 6.000 s" in text
    assert "+2.000 s box x=101.0 y=50.0 w=40.0 h=90.0" in text


def test_the_clip_order_of_reordering_prompts_is_not_the_answer(reordering: Entry) -> None:
    orders = set()
    for shift in range(20):
        moved = copy.deepcopy(reordering)
        for clip in moved["camera_images"]:
            clip["bboxes"][0][0] += shift
        orders.add(tuple(re.findall(r"Clip \d: camera (c\d+)", _text(moved))))
    assert len(orders) > 3


def test_equal_options_are_listed_once(reordering: Entry) -> None:
    assert displayed_choices(case_from_json(reordering, "indoor"), "guarded") == (
        "A. c01 → c02 → c03",
        "B. c03 → c01 → c02",
        "C. c02 → c01 → c03",
    )


def test_an_order_of_cameras_that_filmed_nothing_is_not_offered(reordering: Entry) -> None:
    reordering["choices"][3] = "D. c02 → c09 → c03"
    case = case_from_json(reordering, "indoor")
    assert displayed_choices(case, "guarded") == ("A. c01 → c02 → c03", "B. c03 → c01 → c02")
    assert "c09" not in _text(reordering)
    assert displayed_choices(case, "official") == tuple(reordering["choices"])


def test_rounding_tells_nothing_of_an_arrival(arrival: Entry) -> None:
    case = case_from_json(arrival, "indoor")
    shown = displayed_choices(case, "guarded")
    assert shown[1] == "B. 12:00:13.500-12:00:14.500"
    assert all(re.fullmatch(r"[A-D]\. \S+\d00-\S+\d00", choice) for choice in shown)
    assert displayed_choices(case, "official") == tuple(arrival["choices"])


def test_the_guarded_prompt_has_the_documented_form(forecast: Entry) -> None:
    parts = guarded_parts(case_from_json(forecast, "indoor"), None)
    assert [part.shown for part in parts] == ["map", "camera_data", "camera_data", "always"]
    assert str(parts[1].content).splitlines()[:2] == [
        "Clip 1: camera c04, target 1, 12:00:05.000-12:00:11.000",
        "  12:00:05.000 box x=100.0 y=50.0 w=40.0 h=90.0",
    ]
    span = '"HH:MM:SS.mmm-HH:MM:SS.mmm"'
    form = f'{{"answer": ["<letter>", "<letter>"], "time_duration": [{span}, {span}]}}'
    assert str(parts[3].content).splitlines() == [
        "Question: Which camera comes next, after c01 at 12:00:10.000?",
        "Options:",
        *forecast["choices"],
        f"Answer with one JSON object: {form}.",
    ]


def test_two_targets_are_told_apart(meeting: Entry) -> None:
    assert re.findall(r"target \d", _text(meeting)) == ["target 1", "target 2"]


def test_the_official_prompt_keeps_question_order_and_quirks(entry: Entry) -> None:
    parts = official_parts(case_from_json(entry, "indoor"), None)
    text = "\n".join(str(part.content) for part in parts)
    assert entry["question"] in text
    assert re.findall(r"Camera: (c\d+)", text) == [clip["camera_id"] for clip in entry["camera_images"]]
    assert text.count("Unknown direction") == text.count("Camera: ")
    assert text.count("Box [") == 3 * len(parts[:-1])
    for choice in entry["choices"]:
        assert choice in text.splitlines()
    assert ("# " in text) == ("time_duration" in text)
    assert ('"TF"' in text) == (entry["task_id"] == "MultiTargetTrajectoryForecasting")


def test_the_official_reordering_prompt_withholds_times(reordering: Entry) -> None:
    parts = official_parts(case_from_json(reordering, "indoor"), None)
    assert not [part for part in parts[:-1] if re.search(r"\d\d:\d\d:\d\d", str(part.content))]
