"""The true steps stop short of the choice: words give no more than the prompt, the whole way gives all."""

import math
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gnomon.core.errors import DataError
from gnomon.core.select import Level, Select
from gnomon.media import MediaStore
from gnomon_analyses.audit import adversary
from gnomon_analyses.audit.adversary import choices
from gnomon_analyses.audit.audit import audit
from gnomon_published.benchmarks.gtr_bench.audit import answer_options
from gnomon_worlds.benchmarks.worlds.audit.shown_steps import ShownSteps, shown_steps
from gnomon_worlds.benchmarks.worlds.audit.step_features import SEEN, Seen
from gnomon_worlds.benchmarks.worlds.audit.steps_rules import along_ways, least, numbers_beside
from gnomon_worlds.benchmarks.worlds.benchmark import Worlds
from gnomon_worlds.oracle_steps import ONE_WAY, steps_of
from gnomon_worlds.sample_making import draw
from gnomon_worlds.sample_numbers import number_of

TASKS = ("GL", "ATI", "MS", "CR", "NSF", "TF", "MTTF")
Question = tuple[ShownSteps, int]  # and the index of the right option
SIGMAS = 4.0
CHANCE = 0.25


def questions(seeds: Sequence[int], limit: int, *, difficulty: Level | None = None) -> Iterator[Question]:
    """The questions of some seeds with their true steps, read from words."""
    bench = Worlds()
    with tempfile.TemporaryDirectory() as folder:
        media = MediaStore(Path(folder))
        for seed in seeds:
            select = Select(limit=limit, seed=seed, difficulty=difficulty)
            opened = bench.open(data=None, select=select, protocol="guarded", media=media)
            for ref in opened.refs:
                sample = opened.get(ref.sample_id)
                options = answer_options(sample)
                assert options is not None
                yield shown_steps(sample, bench.oracle_steps(sample)), options.right[0]


def learned(seen: Seen, asked: Sequence[Question]) -> list[float]:
    """Which questions of a task the adversary has right."""
    options = np.array([seen.features(shown) for shown, _ in asked])
    answers = [answer for _, answer in asked]
    places = [shown.question.sample_id for shown, _ in asked]
    return [float(choice == answers[at]) for at, choice in choices(options, answers, places)]


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adversary, "FEWEST", 12)
    monkeypatch.setattr(adversary, "TREES", {**adversary.TREES, "max_iter": 10})


@pytest.fixture(scope="module")
def asked() -> Sequence[Question]:
    return list(questions([21, 22], 56))


def spread(n: int) -> float:
    return SIGMAS * math.sqrt(CHANCE * (1 - CHANCE) / n)


@pytest.mark.parametrize("seen", SEEN[:3], ids=lambda seen: seen.words)
def test_a_learner_of_words_gets_no_more_than_chance(seen: Seen, asked: Sequence[Question]) -> None:
    right = [
        value for task in TASKS for value in learned(seen, [each for each in asked if each[0].task == task])
    ]
    assert np.mean(right) < CHANCE + spread(len(right))


def test_lengths_added_along_the_shortest_ways_give_every_answer(asked: Sequence[Question]) -> None:
    right: dict[str, list[float]] = defaultdict(list)
    for shown, answer in asked:
        if shown.task != "MS":
            left = along_ways(shown) or range(len(shown.options))
            right[shown.task].append((answer in left) / len(left))
    assert right.keys() == {"GL", "ATI", "CR", "NSF", "TF", "MTTF"}
    # A vehicle that brakes for turns is not where its mean speed has it.
    assert all(np.mean(values) >= 0.85 for values in right.values()), right


def test_steps_of_hard_questions_say_which_streets_are_gone_one_way_only() -> None:
    for shown, answer in questions([21], 10, difficulty="hard"):
        assert ONE_WAY in shown.text
        if shown.task != "MS":
            assert along_ways(shown) == [answer], shown.question.sample_id


def test_a_planted_length_to_every_option_is_found_by_the_learner(asked: Sequence[Question]) -> None:
    def planted(question: Question) -> ShownSteps:
        shown, answer = question
        lines = (
            f"way to {option}: {0.0 if index == answer else 90.0 + index} m"
            for index, option in enumerate(shown.options)
        )
        return replace(shown, text="\n".join([shown.text, *lines]))

    marked = [(planted(question), question[1]) for question in asked if question[0].task == "GL"]
    smallest = [
        least([min(numbers_beside(shown, option)) for option in shown.options]) for shown, _ in marked
    ]
    assert np.mean([left == [answer] for left, (_, answer) in zip(smallest, marked, strict=True)]) > 0.9
    assert np.mean(learned(SEEN[2], marked)) > CHANCE + spread(len(marked))


def test_the_steps_are_a_function_of_the_place_and_the_clips() -> None:
    sample_id = "w7-00000"
    drawn = draw(number_of(sample_id))
    again = replace(drawn.question, options=("c99",), right=("c99",), middle=None)
    assert steps_of(drawn.world, again.clip_sightings) == steps_of(drawn.world, drawn.question.clip_sightings)


def test_steps_that_cannot_be_read_end_the_audit_with_an_error(tmp_path: Path) -> None:
    opened = Worlds().open(data=None, select=Select(limit=1), protocol="guarded", media=MediaStore(tmp_path))
    with pytest.raises(DataError, match="cannot be read"):
        shown_steps(opened.get("w0-00000"), "True intermediate steps:")


def test_the_audit_of_a_benchmark_tries_rules_and_learners_on_the_steps(tmp_path: Path) -> None:
    select = Select(limit=14, seed=4, tasks=("CausalReordering",))
    found = audit(Worlds(), data=None, select=select, media=MediaStore(tmp_path))
    tried = {(row.shortcut, row.kind, row.view) for row in found.accuracies}
    assert ("adversary by words of the steps", "leak", "steps") in tried
    assert ("whole: lengths added along the shortest ways", "floor", "steps") in tried
    assert ("adversary by the prompt", "floor", "guarded") in tried


def test_the_least_of_equals_is_no_choice() -> None:
    assert least([1.0, 1.0]) is None
    assert least([2.0, 1.0, 1.0]) == [1, 2]
