"""What a person is shown of a question: the right options, the times and paths, and nothing for a model."""

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import shapely

from gnomon.core.benchmark import (
    BENCHMARKS,
    PromptProtocol,
    PutsVerdictsInWords,
    SampleSet,
    ShowsQuestions,
    sketch_of,
    verdict_of,
    view_of,
)
from gnomon.core.clock import NOON_S, clock_span, day_span
from gnomon.core.question_view import QuestionView
from gnomon.core.sample import ImageRef, Part, Sample, SampleRef
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.gtr_bench.case import TASKS, as_displayed
from gnomon_published.benchmarks.gtr_bench.loader import open_samples as open_gtr
from gnomon_tools.core.sketch import Area, Dot, Line, Sketch
from tests.published_clips import publish_sti, publish_urban
from tests.published_graphs import publish_escher, publish_vir

SHARED = Path(__file__).parents[3] / "shared"
GTR_DATA = SHARED / "data" / "gtr-bench"

WORLDS = BENCHMARKS.get("worlds")


def numbers_of(sketch: Sketch) -> Iterator[float]:
    for mark in sketch.marks:
        match mark:
            case Dot():
                yield from mark.at
            case Line():
                yield from (value for point in mark.points for value in point)
                yield from mark.times_s
            case Area():
                yield from (value for point in mark.ring for value in point)
    for span in sketch.spans:
        yield from (span.start_s, span.end_s)


def check_view(view: QuestionView) -> None:
    """What holds of every view."""
    assert view.question.strip()
    assert all(math.isfinite(number) for sketch in (view.seen, view.truth) for number in numbers_of(sketch))
    assert all(span.start_s <= span.end_s for span in (*view.seen.spans, *view.truth.spans))
    for sketch in (view.seen, view.truth):
        for mark in sketch.marks:
            assert not isinstance(mark, Line) or len(mark.times_s) in (0, len(mark.points))
    assert len({option.letter for option in view.options}) == len(view.options)


def worlds_samples(media_folder: Path, protocol: PromptProtocol = "guarded", limit: int = 28) -> SampleSet:
    select = Select(seed=5, limit=limit)
    return WORLDS.open(data=None, select=select, protocol=protocol, media=MediaStore(media_folder))


