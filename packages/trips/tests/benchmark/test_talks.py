"""Trips of several turns: what is said is what is solved, and answers are judged turn by turn."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.answers import answers_of, joined_answers
from gnomon.core.sample import Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_trips.benchmarks.itinerary.benchmark import itinerary
from gnomon_trips.benchmarks.itinerary.generate import task_for
from gnomon_trips.benchmarks.itinerary.sayings import MARK, SAYINGS, changes_in, request_now
from gnomon_trips.benchmarks.itinerary.scoring import floors_of, score
from gnomon_trips.benchmarks.itinerary.task import FAMILIES, Task, number_of, numbers
from gnomon_trips.itinerary.proof import is_conflict
from gnomon_trips.itinerary.trip import Trip

SOME = 6
GAPS: dict[str, dict[str, Any]] = {
    "swap": {"place": "A (b)", "other": "D and E"},
    "leave_out": {"place": "A (b)"},
    "add": {"other": "D. E."},
    "order": {"first": "B", "then": "A (b)"},
    "back_by": {"end": "17:00"},
    "leave_late": {"start": "10:30"},
    "walk": {"km": "4.2"},
    "spend": {"amount": 60, "currency": "EUR"},
    "day_less": {},
    "one_more": {"party": 3},
}
CHANGED: dict[str, dict[str, Any]] = {
    "swap": {"places": ["B", "D and E"], "order": [], "avoid": ["A (b)"]},
    "leave_out": {"places": ["B"], "order": [], "avoid": ["A (b)"]},
    "add": {"places": ["A (b)", "B", "D. E."]},
    "order": {"order": [["A (b)", "C"], ["B", "A (b)"]]},
    "back_by": {"window": {"start": "10:00", "end": "17:00"}},
    "leave_late": {"window": {"start": "10:30", "end": "18:00"}},
    "walk": {"max_walk_m": 4200},
    "spend": {"budget": {"amount": 60.0, "currency": "EUR"}},
    "day_less": {"days": 1},
    "one_more": {"party": 3},
}
REQUEST = {
    "places": ["A (b)", "B"],
    "order": [["A (b)", "C"]],
    "days": 2,
    "party": 2,
    "window": {"start": "10:00", "end": "18:00"},
}


def talks(count: int = SOME, *, seed: int = 0) -> list[Task]:
    return [task_for(one) for one in numbers(seed, ("changed-mind",), ("helsinki",), count)]


def opened(tmp_path: Path, *tasks: str, limit: int = 4) -> list[Sample]:
    select = Select(tasks=list(tasks), limit=limit)
    samples = itinerary.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    return [samples.get(ref.sample_id) for ref in samples.refs]


@pytest.mark.parametrize("kind", SAYINGS)
def test_what_is_said_is_read_as_it_was_meant(kind: str) -> None:
    said = SAYINGS[kind].say(**GAPS[kind])
    assert changes_in(REQUEST, said) == CHANGED[kind]
    assert request_now(REQUEST, ["The first question.", f"{MARK}{said}\nMore."]) == REQUEST | CHANGED[kind]


def test_every_turn_has_an_answer_and_all_of_them_score_one() -> None:
    lengths, answerable = set(), set()
    for task in talks(10):  # among which are all lengths
        scored = score(task, task.witness)
        last = task.turns[-1].task
        answerable.add(last.trip.answerable)
        lengths.add(len(task.turns))
        assert (scored.value, scored.metrics["first_holds"], scored.metrics["last_holds"]) == (1.0, 1.0, 1.0)
        assert scored.metrics["forgets_earlier"] == (0.0 if last.trip.answerable else None)
        assert scored.metrics["turns"] == len(task.turns) + 1
    assert (lengths, answerable) == ({1, 2, 3}, {True, False})


def test_what_nobody_can_serve_is_proven_and_only_the_last_turn_is_so() -> None:
    impossible = 0
    for task in talks():
        *before, last = [turn.task for turn in task.turns]
        assert all(turn.trip.answerable for turn in before)
        if not last.trip.answerable:
            impossible += 1
            assert last.problem is not None
            assert is_conflict(last.problem, last.truth["conflict"])
    assert impossible


def test_each_turn_asks_for_what_was_asked_and_what_was_said_since() -> None:
    for task in talks():
        now: dict[str, Any] = task.trip.request.model_dump(mode="json")
        for turn in task.turns:
            now |= changes_in(now, turn.said)
            assert turn.task.trip.request.model_validate(now) == turn.task.trip.request
            assert turn.fields == frozenset(changes_in(now, turn.said))


def test_the_first_plan_again_is_no_answer_and_says_what_was_forgotten() -> None:
    forgot = 0
    for task in talks():
        first = answers_of(task.witness)[0]
        scored = score(task, joined_answers([first] * (len(task.turns) + 1)))
        assert scored.metrics["first_holds"] == 1.0
        if scored.value == 0.0:
            forgot += scored.metrics["forgets_earlier"] == 1.0
            assert len(task.turns) > 1 or scored.metrics["forgets_earlier"] == 0.0
    assert forgot >= 3


def test_a_change_that_keeps_what_it_can_is_told_from_one_that_turns_all_around() -> None:
    for task in talks():
        last = task.turns[-1].task
        if len(task.turns) > 1 or not last.trip.answerable or last.trip.request.days > 1:
            continue
        first, then = answers_of(task.witness)
        plan = json.loads(then)
        plan["days"][0]["visits"].reverse()
        kept = score(task, task.witness).metrics
        turned = score(task, joined_answers([first, json.dumps(plan)])).metrics
        assert 0.0 <= float(turned["stops_kept"] or 0.0) <= 1.0
        assert float(kept["stops_kept_least_change"] or 0.0) >= float(turned["stops_kept"] or 0.0)


def test_an_answer_alone_is_that_to_the_last_turn() -> None:
    for task in talks(4):
        *_, last = answers_of(task.witness)
        scored = score(task, last)
        assert (scored.value, "first_holds" in scored.metrics) == (1.0, False)
        assert score(task, "I would rather not say.").value == 0.0


def test_floors_are_those_of_the_last_turn() -> None:
    for task in talks(6):
        floors = floors_of(task)
        assert floors["exact search (ceiling)"] == 1.0
        assert floors["always refuse"] == float(task.turns[-1].task.trip.answerable is False)


def test_the_other_families_keep_their_numbers_and_the_default_has_none_of_several_turns(
    tmp_path: Path,
) -> None:
    media = MediaStore(tmp_path)
    default = itinerary.open(data=None, select=Select(limit=6), protocol="guarded", media=media).refs
    assert [ref.task for ref in default] == list(FAMILIES)
    both = opened(tmp_path, "city-day", "changed-mind", limit=4)
    assert [sample.ref.sample_id.partition("-")[0] for sample in both] == ["trip0", "trip0", "talk0", "talk0"]
    assert [sample.follow_ups == () for sample in both] == [True, True, False, False]
    assert number_of(both[-1].ref.sample_id).family == "changed-mind"


def test_a_follow_up_shows_facts_only_where_an_arm_does_and_never_the_answer(tmp_path: Path) -> None:
    for sample in opened(tmp_path, "changed-mind"):
        task: Task = sample.target["task"]
        assert [turn.said in follow.said for turn, follow in zip(task.turns, sample.follow_ups, strict=True)]
        for turn, follow in zip(task.turns, sample.follow_ups, strict=True):
            told, plain = (str(follow.message(show)) for show in (("facts",), ()))
            assert ("FACTS:" in told, "FACTS:" in plain) == (True, False)
            assert turn.task.witness not in told
            assert follow.inputs[Trip].answerable is None


def test_a_page_shows_every_turn_and_says_how_the_first_plan_was(tmp_path: Path) -> None:
    for sample in opened(tmp_path, "changed-mind"):
        task: Task = sample.target["task"]
        view = itinerary.question_view(sample)  # type: ignore[attr-defined]
        assert [view.facts[f"Turn {number}"] for number, _ in enumerate(task.turns, 2)] == [
            turn.said for turn in task.turns
        ]
        scored = score(task, task.witness)
        words = itinerary.verdict_in_words(sample, scored.answer or "", scored.metrics)  # type: ignore[attr-defined]
        assert words.endswith("The first plan held.")
        assert itinerary.answer_sketch(sample, task.witness) is not None  # type: ignore[attr-defined]
