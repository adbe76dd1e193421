"""Generated questions of a named difficulty: they obey their lots, and an id says all of a question."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gnomon.core.benchmark import Benchmark, MeasuresDifficulty
from gnomon.core.clock import day_span
from gnomon.core.errors import DataError, NotFound, SpecError
from gnomon.core.ids import stable_seed
from gnomon.core.sample_abilities import WarnsOfSelection
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon_published.benchmarks.gtr_bench.case import TASKS
from gnomon_published.benchmarks.gtr_bench.rules_of_thumb import (
    SAME,
    Evidence,
    Place,
    Track,
    same_displacement,
    scores_of,
    taken,
)
from gnomon_worlds import sample_making, sample_numbers
from gnomon_worlds.benchmarks.worlds import worlds
from gnomon_worlds.benchmarks.worlds_families import worlds_families
from gnomon_worlds.benchmarks.worlds_motion import worlds_motion
from gnomon_worlds.difficulty import APART, CHANCE, FEATURES, PLACED, TOUR, Difficulty
from gnomon_worlds.features import features_of
from gnomon_worlds.question import evidence_of
from gnomon_worlds.sample_making import VERSION, Drawn, draw
from gnomon_worlds.sample_numbers import Number, number_of
from gnomon_worlds.street_plans import draw_plan

SEED, ROUNDS = 11, 2
# Of each round one task alone is drawn. The soak looks at more, and so sees a smaller deviation.
MOTION_ROUNDS = pytest.mark.parametrize("rounds", [8, pytest.param(20, marks=pytest.mark.soak)])
EASY, HARD = Difficulty(level="easy"), Difficulty(level="hard")


@cache
def hard_questions() -> tuple[tuple[Number, Drawn], ...]:
    numbers = [Number(SEED, k, HARD) for k in range(14 * ROUNDS)]
    return tuple((number, draw(number)) for number in numbers)


def evidence(drawn: Drawn) -> Evidence:
    question = drawn.question
    task = TASKS[question.task_id].short
    asked = question.middle.camera if task == "ATI" and question.middle else ""
    return evidence_of(drawn.world, task, question.clip_sightings, asked=asked)


def test_rules_of_thumb_find_a_hard_question_where_the_lots_say_so_and_nowhere_else() -> None:
    for number, drawn in hard_questions():
        lots = HARD.lots(Random(stable_seed("lots", VERSION, SEED, "hard", number.k)))
        assert lots is not None
        options, right = drawn.question.options, drawn.question.right[0]
        for rule, by_option in scores_of(evidence(drawn), options).items():
            if rule in PLACED.get(evidence(drawn).task, {}):
                before = sum(score < by_option[right] - SAME for score in by_option.values())
                level = sum(abs(score - by_option[right]) <= SAME for score in by_option.values())
                assert before <= lots.places[rule] < before + level, (number.sample_id, rule)
                continue
            left = [options[at] for at in taken([by_option[option] for option in options])]
            if rule == TOUR and right in left:  # an order's reverse is as long
                left = [option for option in left if option != " → ".join(right.split(" → ")[::-1])]
            if len(left) in (0, len(options)):
                continue  # it cannot tell any option from the others
            found = left == [right]
            assert found or right not in left, (number.sample_id, rule)
            assert found == lots.apart.get(rule, lots.straight), (number.sample_id, rule)


@pytest.mark.parametrize(("level", "share"), [("easy", 1.0), ("medium", 0.6), ("hard", CHANCE)])
def test_lots_find_as_often_as_the_level_says(level: str, share: float) -> None:
    drawn = [Difficulty.from_tag(level).lots(Random(seed)) for seed in range(4_000)]
    for measured, expected in (
        ([lots.straight for lots in drawn if lots], share),
        *(([lots.apart[name] for lots in drawn if lots], CHANCE) for name in APART),
    ):
        sigma = math.sqrt(expected * (1 - expected) / len(drawn))
        assert abs(sum(measured) / len(drawn) - expected) <= 4 * sigma


def test_an_easy_interval_is_late_and_long_where_lots_say_so_which_is_even() -> None:
    for k in range(14 * ROUNDS):
        if (number := Number(SEED, k, EASY)).task_id == "ArrivalTimeInterval":
            lots = EASY.lots(Random(stable_seed("lots", VERSION, SEED, "easy", k)))
            question = draw(number).question
            by_start = sorted(question.options, key=lambda option: day_span(option) or (0.0, 0.0))
            assert lots is not None
            assert by_start.index(question.right[0]) == lots.places["earliest"]
    drawn = [EASY.lots(Random(seed)) for seed in range(4_000)]
    for name in ("longest run", "longest", "earliest"):
        counts = Counter(lots.places[name] for lots in drawn if lots)
        assert all(abs(counts[place] - 1_000) <= 4 * math.sqrt(750) for place in range(4))


def test_a_hard_motion_ends_where_all_options_end() -> None:
    motions = [drawn for number, drawn in hard_questions() if number.task_id == "MotionState"]
    assert motions
    for drawn in motions:
        ends = [same_displacement(evidence(drawn), option) for option in drawn.question.options]
        assert all(end is not None for end in ends)
        assert max(map(float, filter(None, ends))) - min(map(float, filter(None, ends))) < 0.5


def test_options_of_a_hard_motion_have_as_many_runs_and_are_as_long() -> None:
    motions = [drawn for number, drawn in hard_questions() if number.task_id == "MotionState"]
    for drawn in motions:
        metres = [
            [float(run) for run in re.findall(r"([\d.]+) meters", option)]
            for option in drawn.question.options
        ]
        assert len({len(runs) for runs in metres}) == 1
        lengths_m = [sum(runs) for runs in metres]
        assert max(lengths_m) - min(lengths_m) <= 0.1 * len(metres[0]) + 1e-6


@MOTION_ROUNDS
def test_an_order_has_its_reverse_among_the_options_as_often_as_any_wrong_order_has(rounds: int) -> None:
    with_reverse = []
    for k in range(14 * 2 * rounds):
        if (number := Number(SEED + 2, k, EASY)).task_id == "CausalReordering":
            question = draw(number).question
            reverse = " → ".join(question.right[0].split(" → ")[::-1])
            with_reverse.append(reverse in question.options)
    share, sigma = 0.6, math.sqrt(0.6 * 0.4 / len(with_reverse))
    assert abs(sum(with_reverse) / len(with_reverse) - share) < 4 * sigma


@MOTION_ROUNDS
def test_the_right_motion_is_the_shortest_text_no_more_often_than_chance(rounds: int) -> None:
    """Once wrong options had a run more, and the shortest text was right in 83 of 100."""
    shares = []
    for k in range(14 * rounds):
        if (number := Number(SEED + 1, k, HARD)).task_id == "MotionState":
            question = draw(number).question
            lengths = [len(option) for option in question.options]
            right = question.options.index(question.right[0])
            shares.append((lengths[right] == min(lengths)) / lengths.count(min(lengths)))
    assert sum(shares) / len(shares) < CHANCE + 4 * math.sqrt(CHANCE * (1 - CHANCE) / len(shares))


ranges = st.dictionaries(
    st.sampled_from(FEATURES),
    st.tuples(st.floats(0, 1e3), st.floats(0, 1e3)).map(lambda pair: (min(pair), max(pair))),
    min_size=1,
)


@given(ranges, st.integers(0, 2**63 - 1), st.integers(0, 10**7))
def test_an_id_says_all_that_a_question_is_drawn_from(
    wanted: dict[str, tuple[float, float]], seed: int, k: int
) -> None:
    number = Number(seed, k, Difficulty.of(wanted))
    assert number_of(number.sample_id) == number


@pytest.mark.parametrize(
    "sample_id", ["w7-harder-00012", "w7-detour~2-00001", "w7-detour~a~b-00001", "w7--00001"]
)
def test_other_ids_name_no_sample(sample_id: str) -> None:
    with pytest.raises(NotFound):
        number_of(sample_id)


def test_features_are_within_the_ranges_that_were_asked_for(tmp_path: Path) -> None:
    select = Select.model_validate(
        {
            "limit": 6,
            "seed": 3,
            "tasks": ["GeoLocation", "TrajectoryForecasting"],
            "difficulty": {"detour": [1.4, 4.0]},
        }
    )
    samples = worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    for ref in samples.refs:
        assert isinstance(worlds, MeasuresDifficulty)
        features = worlds.features(samples.get(ref.sample_id))
        assert 1.4 <= float(features["detour"]) <= 4.0
        assert set(features) <= set(FEATURES)


def test_mixed_questions_are_those_of_each_level_round_by_round(tmp_path: Path) -> None:
    a_turn = 3 * 14 + len(sample_numbers.HARD)  # not every cell has hard questions
    select = Select.model_validate({"limit": 2 * a_turn + 6, "seed": 7, "difficulty": "mixed"})
    samples = worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    ids = [ref.sample_id for ref in samples.refs]
    assert [ids[turn * a_turn + 14 * level] for turn in range(2) for level in range(4)] == [
        *("w7-00000", "w7-easy-00000", "w7-medium-00000", "w7-hard5-00000"),
        *("w7-00014", "w7-easy-00014", "w7-medium-00014", "w7-hard5-00014"),
    ]
    assert ids[2 * a_turn] == "w7-00028"
    assert len(set(ids)) == len(ids)
    assert all(number_of(sample_id).ref() in samples.refs for sample_id in ids)
    assert number_of("w7-00034").ref() not in samples.refs
    assert number_of("w7-easy-00028").ref() not in samples.refs


def test_the_level_is_a_feature(tmp_path: Path) -> None:
    select = Select.model_validate(
        {"limit": 4, "seed": 7, "difficulty": "mixed", "tasks": ["GeoLocation"], "scenes": ["outdoor"]}
    )
    samples = worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    assert isinstance(worlds, MeasuresDifficulty)
    levels = [worlds.features(samples.get(ref.sample_id))["level"] for ref in samples.refs]
    assert levels == ["as it comes", "easy", "medium", "hard"]


def test_ranges_that_no_question_of_a_cell_has_are_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_making, "RANGED_WORLDS", 2)
    select = Select.model_validate(
        {"limit": 1, "tasks": ["NextSpotForecasting"], "difficulty": {"targets": [2, 3]}}
    )
    with pytest.raises(DataError, match=r"holds a question of outdoor\.NSF") as refused:
        worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    assert refused.value.field == "select.difficulty"


def test_hard_questions_bridge_longer_detours_than_easy_ones() -> None:
    easy = [draw(Number(SEED, k, Difficulty(level="easy"))) for k in range(14 * ROUNDS)]
    mean = {
        name: math.fsum(features_of(drawn.world, drawn.question)["detour"] for drawn in drawings)
        for name, drawings in (("easy", easy), ("hard", [drawn for _, drawn in hard_questions()]))
    }
    assert mean["hard"] > mean["easy"]


@pytest.mark.parametrize("seed", range(8))
def test_every_junction_is_in_reach_of_every_other_along_one_way_streets(seed: int) -> None:
    plan = draw_plan(Random(seed))
    graph = nx.DiGraph(list(plan.streets))
    graph.add_edges_from((end, start) for start, end in plan.streets if (start, end) not in plan.one_way)
    assert nx.is_strongly_connected(graph)
    assert not nx.has_bridges(graph.to_undirected())
    assert plan.one_way <= plan.streets.keys()


@pytest.mark.parametrize(
    ("difficulty", "said"),
    [
        ({"size": (0, 1)}, "no feature 'size'"),
        ({"detour": (3, 1)}, "write the lowest first"),
        ({}, "name a level"),
    ],
)
def test_other_features_and_empty_ranges_are_refused(
    difficulty: dict[str, tuple[float, float]], said: str
) -> None:
    with pytest.raises(SpecError, match=said) as refused:
        Difficulty.of(difficulty)
    assert refused.value.field == "select.difficulty"


@pytest.mark.parametrize(
    "difficulty", [{"detour": 2}, {"detour": [1]}, {"detour": ["1", "x"]}, {"detour": None}]
)
def test_a_feature_without_two_numbers_is_refused_by_its_name(difficulty: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=r"detour: its lowest and its highest value"):
        Select.model_validate({"difficulty": difficulty})


@pytest.mark.parametrize("difficulty", ["harder", ["easy", "hard"], 3])
def test_what_is_neither_level_nor_ranges_is_told_both(difficulty: object) -> None:
    with pytest.raises(ValidationError, match="easy, medium, hard, mixed, or ranges of features"):
        Select.model_validate({"difficulty": difficulty})


@pytest.mark.parametrize(
    ("benchmark", "feature", "having", "lacking"),
    [
        (worlds, "closeness", "GeoLocation", "MotionState"),
        (worlds_families, "hidden", "WhereHidden", "SameTarget"),
        (worlds_motion, "manoeuvres", "Proximity", "Spatial Relation"),
    ],
)
def test_a_range_of_what_is_not_measured_of_a_task_is_refused_and_names_those_of_which_it_is(
    benchmark: Benchmark, feature: str, having: str, lacking: str, tmp_path: Path
) -> None:
    select = Select(tasks=(having, lacking), limit=4, difficulty={feature: (0.0, 1000.0)})
    with pytest.raises(
        SpecError, match=f"{feature} is not measured of {lacking}: .* only for {having}$"
    ) as no:
        benchmark.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    assert no.value.field == "select.difficulty"


@pytest.mark.parametrize(("benchmark", "cells"), [(worlds, 14), (worlds_families, 16), (worlds_motion, 17)])
def test_mixed_levels_warn_where_the_limit_leaves_one_out(
    benchmark: Benchmark, cells: int, tmp_path: Path
) -> None:
    def warnings(limit: int) -> Sequence[str]:
        select = Select(limit=limit, difficulty="mixed")
        refs = benchmark.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path)).refs
        assert isinstance(refs, WarnsOfSelection)
        return refs.warnings

    assert f"none that is hard: rounds of {cells}" in "".join(warnings(3 * cells))
    assert "none that is easy or medium or hard" in "".join(warnings(1))
    assert warnings(3 * cells + 1) == []


@pytest.mark.parametrize("chosen", [{"scenes": ("indoor",)}, {"tasks": ("TrajectoryForecasting",)}])
def test_mixed_levels_say_where_nothing_is_hard(chosen: dict[str, tuple[str, ...]], tmp_path: Path) -> None:
    select = Select(limit=40, difficulty="mixed", **chosen)
    refs = worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path)).refs
    assert isinstance(refs, WarnsOfSelection)
    assert refs.warnings == ["these tasks, scenes and places have no question that is hard"]
    assert not any("hard" in ref.sample_id for ref in refs)


def test_a_benchmark_that_generates_no_difficulty_refuses_it() -> None:
    from gnomon.spec.rules import Context, prompt_options

    spec = JobSpec.model_validate(
        {
            "benchmark": "itinerary",
            "select": {"difficulty": "hard"},
            "models": [{"id": "reference"}],
            "arms": [{"name": "raw", "agent": "direct"}],
        }
    )
    with pytest.raises(SpecError, match="has no difficulty to choose"):
        prompt_options(spec, Context(agents=()))


def test_a_rule_takes_what_is_nearest_ahead_and_ignores_what_lies_behind() -> None:
    here = Place(xy_m=(0.0, 0.0), floor=0)
    spots = {
        name: Place(xy_m=xy_m, floor=0)
        for name, xy_m in {"c1": (0, 0), "c2": (0, -10), "c3": (0, 30), "c4": (40, 40)}.items()
    }
    track = Track(camera="c1", first=Place(xy_m=(0.0, -5.0), floor=0), last=here, span_s=(0.0, 5.0))
    question = Evidence(task="NSF", asked="", tracks=(track,), spots=spots, posts=spots)
    scores = scores_of(question, ("c2", "c3", "c4"))
    assert taken(list(scores["nearest camera"].values())) == [0]
    assert taken(list(scores["nearest camera ahead"].values())) == [1]
    assert taken(list(scores["straight on"].values())) == [1]
