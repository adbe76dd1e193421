"""Questions about trips are shown to people; the benchmark's other tests draw the same ones."""

from pathlib import Path

from gnomon.core.benchmark import BENCHMARKS, sketch_of, verdict_of, view_of
from gnomon.core.sample import Sample
from gnomon.core.score import REMARK, UNCHECKED
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_tools.core.sketch import Dot
from tests.gnomon.test_question_views import check_odd_answers, check_view


def trips(folder: Path) -> list[Sample]:
    samples = BENCHMARKS.get("itinerary").open(
        data=None, select=Select(limit=6), protocol="guarded", media=MediaStore(folder)
    )
    return [samples.get(ref.sample_id) for ref in samples.refs]


def test_every_family_of_trips_is_shown_with_its_home_and_an_answer_that_scores(tmp_path: Path) -> None:
    plugin = BENCHMARKS.get("itinerary")
    families = set()
    for sample in trips(tmp_path):
        task = sample.target["task"]
        families.add(task.family)
        view = view_of(plugin, sample)
        check_view(view)
        assert view.truth_text
        assert view.seen.plane == view.truth.plane == "earth"
        labels = {mark.label for mark in view.seen.marks}
        assert len(labels) == len(task.trip.named)
        if task.trip.request.hotel:
            assert f"home: {task.trip.request.hotel}" in labels
        score = plugin.score(sample, task.witness, scoring="strict")
        assert score.answer is not None
        drawn, stored = (sketch_of(plugin, sample, answer) for answer in (task.witness, score.answer))
        assert drawn.spans == stored.spans
        assert {mark.at for mark in drawn.marks if isinstance(mark, Dot)} == {
            mark.at for mark in stored.marks if isinstance(mark, Dot)
        }
        if task.trip.answerable:
            assert drawn.marks
        assert verdict_of(plugin, sample, score.answer, score.metrics) in {
            "Planned; every check passed.",
            "Refused rightly: there is no plan.",
            "The order is right.",
            "Inclusions: F1 1.00; transitions: F1 1.00.",
        }
        assert verdict_of(plugin, sample, None, {"delivered": 0.0}) == "No answer could be read."
    assert len(families) == 6


def test_a_plan_that_fails_checks_names_them(tmp_path: Path) -> None:
    plugin = BENCHMARKS.get("itinerary")
    sample = next(sample for sample in trips(tmp_path) if sample.ref.task == "city-day")
    score = plugin.score(sample, '{"status": "planned", "days": [{"visits": []}]}', scoring="strict")
    verdict = verdict_of(plugin, sample, score.answer, score.metrics)
    assert verdict.startswith("Planned, with ")
    faults = [flag for flag in score.flags if not flag.startswith((REMARK, UNCHECKED))]
    assert faults
    assert all(flag in verdict for flag in faults)


def test_odd_answers_to_questions_about_trips_break_nothing(tmp_path: Path) -> None:
    check_odd_answers("itinerary", trips(tmp_path))
