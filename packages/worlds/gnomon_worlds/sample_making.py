"""Draws the world and the question behind a sample's number. Equal numbers give equal questions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from random import Random
from typing import Any

from gnomon.core.clock import clocks_in_words
from gnomon.core.errors import DataError
from gnomon.core.ids import stable_hash, stable_seed
from gnomon_published.drawn_maps.map_picture import draw_map
from gnomon_published.drawn_maps.map_sheet import with_map
from gnomon_worlds.attainable import is_attainable
from gnomon_worlds.camera_model import draw_clocks
from gnomon_worlds.difficulty import Difficulty, Lots
from gnomon_worlds.features import features_of
from gnomon_worlds.forecasting import meeting, next_spot, trajectory
from gnomon_worlds.four_maps import hard_question
from gnomon_worlds.indoor import indoor
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.osm_streets import cut_plan
from gnomon_worlds.outdoor import LOW_MASTS_M, MASTS_M, outdoor
from gnomon_worlds.past_questions import arrival_time_interval, causal_reordering, geo_location, motion_state
from gnomon_worlds.question import Question, record
from gnomon_worlds.sample_numbers import Number, series_of
from gnomon_worlds.signals import draw_signals
from gnomon_worlds.street_plans import draw_plan
from gnomon_worlds.trajectory import Trip, renewed, trip, trips_of
from gnomon_worlds.world import World

VERSION = 1  # part of every seed: a change that changes questions changes it
MAP_VERSION = 4  # a change that changes a map's bytes changes it
TRIPS = 400  # drawn in one world in search of a question
PASSES = 4  # through a world's pool of trips
WORLDS = 60  # drawn in search of one that holds the question
OPTED_WORLDS = 240  # the same, where targets stop on their way or lots must be obeyed: fewer questions do
STRICT_WORLDS = 12  # in the first of which a rule that tells no options apart is not put up with
RANGED_WORLDS = 12  # the same, where features have ranges that may hold none
KEPT = 32  # worlds remembered, with their maps
KEPT_QUESTIONS = 256  # remembered: all arms of a sample ask for it, one soon after the other

Ask = Callable[[World, Random, Trip, Lots | None], Question | None]

ASK: Mapping[str, Ask] = {
    "GeoLocation": geo_location,
    "ArrivalTimeInterval": arrival_time_interval,
    "MotionState": motion_state,
    "CausalReordering": causal_reordering,
    "NextSpotForecasting": next_spot,
    "TrajectoryForecasting": trajectory,
    "MultiTargetTrajectoryForecasting": meeting,
}


# Of a trip; with fewer it holds no question of the task, and need not be tried.
SIGHTINGS: Mapping[str, int] = {
    "GeoLocation": 3,
    "ArrivalTimeInterval": 3,
    "MotionState": 3,
    "CausalReordering": 3,
    "NextSpotForecasting": 2,
    "TrajectoryForecasting": 4,
    "MultiTargetTrajectoryForecasting": 2,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A drawn question with its world and its form in the published layout."""

    world: World
    question: Question
    record: Mapping[str, Any]


@lru_cache(KEPT_QUESTIONS)
def draw(number: Number, *, place: int | None = None) -> Drawn:
    """Draw the question of that number, in the place of its round or in a named one.

    Nearly always the round's place holds one; where it doesn't, another place is drawn for this question.

    Raises:
        DataError: no place was found that holds such a question: the ranges of its features are too narrow.
    """
    round_ = number.round if place is None else place
    difficulty, series = number.difficulty, number.series
    lots = difficulty.lots(Random(stable_seed("lots", VERSION, *series, number.k))) if difficulty else None
    places = OPTED_WORLDS if difficulty or number.options else WORLDS
    if difficulty and difficulty.ranges:
        places = RANGED_WORLDS
    for spare in range(places):
        world = world_of(number.seed, number.scene, round_, spare, difficulty, number.options)
        rng = Random(stable_seed("question", VERSION, *series, number.k, spare))
        if lots and spare == STRICT_WORLDS:
            lots = replace(lots, must_tell=False)
        if difficulty and difficulty.has_four_maps:
            in_world = hard_question(world, rng, number.task_id)
        else:
            in_world = _find(world, rng, number.task_id, difficulty, lots)
        if in_world is not None:
            world, question = in_world
            if world.clocks_s and number.task_id != "CausalReordering":  # which shows no times
                question = replace(question, text=f"{question.text} {clocks_in_words(world.clocks_s)}")
            published = record(
                question, world, rng, case_id=number.sample_id, map_file=f"{world.scene.id}.png"
            )
            return Drawn(world=world, question=question, record=published)
    message = (
        f"none of {places} places holds a question of {number.cell} like this; ask for less, or other tasks"
    )
    raise DataError(message, field="select.difficulty")


