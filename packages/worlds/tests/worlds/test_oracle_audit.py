"""The true steps stop short of the choice: words give no more than the prompt, the whole way gives all."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.oracle_steps import Question, questions, shares
from gnomon.core.errors import DataError
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_worlds import learner
from gnomon_worlds.benchmarks.worlds.audit import try_shortcuts
from gnomon_worlds.benchmarks.worlds.audit.shown_steps import ShownSteps, shown_steps
from gnomon_worlds.benchmarks.worlds.audit.steps_learner import LEARNERS
from gnomon_worlds.benchmarks.worlds.audit.steps_rules import along_ways, least, numbers_beside
from gnomon_worlds.benchmarks.worlds.benchmark import Worlds
from gnomon_worlds.drawing import draw
from gnomon_worlds.learner import learn
from gnomon_worlds.oracle_steps import ONE_WAY, steps_of
from gnomon_worlds.sample_numbers import number_of

SIGMAS = 4.0
CHANCE = 0.25


@pytest.fixture(scope="module")
def train() -> Sequence[Question]:
    return list(questions([21], 98))


@pytest.fixture(scope="module")
def right(train: Sequence[Question]) -> Mapping[tuple[str, str], Sequence[float]]:
    return shares(train, list(questions([22], 70)))


def spread(n: int) -> float:
    return SIGMAS * math.sqrt(CHANCE * (1 - CHANCE) / n)


def test_a_learner_of_words_gets_no_more_than_chance(
    right: Mapping[tuple[str, str], Sequence[float]],
) -> None:
    by_set: dict[str, list[float]] = defaultdict(list)
    for (name, _), values in right.items():
        by_set[name] += values
    for name in ("learned: prompt", "learned: words"):
        assert np.mean(by_set[name]) < CHANCE + spread(len(by_set[name])), name


def test_lengths_added_along_the_shortest_ways_give_every_answer(
    right: Mapping[tuple[str, str], Sequence[float]],
) -> None:
    whole = {task: values for (name, task), values in right.items() if name.startswith("whole: ")}
    assert whole.keys() == {"GL", "ATI", "CR", "NSF", "TF", "MTTF"}
    for task, values in whole.items():
        assert np.mean(values) >= 0.85, (
            task
        )  # a vehicle that brakes for turns is not where its mean speed has it


def test_steps_of_hard_questions_say_which_streets_are_gone_one_way_only() -> None:
    for shown, answer in questions([21], 10, difficulty="hard"):
        assert ONE_WAY in shown.text
        if shown.task != "MS":
            assert along_ways(shown) == [answer], shown.question.sample_id


def test_a_planted_length_to_every_option_is_found_by_the_learner(
    train: Sequence[Question],
) -> None:
    def planted(question: Question) -> ShownSteps:
        shown, answer = question
        lines = (
            f"way to {option}: {0.0 if index == answer else 90.0 + index} m"
            for index, option in enumerate(shown.options)
        )
        return replace(shown, text="\n".join([shown.text, *lines]))

    asked = [question for question in train if question[0].task == "GL"]
    marked = [(planted(question), question[1]) for question in asked]
    smallest = [
        least([min(numbers_beside(shown, option)) for option in shown.options]) for shown, _ in marked
    ]
    assert np.mean([left == [answer] for left, (_, answer) in zip(smallest, marked, strict=True)]) > 0.9
    features = LEARNERS["words"]
    choose = learn([features(shown) for shown, _ in marked], [answer for _, answer in marked])
    assert np.mean([choose(features(shown)) == answer for shown, answer in marked]) > 0.9


def test_the_steps_are_a_function_of_the_place_and_the_clips() -> None:
    sample_id = "w7-00000"
    drawn = draw(number_of(sample_id))
    again = replace(drawn.question, options=("c99",), right=("c99",), middle=None)
    assert steps_of(drawn.world, again.clip_sightings) == steps_of(drawn.world, drawn.question.clip_sightings)


def test_steps_that_cannot_be_read_end_the_audit_with_an_error(tmp_path: Path) -> None:
    opened = Worlds().open(data=None, select=Select(limit=1), protocol="guarded", media=MediaStore(tmp_path))
    with pytest.raises(DataError, match="cannot be read"):
        shown_steps(opened.get("w0-00000"), "True intermediate steps:")


def test_the_audit_of_a_benchmark_tries_rules_and_learners_on_the_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learner, "FEWEST", 12)
    media, select = MediaStore(tmp_path), Select(limit=20, seed=4, tasks=("CausalReordering",))
    samples = {}
    for protocol in ("official", "guarded"):
        opened = Worlds().open(data=None, select=select, protocol=protocol, media=media)
        samples[protocol] = [opened.get(ref.sample_id) for ref in opened.refs]
    tried = list(try_shortcuts(samples))
    on_steps = {(attempt.shortcut, attempt.kind) for attempt in tried if attempt.view == "steps"}
    assert ("learned: words", "leak") in on_steps
    assert ("whole: lengths added along the shortest ways", "floor") in on_steps
    assert ("learned: prompt", "guarded") in {(attempt.shortcut, attempt.view) for attempt in tried}


def test_a_learner_finds_the_feature_that_decides() -> None:
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=(4, 3)) for _ in range(60)]
    choose = learn(inputs, [int(np.argmin(matrix[:, 1])) for matrix in inputs])
    fresh = [rng.normal(size=(4, 3)) for _ in range(60)]
    assert np.mean([choose(matrix) == np.argmin(matrix[:, 1]) for matrix in fresh]) > 0.9


def test_the_least_of_equals_is_no_choice() -> None:
    assert least([1.0, 1.0]) is None
    assert least([2.0, 1.0, 1.0]) == [1, 2]
