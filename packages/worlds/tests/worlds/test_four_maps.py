"""A hard question is asked alike under four maps of a town; only what is right differs."""

import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from gnomon.core.benchmark import SampleSet
from gnomon.core.errors import NotFound, SpecError
from gnomon.core.option_features import comparisons
from gnomon.core.select import AS_IT_COMES, Select
from gnomon.media import MediaStore
from gnomon.statistics.estimate import wilson
from gnomon_analyses.audit.adversary import choices
from gnomon_published.benchmarks.gtr_bench.option_features import option_features
from gnomon_worlds.attainable import ON_EDGE_M, is_attainable, is_clear
from gnomon_worlds.benchmarks.worlds import worlds
from gnomon_worlds.benchmarks.worlds.audit import remarks
from gnomon_worlds.crossings import MAPS, Crossings, crossings_of
from gnomon_worlds.difficulty import CHANCE, LEARNED, Difficulty
from gnomon_worlds.four_maps import Target, _driven, _seen, _trips, under_four_maps
from gnomon_worlds.movement import VEHICLE
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.past_questions import told_way
from gnomon_worlds.question import Question, drawn_clip, evidence_in
from gnomon_worlds.rendering.clip import Style, clips_of
from gnomon_worlds.sample_making import draw, world_of
from gnomon_worlds.sample_numbers import CELLS, HARD, Number, Numbers, difficulties_of, number_of
from gnomon_worlds.walks import along
from gnomon_worlds.world import World

HARD_LEVEL = Difficulty(level="hard", has_four_maps=True)
TASKS = pytest.mark.parametrize("task_id", sorted(task_id for _, task_id in HARD))


@cache
def town() -> World:
    return world_of(31, "outdoor", 0, 0, HARD_LEVEL)


@cache
def asked(task_id: str) -> list[tuple[int, Question]]:
    questions = under_four_maps(town(), Random(0), task_id)
    assert questions
    return questions


def shown(world: World, question: Question) -> str:
    """All that one sees who does not see the map: words, options, boxes and times."""
    clips = [drawn_clip(world, *clip) for clip in question.clip_sightings]
    if question.task_id == "CausalReordering":  # no prompt tells its times
        clips = [clip | {"start_timestamp": 0, "end_timestamp": 0} for clip in clips]
    return json.dumps([question.text, question.options, clips])


@TASKS
def test_clips_words_and_options_are_the_same_under_four_maps(task_id: str) -> None:
    assert len({shown(town(), question) for _, question in asked(task_id)}) == 1


@TASKS
def test_each_option_is_right_under_one_of_the_four_maps(task_id: str) -> None:
    questions = [question for _, question in asked(task_id)]
    assert sorted(question.right for question in questions) == [
        (option,) for option in sorted(questions[0].options)
    ]


@TASKS
def test_what_an_adversary_without_the_map_learns_from_is_the_same_under_four_maps(task_id: str) -> None:
    seen = [
        (evidence_in(crossings_of(town()).town_of(town(), map_, "t"), question), question.options)
        for map_, question in asked(task_id)
    ]
    _, features = option_features(seen)
    assert np.allclose(features, features[0], atol=1e-6)


@TASKS
def test_under_each_map_the_ways_and_the_speed_in_view_lead_to_what_is_right(task_id: str) -> None:
    for map_, question in asked(task_id):
        world = crossings_of(town()).town_of(town(), map_, "t")
        assert is_attainable(world, question)
        assert is_clear(world, question)


@pytest.mark.soak
@TASKS
def test_an_adversary_without_the_map_is_right_by_chance(task_id: str) -> None:
    pytest.importorskip("sklearn", reason="the extra `audit` is not installed")
    cell, lot = CELLS.index(("outdoor", task_id)), Random(0)
    numbers = [Number(35, round_ * len(CELLS) + cell, HARD_LEVEL) for round_ in range(200)]
    seen, right = [], []
    for number in numbers:
        drawn = draw(number)
        options = lot.sample(drawn.question.options, 4)
        seen.append((evidence_in(drawn.world, drawn.question), options))
        right.append(options.index(drawn.question.right[0]))
    chosen = choices(option_features(seen)[1], right, [number.cluster for number in numbers])
    hits = [choice == right[at] for at, choice in chosen]
    low, high = wilson(sum(hits) / 200, 200, quantile=2.576)
    assert len(hits) == 200
    assert low <= CHANCE <= high


def test_ways_of_a_map_are_those_of_its_town() -> None:
    its: Crossings = crossings_of(town())
    made = its.town_of(town(), 3, "t")
    [spot] = town().spots[its.cameras[0]]
    far_m = made.ways_to_cameras_m(spot)
    ends_m = its.seen_m[0] / 2
    for at, camera in enumerate(its.cameras[1:], start=1):
        ways_m = its.shortest_m[3, :2, 2 * at : 2 * at + 2] + ends_m + its.seen_m[2 * at] / 2
        assert np.isclose(min(ways_m.min(), 1e9), min(far_m[camera], 1e9), atol=1e-3)