@lru_cache(KEPT)
def world_of(
    seed: int,
    scene: str,
    round_: int,
    spare: int = 0,
    difficulty: Difficulty | None = None,
    options: WorldOptions | None = None,
) -> World:
    """Make the place of a round, or a spare one."""
    series = series_of(seed, difficulty, options)
    rng = Random(stable_seed("world", VERSION, *series, scene, round_, spare))
    name = f"w{'-'.join(map(str, series))}-{scene}-{round_}" + (f"-{spare}" if spare else "")
    is_crowded = bool(options and options.sight == "crowded")
    is_occluded = bool(options and options.sight != "open")
    town = partial(
        outdoor,
        rng,
        name=name,
        is_occluded=is_occluded,
        masts_m=LOW_MASTS_M if is_crowded else MASTS_M,
        has_lanes=bool(options and options.streets == "lanes"),
    )
    if scene == "indoor":
        world = indoor(
            rng,
            name=name,
            has_several=bool(options and options.buildings != "alike"),
            has_escalators=bool(options and options.buildings == "escalators"),
            is_crowded=is_crowded,
        )
    elif options and options.network:
        plan = cut_plan(rng, options.network, options.digits)
        world = town(plan=plan)
    elif difficulty is None or difficulty.level == "easy":
        world = town()
    else:
        world = town(plan=draw_plan(rng, is_whole=difficulty.has_four_maps))
    if options and options.movement == "simulated":
        world = replace(world, traffic=draw_signals(rng, world.scene, world.signalled))
        world = replace(world, is_crowded=is_crowded, is_returning=options.journeys == "returning")
    if options and options.clocks == "apart":
        world = replace(world, clocks_s=draw_clocks(rng, world.scene.cameras))
    return replace(world, scene=with_map(world.scene, file=f"{name}.png"))


def check_ranges(numbers: Sequence[Number]) -> None:
    """Refuse ranges for which a task has no feature, or no place a question, before anything is made.

    Raises:
        SpecError: a task does not have a feature.
        DataError: no place that is tried holds such a question.
    """
    difficulty = numbers[0].difficulty if numbers else None
    if difficulty is None or not difficulty.ranges:
        return
    by_task = {}
    for number in numbers:
        plain = draw(replace(number, difficulty=None))
        by_task[number.task_id] = features_of(plain.world, plain.question)
    difficulty.check_features(by_task)
    for number in numbers:
        draw(number)


def map_key(world: World) -> str:
    """The name of the world's map among maps of all versions."""
    return stable_hash("map of a world", VERSION, MAP_VERSION, world.scene.id, size=40)


@lru_cache(KEPT)
def map_of(world: World) -> bytes:
    """The world's map as PNG."""
    return draw_map(world.scene)


def _find(
    world: World, rng: Random, task_id: str, difficulty: Difficulty | None, lots: Lots | None
) -> tuple[World, Question] | None:
    is_pooled = difficulty is not None or world.traffic is not None
    pool = _pooled(world, rng, SIGHTINGS[task_id]) if is_pooled else _trips(world, rng, SIGHTINGS[task_id])
    for made in pool:
        question = ASK[task_id](world, rng, made, lots)
        if question is None or (world.traffic and not is_attainable(world, question)):
            continue
        if difficulty is None or not difficulty.ranges or difficulty.admits(features_of(world, question)):
            return world, question
    return None


def _trips(world: World, rng: Random, least: int) -> Iterator[Trip]:
    drawn = (trip(world, rng, least=least) for _ in range(TRIPS))
    return (made for made in drawn if made)


def _pooled(world: World, rng: Random, least: int) -> Iterator[Trip]:
    """The trips of the world's pool in random order, each several times, as another target each time."""
    pool = trips_of(world)
    for _ in range(PASSES):
        for made in rng.sample(pool, len(pool)):
            if again := renewed(rng, made, least=least):
                yield again
