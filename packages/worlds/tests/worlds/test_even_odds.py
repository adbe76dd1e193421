"""Hard questions of before, evened out by what was fitted, are still made."""

from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest

from gnomon.core.clock import day_span
from gnomon.core.errors import SpecError
from gnomon.core.option_features import comparisons
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.gtr_bench.case import TASKS
from gnomon_published.benchmarks.gtr_bench.option_features import option_features
from gnomon_worlds.attainable import ON_EDGE_M, is_attainable, is_clear
from gnomon_worlds.benchmarks.worlds import worlds
from gnomon_worlds.benchmarks.worlds.audit import remarks
from gnomon_worlds.difficulty import FITTED_EDITION, LEARNED, Difficulty
from gnomon_worlds.drawing import Drawn, draw
from gnomon_worlds.even_odds import EvenOdds, centred_ranks, fitted, log_odds, rank_weights
from gnomon_worlds.question import evidence_in, evidence_of
from gnomon_worlds.sample_numbers import CELLS, HARD, HARD_BEFORE, Number, number_of, offered

EVEN = Difficulty(level="hard", edition=FITTED_EDITION)


@cache
def questions() -> tuple[tuple[Number, Drawn], ...]:
    numbers = [Number(31, cell, EVEN) for cell in offered(range(len(CELLS)), EVEN)]
    return tuple((number, draw(number)) for number in numbers)


def test_a_fitted_question_says_so_in_its_id_and_has_four_options() -> None:
    for number, drawn in questions():
        assert number.sample_id.startswith("w31-hard3-")
        assert number_of(number.sample_id) == number
        assert len(set(drawn.question.options)) == 4
        assert set(drawn.question.right) <= set(drawn.question.options)


def test_a_hard_question_of_before_is_still_made_under_its_name(tmp_path: Path) -> None:
    select = Select.model_validate({"limit": 2 * len(HARD), "seed": 7, "difficulty": "hard"})
    samples = worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    assert {ref.sample_id for ref in samples.refs} == {
        f"w7-hard5-{k:05d}" for k in range(28) if CELLS[k % 14] in HARD
    }
    for before in ("w7-hard-00004", "w7-hard2-00000", "w7-hard3-00008", "w7-hard4-00008"):
        assert samples.get(before).ref.sample_id == before
    assert number_of("w7-hard-00004").difficulty == Difficulty(level="hard")


def test_the_intervals_of_a_fitted_question_are_as_long_and_follow_one_another() -> None:
    for number, drawn in questions():
        if number.task_id == "ArrivalTimeInterval":
            spans = sorted(span for option in drawn.question.options if (span := day_span(option)))
            assert max(b - a for a, b in spans) - min(b - a for a, b in spans) < 0.01
            steps = np.diff([a for a, _ in spans])
            assert steps.max() - steps.min() < 0.01


def test_no_stay_of_a_fitted_question_lies_on_an_edge_or_on_stairs() -> None:
    assert all(is_clear(drawn.world, drawn.question) for _, drawn in questions())


def test_a_fitted_question_is_told_by_the_ways_and_the_speed_in_view() -> None:
    assert all(is_attainable(drawn.world, drawn.question) for _, drawn in questions())


def test_each_row_tells_what_a_learner_without_the_map_has_right_at_that_level(tmp_path: Path) -> None:
    select = Select.model_validate({"limit": 1, "seed": 31, "difficulty": "hard", "tasks": ["GeoLocation"]})
    samples = worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    floors = worlds.heuristic_scores(samples.get(samples.refs[0].sample_id))
    assert floors["learner without the map, elsewhere"] == LEARNED["hard"]["GL"]


def test_the_audit_counts_what_rests_on_stairs_and_edges_and_names_it(tmp_path: Path) -> None:
    select = Select(limit=4, seed=1, scenes=["indoor"])
    samples = worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    drawn = {ref.sample_id: draw(number_of(ref.sample_id)) for ref in samples.refs}
    unclear = [name for name, its in drawn.items() if not is_clear(its.world, its.question, edge_m=ON_EDGE_M)]
    [remark] = remarks([samples.get(name) for name in drawn])
    assert 0 < len(unclear) < len(drawn)
    assert remark.startswith(f"{len(unclear)} of {len(drawn)} indoor questions")
    assert all((name in remark) == (name in unclear) for name in drawn)


def test_right_options_drawn_by_the_first_learners_odds_come_out_as_even_as_the_second_leaves_them() -> None:
    number, drawn = next(pair for pair in questions() if pair[0].task_id == "NextSpotForecasting")
    seen = evidence_of(drawn.world, "NSF", drawn.question.clip_sightings)
    cameras = sorted(seen.spots.keys() - {track.camera for track in seen.tracks})
    chances = np.exp(log_odds(number.scene, [(seen, cameras)])[0])
    rng, right = Random(0), Counter()
    for _ in range(6_000):
        truth = rng.choices(cameras, chances)[0]
        question = evidence_of(drawn.world, "NSF", drawn.question.clip_sightings)
        even = EvenOdds(number.scene)
        even._odds = dict(zip(cameras, np.log(chances).tolist(), strict=True))
        others = [camera for camera in cameras if camera != truth]
        if even.wrong(rng, question, right=truth, candidates=others, count=3):
            right[truth] += 1
    options = sorted(right)
    assert len(options) == 4
    left = centred_ranks([(seen, options)])[0] @ rank_weights("NSF", number.scene)
    expected = right.total() * np.exp(-left) / np.exp(-left).sum()
    assert all(
        abs(right[option] - count) < 4 * count**0.5 for option, count in zip(options, expected, strict=True)
    )


@pytest.mark.parametrize(("scene", "task_id"), sorted(HARD_BEFORE))
def test_every_cell_with_hard_questions_was_fitted(scene: str, task_id: str) -> None:
    assert fitted(TASKS[task_id].short, scene)


def test_tasks_without_hard_questions_are_refused_by_name(tmp_path: Path) -> None:
    select = Select.model_validate({"difficulty": "hard", "tasks": ["TrajectoryForecasting", "GeoLocation"]})
    with pytest.raises(SpecError, match="no hard questions of TrajectoryForecasting") as refused:
        worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    assert refused.value.field == "select.tasks"


def test_features_do_not_depend_on_the_order_of_options() -> None:
    for _, drawn in questions():
        evidence = evidence_in(drawn.world, drawn.question)
        _, forwards = option_features([(evidence, drawn.question.options)])
        _, backwards = option_features([(evidence, drawn.question.options[::-1])])
        assert np.allclose(forwards[0], backwards[0][::-1])


def test_ranks_are_shared_by_equal_values() -> None:
    assert comparisons(np.array([[[2.0], [1.0], [2.0]]]))[0, :, 1].tolist() == [1.0, 0.0, 1.0]