def test_no_map_closes_a_street_that_a_camera_sees() -> None:
    its = crossings_of(town())
    for map_ in range(0, MAPS, 40):
        made = its.town_of(town(), map_, "t")
        assert len(made.scene.roads) < len(town().scene.roads)
        for name, camera in made.scene.cameras.items():
            assert camera.field_of_view is not None
            assert any(road.line.intersects(camera.field_of_view) for road in made.scene.roads.values()), name


def test_clips_show_the_streets_that_the_map_lacks_too() -> None:
    drawn = draw(Number(31, 0, HARD_LEVEL))
    for clip in clips_of(drawn.question, drawn.world, seed=31, style=Style()):
        assert len(clip.world.scene.roads) > len(drawn.world.scene.roads)


def selection(folder: Path, **select: Any) -> SampleSet:
    chosen = Select.model_validate({"difficulty": "hard", **select})
    return worlds.open(data=None, select=chosen, protocol="guarded", media=MediaStore(folder))


def test_hard_questions_of_before_are_in_no_selection(tmp_path: Path) -> None:
    samples = selection(tmp_path, limit=2 * len(HARD), seed=7)
    assert {ref.sample_id for ref in samples.refs} == {
        f"w7-hard5-{k:05d}" for k in range(28) if CELLS[k % 14] in HARD
    }
    for before in ("w7-hard-00004", "w7-hard2-00000", "w7-hard3-00008", "w7-hard4-00008"):
        with pytest.raises(NotFound, match=before):
            samples.get(before)


def test_each_row_tells_what_a_learner_without_the_map_has_right_at_that_level(tmp_path: Path) -> None:
    samples = selection(tmp_path, limit=1, seed=31, tasks=["GeoLocation"])
    floors = worlds.heuristic_scores(samples.get(samples.refs[0].sample_id))
    assert floors["learner without the map, elsewhere"] == LEARNED["hard"]["GL"]


def test_tasks_without_hard_questions_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no hard questions of TrajectoryForecasting") as refused:
        selection(tmp_path, tasks=["TrajectoryForecasting", "GeoLocation"])
    assert refused.value.field == "select.tasks"


def test_the_audit_counts_what_rests_on_stairs_and_edges_and_names_it(tmp_path: Path) -> None:
    samples = selection(tmp_path, limit=4, seed=1, scenes=["indoor"], difficulty=None)
    drawn = {ref.sample_id: draw(number_of(ref.sample_id)) for ref in samples.refs}
    unclear = [name for name, its in drawn.items() if not is_clear(its.world, its.question, edge_m=ON_EDGE_M)]
    [remark] = remarks([samples.get(name) for name in drawn])
    assert 0 < len(unclear) < len(drawn)
    assert remark.startswith(f"{len(unclear)} of {len(drawn)} indoor questions")
    assert all((name in remark) == (name in unclear) for name in drawn)


def test_features_do_not_depend_on_the_order_of_options() -> None:
    drawn = draw(Number(31, 0, HARD_LEVEL))
    evidence = evidence_in(drawn.world, drawn.question)
    _, forwards = option_features([(evidence, drawn.question.options)])
    _, backwards = option_features([(evidence, drawn.question.options[::-1])])
    assert np.allclose(forwards[0], backwards[0][::-1])


def test_ranks_are_shared_by_equal_values() -> None:
    assert comparisons(np.array([[[2.0], [1.0], [2.0]]]))[0, :, 1].tolist() == [1.0, 0.0, 1.0]


def test_where_targets_wait_for_one_another_there_are_no_hard_questions() -> None:
    options = WorldOptions.of({"movement": "simulated"})
    with pytest.raises(SpecError, match="no hard questions with network or movement: simulated"):
        difficulties_of("hard", options)
    mixed = Numbers(7, tuple(range(len(CELLS))), 50, difficulties_of("mixed", options), options)
    assert {number_of(ref.sample_id).level for ref in mixed} == {AS_IT_COMES, "easy", "medium"}
    assert mixed.warnings == ["these tasks, scenes and places have no question that is hard"]
    assert difficulties_of({"detour": (1.5, 3.0)}, options)


def test_a_way_between_two_views_is_told_by_its_line_as_by_the_walk_on_it() -> None:
    crossings, told, rng = crossings_of(town()), set(), Random(1)
    for _ in range(60):
        four = _driven(rng, crossings, town().margin_m)
        target = Target(number=1, body=VEHICLE, speed_mps=8.0, left_s=0.0)
        for answer, trip in zip(four, _trips(town(), crossings, four, target), strict=True):
            seen = _seen(crossings, answer, trip, is_next=False)
            way_m = crossings.unseen_m(answer.map_, answer.crossed)
            if seen:
                told.add(along(way_m) is not None)
                assert (along(way_m) is None) == (told_way(trip, *seen) is None)
    assert told == {False, True}
