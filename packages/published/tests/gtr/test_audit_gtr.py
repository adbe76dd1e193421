"""Which shortcuts of GTR-Bench the audit finds, and from where they can be seen."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnomon.core.audit_plugin import find_audit_plugin
from gnomon.core.benchmark import BENCHMARKS, PromptProtocol
from gnomon.core.errors import DataError
from gnomon.core.sample import Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_analyses.audit.audit import audit
from gnomon_analyses.audit.findings import Findings, ShortcutAccuracy
from gnomon_published.benchmarks.gtr_bench.audit.rules import RULES
from gnomon_published.benchmarks.gtr_bench.audit.shortcuts import Kinship, by_target
from gnomon_published.benchmarks.gtr_bench.audit.shown_question import (
    Seen,
    SeenClip,
    seen_in_files,
    seen_in_prompt,
)
from gnomon_published.benchmarks.gtr_bench.case import body_of, displayed_choices
from gnomon_tools.core.inputs import held
from gnomon_tools.scene.scene import Camera
from gnomon_worlds.generate import generate

Case = dict[str, Any]
Change = Callable[[Case], None]
SAMPLES = 140  # ten a cell


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    generate(folder / "questions", scenes=1, samples=SAMPLES)
    return folder / "questions"


@pytest.fixture
def audited(published: Path, tmp_path: Path) -> Callable[..., Findings]:
    """Audit the generated questions of a task, each changed first."""

    def run(task: str, change: Change = lambda case: None) -> Findings:
        for path in published.glob(f"data/*/*_{task}_*.json"):
            given = json.loads(path.read_text())
            for case in given["cases"]:
                change(case)
            copy = tmp_path / path.relative_to(published)
            copy.parent.mkdir(parents=True)
            copy.write_text(json.dumps(given))
        return audit(
            BENCHMARKS.get("gtr-bench"), data=tmp_path, select=Select(), media=MediaStore(tmp_path / "media")
        )

    return run


def pick(found: Findings, shortcut: str, view: str) -> list[ShortcutAccuracy]:
    rows = [
        accuracy for accuracy in found.accuracies if accuracy.shortcut == shortcut and accuracy.view == view
    ]
    assert {accuracy.cell.partition(".")[0] for accuracy in rows} == {"indoor", "outdoor"}
    return rows


def in_the_order_of_the_answer(case: Case) -> None:
    order = body_of(case["ground_truth"]).split(" → ")
    case["camera_images"].sort(key=lambda clip: order.index(clip["camera_id"]))


def on_the_grid_but_for_the_truth(case: Case) -> None:
    for index, choice in enumerate(case["choices"]):
        if choice != case["ground_truth"]:
            case["choices"][index] = f"{choice[:3]}12:00:0{index}.100-12:01:0{index}.300"
        else:
            case["choices"][index] = case["ground_truth"] = f"{choice[:3]}12:00:07.123-12:01:07.456"


def test_clips_in_the_order_of_the_answer_tell_it_officially_and_not_guarded(
    audited: Callable[..., Findings],
) -> None:
    found = audited("CausalReordering", in_the_order_of_the_answer)
    for view in ("files", "official"):
        assert [accuracy.value for accuracy in pick(found, "CR: order of the clips", view)] == [1.0, 1.0]
    assert all(accuracy.value < 0.7 for accuracy in pick(found, "CR: order of the clips", "guarded"))
    assert not found.surviving


def test_times_of_clips_to_be_ordered_stand_in_the_files_alone(audited: Callable[..., Findings]) -> None:
    found = audited("CausalReordering")
    assert [accuracy.value for accuracy in pick(found, "CR: start times", "files")] == [1.0, 1.0]
    for view in ("official", "guarded"):
        assert [accuracy.applies for accuracy in pick(found, "CR: start times", view)] == [0, 0]
        assert [accuracy.applies for accuracy in pick(found, "CR: frame numbers", view)] == [0, 0]


def test_a_true_interval_off_the_grid_is_found_officially_and_not_guarded(
    audited: Callable[..., Findings],
) -> None:
    found = audited("ArrivalTimeInterval", on_the_grid_but_for_the_truth)
    name = "ATI: options off the 0.1 s grid"
    assert [accuracy.value for accuracy in pick(found, name, "official")] == [1.0, 1.0]
    assert [accuracy.applies for accuracy in pick(found, name, "guarded")] == [0, 0]


def test_hidden_fields_tell_the_answer_in_the_files_alone(audited: Callable[..., Findings]) -> None:
    found = audited("ArrivalTimeInterval")
    name = "hidden middle_path, middle_point"
    assert [accuracy.value for accuracy in pick(found, name, "files")] == [1.0, 1.0]
    assert [accuracy.applies for accuracy in pick(found, name, "guarded")] == [0, 0]


def test_a_hidden_time_in_the_question_survives_the_guard(audited: Callable[..., Findings]) -> None:
    def tell(case: Case) -> None:
        case["question"] += case["middle_point"]["time"]

    found = audited("ArrivalTimeInterval", tell)
    assert {accuracy.shortcut for accuracy in found.surviving} == {"hidden times in the prompt"}
    assert found.document()["surviving_leaks"]


def test_a_file_name_in_the_question_survives_the_guard(audited: Callable[..., Findings]) -> None:
    def tell(case: Case) -> None:
        case["question"] += f" See {Path(case['map_image_path']).name} for the map."

    assert {accuracy.shortcut for accuracy in audited("GeoLocation", tell).surviving} == {
        "file names in the prompt"
    }


def test_faults_of_the_cases_are_named(audited: Callable[..., Findings]) -> None:
    def spoil(case: Case) -> None:
        case["map_image_path"] = "./data/nowhere.png"
        right = case["choices"].index(case["ground_truth"])
        wrong = [index for index in range(len(case["choices"])) if index != right]
        case["choices"][wrong[0]] = f"{'ABCD'[wrong[0]]}. {body_of(case['choices'][wrong[1]])}"
        case["choices"][wrong[2]] = f"{'ABCD'[wrong[2]]}. c901 → c902 → c903"

    counts = audited("CausalReordering", spoil).fault_counts
    assert counts["map"] == 20
    assert counts["duplicate_option"] >= 20
    assert counts["phantom_camera"] == 60


@pytest.mark.parametrize("protocol", ["official", "guarded"])
def test_every_prompt_is_read_whole(protocol: PromptProtocol, published: Path, tmp_path: Path) -> None:
    samples = BENCHMARKS.get("gtr-bench").open(
        data=published, select=Select(), protocol=protocol, media=MediaStore(tmp_path)
    )
    assert len(samples.refs) == SAMPLES
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        case = sample.target["case"]
        seen, files = seen_in_prompt(sample, protocol), seen_in_files(sample)
        assert seen.options == tuple(map(body_of, displayed_choices(case, protocol)))
        by_boxes = {clip.boxes: clip for clip in files.clips}
        assert {clip.boxes for clip in seen.clips} == set(by_boxes)
        for clip in seen.clips:
            assert clip.camera == by_boxes[clip.boxes].camera
            if seen.task == "CR":
                assert clip.span_s is None
            else:
                assert clip.span_s == pytest.approx(by_boxes[clip.boxes].span_s, abs=0.001)


def test_a_prompt_that_cannot_be_read_is_no_all_clear(published: Path, tmp_path: Path) -> None:
    samples = BENCHMARKS.get("gtr-bench").open(
        data=published, select=Select(limit=1), protocol="guarded", media=MediaStore(tmp_path)
    )
    sample = samples.get(samples.refs[0].sample_id)
    with pytest.raises(DataError, match="cannot be read: 0 of"):
        seen_in_prompt(replace(sample, parts=sample.parts[-1:]), "guarded")


def seen(task: str, options: tuple[str, ...], *clips: SeenClip, name: str = "q", **fields: Any) -> Seen:
    given = {"view": "official", "scene": "indoor", "text": "", "cameras": {}} | fields
    return Seen(sample_id=name, task=task, options=options, clips=clips, **given)


def seen_clip(camera: str, start_s: float, target: str = "7") -> SeenClip:
    boxes = ((camera, str(start_s), target, ""),)
    return SeenClip(camera=camera, target=target, boxes=boxes, span_s=(start_s, start_s + 5))


def left(rule: str, question: Seen) -> list[int] | None:
    found = RULES[rule][2](question)
    return None if found is None else list(found)


def test_a_true_interval_in_whole_seconds_among_others_is_left() -> None:
    whole, broken = "12:00:05.000-12:00:09.000", "12:00:15.300-12:00:19.000"
    rule = "ATI: options in whole seconds"
    assert left(rule, seen("ATI", (broken, whole, broken))) == [1]
    assert left(rule, seen("ATI", (whole, whole))) is None
    assert left(rule, seen("ATI", (broken, broken))) is None


def test_the_option_most_like_the_others_shares_most_places_with_them() -> None:
    question = seen("CR", ("a → b → c", "a → c → b", "b → a → c", "x → b → c"), seen_clip("a", 0.0))
    assert left("CR: option most like the others", question) == [0]


def test_options_with_cameras_of_no_clip_are_dropped() -> None:
    clips = [seen_clip(camera, 0.0) for camera in "abc"]
    question = seen("CR", ("a → b → c", "x → b → c"), *clips)
    assert left("CR: options within the clips' cameras", question) == [0]
    assert left("CR: options within the clips' cameras", replace(question, options=("a → b → c",))) is None


def test_the_nearest_camera_needs_every_position() -> None:
    places = {"a": (0.0, 0.0), "b": (9.0, 0.0), "c": (3.0, 0.0)}
    cameras = {name: Camera(id=name, xy_m=xy_m) for name, xy_m in places.items()}
    question = seen("NSF", ("b", "c"), seen_clip("a", 0.0), cameras=cameras)
    assert left("nearest camera", question) == [1]
    other_floor = {**cameras, "c": Camera(id="c", xy_m=(3.0, 0.0), floor=2)}
    assert left("nearest camera", replace(question, cameras=other_floor)) == [0]
    assert left("nearest camera", replace(question, cameras={**cameras, "c": Camera(id="c")})) is None


def test_the_motion_that_takes_as_long_as_the_hidden_interval_is_found() -> None:
    options = ("It moves north at 2.0 m/s for 4.0 meters.", "It moves south at 1.0 m/s for 30.0 meters.")
    question = seen("MS", options, middle_span_s=(100.0, 128.0))
    assert left("hidden middle_path, middle_point", question) == [1]


def test_another_question_of_the_same_target_tells_where_it_went() -> None:
    first = seen("NSF", ("b", "c"), seen_clip("a", 0.0))
    second = seen("NSF", ("x", "y"), seen_clip("c", 20.0), name="r")
    stranger = seen("NSF", ("x", "y"), seen_clip("b", 10.0, target="8"), name="s")
    kin = Kinship([first, second, stranger], by_target)
    assert list(kin.left(first) or ()) == [1]
    assert list(kin.left(second) or ()) == []  # nothing after it


def test_a_name_that_every_question_has_is_nobodys() -> None:
    questions = [
        seen("NSF", ("b", "c"), seen_clip("a", 0.0, "target 1")),
        seen("NSF", ("b", "c"), seen_clip("c", 20.0, "target 1"), name="r"),
    ]
    assert Kinship(questions, by_target).left(questions[0]) is None


def test_a_name_in_many_views_at_once_is_nobodys() -> None:
    crowd = [
        seen("NSF", ("b", "c"), seen_clip(f"c{index}", 1.0 + index / 10), name=str(index))
        for index in range(5)
    ]
    other = seen("NSF", ("b", "c"), seen_clip("a", 0.0, "8"), name="other")
    assert Kinship([*crowd, other], by_target).left(crowd[0]) is None
    assert Kinship([*crowd[:4], other], by_target).left(crowd[0]) is not None


def with_homography(sample: Sample, homography: Any) -> Sample:
    assert sample.scene is not None
    name = sample.target["case"].clips[0].camera_id
    camera = replace(sample.scene.cameras[name], homography=homography)
    return replace(sample, inputs=held(replace(sample.scene, cameras={**sample.scene.cameras, name: camera})))


def test_impossible_homographies_are_named(tmp_path: Path) -> None:
    plugin = find_audit_plugin("worlds")
    assert plugin is not None
    worlds = BENCHMARKS.get("worlds").open(
        data=None, select=Select(limit=1), protocol="official", media=MediaStore(tmp_path)
    )
    sample = worlds.get(worlds.refs[0].sample_id)
    assert not list(plugin.case_faults([sample]))
    flat = with_homography(sample, np.ones((3, 3)))
    assert "homography" in {fault.kind for fault in plugin.case_faults([flat])}
    box = sample.target["case"].clips[0].bboxes
    low, high = (min(y + h for _, y, _, h in box), max(y + h for _, y, _, h in box))
    assert low < high
    split = with_homography(sample, np.array(((1.0, 0, 0), (0, 1, 0), (0, 1, -(low + high) / 2))))
    assert [fault.kind for fault in plugin.case_faults([split])] == ["horizon"]


@pytest.mark.parametrize("asked", [56, pytest.param(80, marks=pytest.mark.soak)])
def test_of_the_published_questions_no_leak_survives_the_guard(
    gtr_dir: Path, gtr_media: MediaStore, asked: int
) -> None:
    found = audit(
        BENCHMARKS.get("gtr-bench"),
        data=gtr_dir,
        select=Select(tasks=("CausalReordering", "ArrivalTimeInterval"), limit=asked),
        media=gtr_media,
    )
    assert not found.surviving
    assert [accuracy.value for accuracy in pick(found, "CR: order of the clips", "official")] == [1.0, 1.0]
    assert [accuracy.value for accuracy in pick(found, "CR: start times", "files")] == [1.0, 1.0]
    assert all(
        accuracy.value > 0.5 for accuracy in pick(found, "ATI: options off the 0.1 s grid", "official")
    )
    kin = pick(found, "target id in other questions", "official")
    assert all(accuracy.chance is not None and accuracy.value > accuracy.chance for accuracy in kin)
    assert [accuracy.applies for accuracy in pick(found, "target id in other questions", "guarded")] == [0, 0]