@pytest.fixture(scope="module")
def worlds_questions(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    samples = worlds_samples(tmp_path_factory.mktemp("worlds"))
    return [samples.get(ref.sample_id) for ref in samples.refs]


def right_letters(sample: Sample) -> list[str]:
    case = as_displayed(sample.target["case"], sample.target["protocol"])
    return [choice[0] for choice in case.gold]


def marked_letters(view: QuestionView) -> list[str]:
    """The letters of the options that are marked as right, in the order that the marks give."""
    marked = [(option.right, option.letter) for option in view.options if option.right]
    return [letter for _, letter in sorted(marked)]


def test_every_cell_of_the_worlds_has_a_view(worlds_questions: list[Sample]) -> None:
    assert len({sample.ref.cell for sample in worlds_questions}) == 14
    for sample in worlds_questions:
        view = view_of(WORLDS, sample)
        check_view(view)
        assert marked_letters(view) == right_letters(sample)
        assert [picture.caption for picture in view.pictures] == ["The map"]
        assert view.truth.cameras


def test_the_true_path_is_in_view_of_the_right_camera_at_the_right_time(
    worlds_questions: list[Sample],
) -> None:
    forecasts = [sample for sample in worlds_questions if TASKS[sample.ref.task].metric == "ST-IoU"]
    assert forecasts
    for sample in forecasts:
        assert sample.scene is not None
        view = view_of(WORLDS, sample)
        for camera_id, span in zip(view.truth.cameras, view.truth.spans, strict=True):
            camera = sample.scene.cameras[camera_id]
            assert camera.field_of_view is not None
            middle_s = (span.start_s + span.end_s) / 2
            lines = [
                mark
                for mark in view.truth.marks
                if isinstance(mark, Line) and mark.times_s[0] <= middle_s <= mark.times_s[-1]
            ]
            targets = 2 if sample.ref.task == "MultiTargetTrajectoryForecasting" else 1
            assert len(lines) == targets
            for line in lines:
                at = [np.interp(middle_s, line.times_s, axis) for axis in zip(*line.points, strict=True)]
                assert line.floor == camera.floor
                assert shapely.intersects_xy(camera.field_of_view, *at)


def test_what_was_seen_has_the_clips_times_and_the_true_path(worlds_questions: list[Sample]) -> None:
    for sample in worlds_questions:
        view = view_of(WORLDS, sample)
        clips = sample.target["case"].clips
        assert [(span.start_s, span.end_s, span.label) for span in view.seen.spans] == [
            (clip.start_s + NOON_S, clip.end_s + NOON_S, clip.camera_id) for clip in clips
        ]
        assert len(view.seen.marks) == len(clips)
        for track in view.seen.marks:
            assert isinstance(track, Line)
            truth = shapely.union_all(
                [
                    shapely.LineString(mark.points)
                    for mark in view.truth.marks
                    if isinstance(mark, Line) and mark.floor == track.floor
                ]
            )
            assert max(truth.distance(shapely.Point(point)) for point in track.points) < 0.5


def test_an_interval_between_two_clips_is_the_right_option(worlds_questions: list[Sample]) -> None:
    for sample in worlds_questions:
        if sample.ref.task == "ArrivalTimeInterval":
            view = view_of(WORLDS, sample)
            (option,) = [option for option in view.options if option.right]
            (span,) = view.truth.spans
            right = day_span(option.text)
            assert right is not None
            assert (span.start_s, span.end_s) == pytest.approx(right, abs=0.06)


def test_a_view_is_not_in_the_prompt(worlds_questions: list[Sample], tmp_path: Path) -> None:
    samples = worlds_samples(tmp_path)
    for sample in worlds_questions:
        view_of(WORLDS, sample)
        show = ("media", "map", "camera_data", "facts")
        assert sample.messages(show) == samples.get(sample.ref.sample_id).messages(show)
        assert "true path" not in json.dumps(sample.messages(show))


def test_a_perfect_reply_is_drawn_where_the_truth_is(worlds_questions: list[Sample]) -> None:
    for sample in worlds_questions:
        view = view_of(WORLDS, sample)
        reply = json.dumps(
            {
                "answer": right_letters(sample),
                "time_duration": [
                    clock_span(span.start_s - NOON_S, span.end_s - NOON_S) for span in view.truth.spans
                ],
            }
        )
        if TASKS[sample.ref.task].metric == "ST-IoU":
            sketch = sketch_of(WORLDS, sample, f"I see.\n{reply}")
            assert sketch.cameras == view.truth.cameras
            assert [(span.start_s, span.end_s, span.label) for span in sketch.spans] == [
                (pytest.approx(span.start_s), pytest.approx(span.end_s), span.label)
                for span in view.truth.spans
            ]
            assert verdict_of(WORLDS, sample, reply, {}) in {
                "Camera right, time right.",
                "Both cameras right, both times right.",
            }


@pytest.mark.parametrize(
    "answer",
    ["", "I do not know.", "Z", "A, B, C, D, E, F", '{"answer": null}', '{"answer": [[]]}', "\0", "{" * 3000],
)
def test_an_unreadable_answer_is_drawn_as_nothing(worlds_questions: list[Sample], answer: str) -> None:
    for sample in worlds_questions[:14]:
        if not sketch_of(WORLDS, sample, answer):
            assert verdict_of(WORLDS, sample, answer, {}) == "No answer could be read."


def forecast_of(samples: list[Sample], task: str) -> Sample:
    return next(sample for sample in samples if sample.ref.task == task)


def test_the_verdict_on_two_cameras_says_what_is_off(worlds_questions: list[Sample]) -> None:
    sample = forecast_of(worlds_questions, "TrajectoryForecasting")
    view = view_of(WORLDS, sample)
    letters = right_letters(sample)
    wrong = [option.letter for option in view.options if not option.right]

    def reply(letters: list[str], *later_s: float) -> str:
        times = [
            clock_span(span.start_s - NOON_S + by_s, span.end_s - NOON_S + by_s)
            for span, by_s in zip(view.truth.spans, later_s, strict=True)
        ]
        return json.dumps({"answer": letters, "time_duration": times})

    def verdict(answer: str, **metrics: float) -> str:
        return verdict_of(WORLDS, sample, answer, metrics)

    early = verdict(reply(letters, -1.6, -4.2))
    assert early == "Both cameras right, both times early, by 1.6 s and 4.2 s."
    assert verdict(reply(letters, 0.0, 2.0)) == "Both cameras right, times right and 2.0 s late."
    first_wrong = [wrong[0], letters[1]]
    assert verdict(reply(first_wrong, 1.0, 2.0)) == (
        "Cameras: 1st wrong, 2nd right, both times late, by 1.0 s and 2.0 s."
    )
    assert verdict(", ".join(letters)) == "Both cameras right."
    assert verdict(", ".join(letters), TimeIoU=0.43) == (
        "Both cameras right, times overlapping the right ones by 43 %."
    )
    assert verdict(", ".join(reversed(letters)), TimeIoU=0.0) == (
        "Right cameras in the wrong order, no overlap with the right ones."
    )


def test_the_verdict_on_options_names_both(worlds_questions: list[Sample]) -> None:
    sample = forecast_of(worlds_questions, "GeoLocation")
    (right,) = right_letters(sample)
    wrong = "A" if right != "A" else "B"
    assert verdict_of(WORLDS, sample, right, {}) == f"Right: {right}."
    assert verdict_of(WORLDS, sample, wrong, {}) == f"Answered {wrong}; right is {right}."
    assert verdict_of(WORLDS, sample, None, {}) == "No answer could be read."


@pytest.mark.skipif(not GTR_DATA.is_dir(), reason="needs the published GTR-Bench")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("every", [24, pytest.param(1, marks=pytest.mark.soak)])  # it reads their maps
@pytest.mark.parametrize(
    ("protocol", "scenes", "count"), [("guarded", (), 219), ("official", ("indoor",), 112)]
)
def test_every_published_question_of_gtr_bench_has_a_view(
    gtr_media: MediaStore, protocol: PromptProtocol, scenes: tuple[str, ...], count: int, every: int
) -> None:
    gtr = BENCHMARKS.get("gtr-bench")
    select = Select(scenes=scenes)
    samples = open_gtr(data=GTR_DATA, select=select, protocol=protocol, media=gtr_media)
    assert len(samples.refs) == count
    tracks = 0
    for ref in samples.refs[::every]:
        sample = samples.get(ref.sample_id)
        before = sample.messages()
        view = view_of(gtr, sample)
        check_view(view)
        assert marked_letters(view) == right_letters(sample)
        assert [(span.start_s, span.end_s) for span in view.seen.spans] == [
            (clip.start_s + NOON_S, clip.end_s + NOON_S) for clip in sample.target["case"].clips
        ]
        assert view.truth.cameras
        assert view.facts["Missing"] == ", ".join(sample.missing)
        assert sample.messages() == before
        tracks += len(view.seen.marks)
        for option in view.options:
            check_sketch = sketch_of(gtr, sample, option.letter)
            assert all(map(math.isfinite, numbers_of(check_sketch)))
    assert tracks > 150 / every  # the indoor cameras have homographies


class Bare:
    """A benchmark without the ability."""


def test_a_benchmark_that_says_no_more_shows_its_prompt_and_target() -> None:
    picture = ImageRef(sha256="0" * 64, media_type="image/png", width=4, height=3)
    sample = Sample(
        ref=SampleRef(sample_id="1", task="t", cell="t", cluster="1"),
        parts=(Part(content="How far is it?"), Part(content=picture, shown="media")),
        target={"deg": 90},
        missing=("a.mp4",),
        broken="the clip 'a.mp4' is absent",
    )
    view = view_of(Bare(), sample)
    check_view(view)
    assert view.question == "How far is it?"
    assert view.truth_text == "deg: 90"
    assert [shown.image for shown in view.pictures] == [picture]
    assert view.facts == {"Missing": "the clip 'a.mp4' is absent"}
    assert sketch_of(Bare(), sample, "45") == Sketch()
    assert verdict_of(Bare(), sample, "45", {}) == "Answered 45; right is deg: 90."


pytestmark = pytest.mark.usefixtures("parquet_read_here")
PUBLISH = {
    "urbanvideo-bench": publish_urban,
    "sti-bench": publish_sti,
    "escherverse": publish_escher,
    "vir-bench": publish_vir,
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    for name, publish in PUBLISH.items():
        publish(folder / name)
    return folder


def clip_samples(folder: Path, name: str, protocol: PromptProtocol = "guarded") -> list[Sample]:
    select = Select(frames=4)
    samples = BENCHMARKS.get(name).open(
        data=folder / name, select=select, protocol=protocol, media=MediaStore(folder / "media")
    )
    return [samples.get(ref.sample_id) for ref in samples.refs]


@pytest.mark.parametrize("protocol", ["official", "guarded"])
@pytest.mark.parametrize("name", PUBLISH)
def test_a_question_about_a_clip_is_shown_with_it(
    published: Path, name: str, protocol: PromptProtocol
) -> None:
    plugin = BENCHMARKS.get(name)
    for sample in clip_samples(published, name, protocol):
        before = sample.messages()
        view = view_of(plugin, sample)
        check_view(view)
        (clip,) = view.clips
        assert clip.path.is_file()
        pictures = [part.content for part in sample.parts if isinstance(part.content, ImageRef)]
        assert list(clip.frames) == pictures
        assert len(clip.frame_times_s) == len(pictures) > 0
        assert view.seen.spans[0].start_s == 0.0
        assert view.truth_text
        assert "Missing" not in view.facts
        assert sample.messages() == before


@pytest.mark.parametrize("protocol", ["official", "guarded"])
@pytest.mark.parametrize("name", PUBLISH)
def test_a_question_whose_clip_is_absent_says_so(tmp_path: Path, name: str, protocol: PromptProtocol) -> None:
    PUBLISH[name](tmp_path / name, clips=False)
    for sample in clip_samples(tmp_path, name, protocol):
        view = view_of(BENCHMARKS.get(name), sample)
        check_view(view)
        assert view.clips == ()
        assert any(missing in view.facts["Missing"] for missing in sample.missing)


@pytest.mark.parametrize("protocol", ["official", "guarded"])
@pytest.mark.parametrize("name", ["urbanvideo-bench", "sti-bench"])
def test_the_marked_option_is_the_one_that_scores(
    published: Path, name: str, protocol: PromptProtocol
) -> None:
    plugin = BENCHMARKS.get(name)
    marked = 0
    for sample in clip_samples(published, name, protocol):
        view = view_of(plugin, sample)
        assert "Choices" not in view.question or not view.options
        for option in view.options:
            score = plugin.score(sample, option.letter, scoring="strict")
            assert (score.value == 1.0) == (option.right == "right")
            verdict = verdict_of(plugin, sample, score.answer, score.metrics)
            assert verdict.startswith("Right: " if option.right else f"Answered {option.letter}; right is ")
            marked += bool(option.right)
        assert verdict_of(plugin, sample, None, {}) == "No answer could be read."
        assert sketch_of(plugin, sample, "B") == Sketch()
    assert marked == 2


def test_the_verdict_follows_the_released_rule_where_that_was_scored(published: Path) -> None:
    plugin = BENCHMARKS.get("urbanvideo-bench")
    for sample in clip_samples(published, "urbanvideo-bench", "official"):
        score = plugin.score(sample, "Option: b", scoring="official")
        assert verdict_of(plugin, sample, score.answer, score.metrics).startswith("Answered b; right is ")


def test_the_window_that_is_asked_about_is_on_the_clock(published: Path) -> None:
    plugin = BENCHMARKS.get("sti-bench")
    windows = {
        sample.ref.task: [
            (span.start_s, span.end_s)
            for span in view_of(plugin, sample).seen.spans
            if span.label == "asked about"
        ]
        for sample in clip_samples(published, "sti-bench")
    }
    assert windows == {"Speed & Acceleration": [(1.0, 3.5)], "3D Video Grounding": [(0.0, 2.0)]}


@pytest.mark.parametrize("protocol", ["official", "guarded"])
def test_escherverse_marks_what_its_scorer_takes_for_right(published: Path, protocol: PromptProtocol) -> None:
    plugin = BENCHMARKS.get("escherverse")
    for sample in clip_samples(published, "escherverse", protocol):
        view = view_of(plugin, sample)
        item = sample.target["item"]
        letters = [option.letter for option in view.options if option.right]
        assert bool(letters) == item.is_choice
        reply = ", ".join(letters) or view.truth_text
        score = plugin.score(sample, f"<answer>{reply}</answer>", scoring="strict")
        assert score.value == 1.0
        assert verdict_of(plugin, sample, score.answer, score.metrics) == f"Right: {score.answer}."
        wrong = verdict_of(plugin, sample, "Z", {"is_correct": 0.0})
        assert wrong == f"Answered Z; right is {item.answer}."


def test_a_video_graph_is_on_the_earth_and_on_the_clock(published: Path) -> None:
    plugin = BENCHMARKS.get("vir-bench")
    for sample in clip_samples(published, "vir-bench"):
        if not sample.ref.sample_id.startswith("kansai"):
            continue
        view = view_of(plugin, sample)
        assert view.truth.plane == "earth"
        dots = {mark.label: mark.at for mark in view.truth.marks if isinstance(mark, Dot)}
        assert {"Osaka", "Nara", "Namba Station"} <= dots.keys()
        assert dots["Namba Station"] == (pytest.approx(135.5, abs=0.02), pytest.approx(34.667, abs=0.02))
        assert ("Todai-ji", 40.0, 45.0) in {
            (span.label, span.start_s, span.end_s) for span in view.truth.spans
        }
        node = sample.target["subtask"] == "node"
        reply = '{"prefectures": ["Nara"], "cities": [], "points_of_interest": ["Todai-ji"]}'
        if not node:
            reply = '{"edges": [{"source": "Osaka", "target": "Nara", "type": "transition"}]}'
        score = plugin.score(sample, reply, scoring="strict")
        assert score.answer is not None
        for answer in (reply, score.answer):
            assert len(sketch_of(plugin, sample, answer).marks) == 1
        verdict = verdict_of(plugin, sample, score.answer, score.metrics)
        # The scorer weights the levels of nodes by their golds; 1 of 11 edges is found.
        assert verdict == (
            "Locations: precision 75 %, recall 25 %." if node else "Edges: precision 100 %, recall 9 %."
        )
        assert verdict_of(plugin, sample, None, score.metrics) == "No answer could be read."
        assert sketch_of(plugin, sample, "I see Nara.") == Sketch(plane="earth")


BRIEF = {"text": "Two days in Helsinki, museums above all.", "area": "helsinki"}


def test_a_request_in_words_is_shown_in_its_words(tmp_path: Path) -> None:
    plugin = BENCHMARKS.get("itinerary")
    samples = plugin.open(
        data=None, select=Select(request=BRIEF), protocol="guarded", media=MediaStore(tmp_path)
    )
    sample = samples.get("request")
    view = view_of(plugin, sample)
    check_view(view)
    assert view.question == BRIEF["text"]
    assert view.facts["Area"] == "helsinki"
    assert sketch_of(plugin, sample, "no plan") == Sketch()


def test_a_category_to_write_about_is_shown_with_its_forms(tmp_path: Path) -> None:
    plugin = BENCHMARKS.get("urbanvideo-authoring")
    publish_urban(tmp_path)
    samples = plugin.open(
        data=tmp_path, select=Select(limit=3), protocol="guarded", media=MediaStore(tmp_path / "media")
    )
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        view = view_of(plugin, sample)
        check_view(view)
        assert ref.task in view.question
        assert len(view.clips[0].frames) > 0
        options = int(view.facts["Options"])
        listed = "\n".join(f"{letter}. Way {letter}" for letter in "ABCDE"[:options])
        score = plugin.score(sample, f"Question: Where?\nChoices:\n{listed}\nAnswer: B", scoring="strict")
        assert verdict_of(plugin, sample, score.answer, score.metrics) == (
            "A question in the form asked for; its answer is B."
        )
        bad = plugin.score(sample, "Certainly!", scoring="strict")
        assert verdict_of(plugin, sample, bad.answer, bad.metrics) == (
            "Not in the form asked for: no line `Answer: X`."
        )


def test_a_case_for_a_judge_is_shown_with_its_labels(tmp_path: Path) -> None:
    case = {
        "case_id": "t1",
        "analysis": "context_use",
        "task": "CausalReordering",
        "cluster": "v",
        "model": "m",
        "arm": "raw",
        "question": "Where?",
        "trace": "It went north.",
    }
    (tmp_path / "cases.ndjson").write_text(json.dumps(case))
    plugin = BENCHMARKS.get("judging")
    samples = plugin.open(
        data=tmp_path, select=Select(), protocol="guarded", media=MediaStore(tmp_path / "media")
    )
    sample = samples.get("t1")
    view = view_of(plugin, sample)
    check_view(view)
    assert [option.letter for option in view.options] == list(sample.target["labels"])
    assert (view.facts["Question"], view.facts["Trace"]) == ("Where?", "It went north.")
    score = plugin.score(sample, '{"location": 1, "motion": 0}', scoring="strict")
    verdict = verdict_of(plugin, sample, score.answer, score.metrics)
    assert verdict == "1 of 2 labels hold: location."
    assert verdict_of(plugin, sample, None, {}) == "No answer could be read."


ODD = [
    "",
    "\0",
    "NaN",
    "{" * 3000,
    "[" * 3000,
    "[1, null]",
    '[[["a"]]]',
    '["Namba Station", 1]',
    '{"answer": {"a": 1}, "time_duration": 3}',
    '{"answer": ["A", 2], "time_duration": [null, "12:00:02-12:00:01"]}',
    '{"plan": 3}',
    '{"plan": {}, "violations": [3]}',
    '{"plan": {"request_id": "x", "status": "planned", "days": [{}]}}',
    '{"status": "planned", "days": [{"visits": [{"place": "nowhere", "arrive": "99:59", "leave": "0:00"}]}]}',
    '{"order": [1, "nowhere"]}',
    '{"inclusions": 3, "transitions": [[1, 2], ["a"], ["a", "b"], 5]}',
    '{"edges": 3}',
    '{"edges": [{"source": "Osaka", "target": 3, "type": "transition"}]}',
    '{"prefectures": "Nara", "cities": [3], "points_of_interest": ["()", " "]}',
]


def check_odd_answers(name: str, samples: list[Sample]) -> None:
    plugin = BENCHMARKS.get(name)
    assert samples
    for sample in samples:
        for answer in ODD:
            sketch = sketch_of(plugin, sample, answer)
            assert all(map(math.isfinite, numbers_of(sketch)))
            assert verdict_of(plugin, sample, answer, {})
            assert verdict_of(plugin, sample, answer, {"delivered": 1.0, "fault": None, "option": None})


@pytest.mark.parametrize("name", PUBLISH)
def test_odd_answers_to_questions_about_clips_break_nothing(published: Path, name: str) -> None:
    check_odd_answers(name, clip_samples(published, name))


def test_odd_answers_to_generated_questions_break_nothing(worlds_questions: list[Sample]) -> None:
    check_odd_answers("worlds", worlds_questions[:14])


@pytest.mark.parametrize("name", list(BENCHMARKS.names()))
def test_every_benchmark_has_both_abilities(name: str) -> None:
    plugin = BENCHMARKS.get(name)
    assert isinstance(plugin, ShowsQuestions)
    assert isinstance(plugin, PutsVerdictsInWords)
