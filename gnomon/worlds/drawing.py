"""Draws the world and the question behind a sample's number. Equal numbers, equal questions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Any

from gnomon.core.ids import stable_hash, stable_seed
from gnomon.worlds.forecasting import meeting, next_spot, trajectory
from gnomon.worlds.indoor import indoor
from gnomon.worlds.map_picture import draw_map
from gnomon.worlds.map_sheet import with_map
from gnomon.worlds.outdoor import outdoor
from gnomon.worlds.past_questions import arrival_time_interval, causal_reordering, geo_location, motion_state
from gnomon.worlds.question import Question, record
from gnomon.worlds.sample_numbers import Number
from gnomon.worlds.trajectory import Trip, trip
from gnomon.worlds.world import World

VERSION = 1  # part of every seed: a change that changes questions changes it
MAP_VERSION = 1  # a change that changes a map's bytes changes it
TRIPS = 400  # drawn in one world in search of a question
WORLDS = 20  # drawn in search of one that holds the question
KEPT = 32  # worlds remembered, with their maps
KEPT_QUESTIONS = 256  # remembered: all arms of a sample ask for it, one soon after the other

Ask = Callable[[World, Random, Trip], Question | None]

ASK: Mapping[str, Ask] = {
    "GeoLocation": geo_location,
    "ArrivalTimeInterval": arrival_time_interval,
    "MotionState": motion_state,
    "CausalReordering": causal_reordering,
    "NextSpotForecasting": next_spot,
    "TrajectoryForecasting": trajectory,
    "MultiTargetTrajectoryForecasting": meeting,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A drawn question: its world, itself, and its form in the published layout."""

    world: World
    question: Question
    record: Mapping[str, Any]


@lru_cache(KEPT_QUESTIONS)
def draw(number: Number, *, place: int | None = None) -> Drawn:
    """The question of that number, in the place of its round or in another that is named.

    Nearly always the round's place holds one; where it doesn't, another place is drawn for this question.

    Raises:
        RuntimeError: no place was found that holds such a question (never seen).
    """
    round_ = number.round if place is None else place
    for spare in range(WORLDS):
        world = world_of(number.seed, number.scene, round_, spare)
        rng = Random(stable_seed("question", VERSION, number.seed, number.k, spare))
        question = _find(world, rng, ASK[number.task_id])
        if question is not None:
            published = record(
                question, world, rng, case_id=number.sample_id, map_file=f"{world.scene.id}.png"
            )
            return Drawn(world=world, question=question, record=published)
    raise RuntimeError(f"no place for sample {number.sample_id} in {WORLDS} tries")


@lru_cache(KEPT)
def world_of(seed: int, scene: str, round_: int, spare: int = 0) -> World:
    """The place of a round, or a spare one."""
    rng = Random(stable_seed("world", VERSION, seed, scene, round_, spare))
    name = f"w{seed}-{scene}-{round_}" + (f"-{spare}" if spare else "")
    world = (outdoor if scene == "outdoor" else indoor)(rng, name=name)
    return replace(world, scene=with_map(world.scene, file=f"{name}.png"))


def map_key(world: World) -> str:
    """What names the world's map among those of all versions."""
    return stable_hash("map of a world", VERSION, MAP_VERSION, world.scene.id, size=40)


@lru_cache(KEPT)
def map_of(world: World) -> bytes:
    """The world's map as PNG."""
    return draw_map(world.scene)


def _find(world: World, rng: Random, ask: Ask) -> Question | None:
    for _ in range(TRIPS):
        taken = trip(world, rng)
        question = ask(world, rng, taken) if taken else None
        if question is not None:
            return question
    return None
