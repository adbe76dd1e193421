"""Draws the place and the question behind a number of a family. Equal numbers give equal questions."""

from dataclasses import dataclass
from functools import lru_cache
from random import Random

from gnomon.core.errors import DataError
from gnomon.core.ids import stable_seed
from gnomon_worlds.families.family import Family, FamilyQuestion
from gnomon_worlds.families.family_numbers import FamilyNumber
from gnomon_worlds.families.features import features_of
from gnomon_worlds.families.fewest_targets import FEWEST
from gnomon_worlds.families.permanence import (
    COMES_OUT,
    FEWEST_HIDDEN,
    ORDER_HIDDEN,
    STILL_HIDDEN,
    WHERE_HIDDEN,
)
from gnomon_worlds.families.possible_ways import SAME, WHICH
from gnomon_worlds.sample_making import KEPT_QUESTIONS, RANGED_WORLDS, WORLDS, world_of
from gnomon_worlds.world import World

FAMILIES: tuple[Family, ...] = (
    SAME, WHICH, FEWEST, WHERE_HIDDEN, STILL_HIDDEN, COMES_OUT, ORDER_HIDDEN, FEWEST_HIDDEN,
)  # fmt: skip


TRIED = 40  # questions of one place, where features have ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnQuestion:
    """A question and the place in which it is asked."""

    world: World
    question: FamilyQuestion


@lru_cache(KEPT_QUESTIONS)
def draw_question(number: FamilyNumber[Family]) -> DrawnQuestion:
    """Draw the question of that number in its place, or in a spare one where its place holds none.

    Raises:
        DataError: no place was found that holds it, as where the ranges of its features are too narrow. It
            names `select.difficulty` where one was chosen, else `select.tasks`.
    """
    family, difficulty = number.family, number.difficulty
    has_ranges = bool(difficulty and difficulty.ranges)
    places = RANGED_WORLDS if has_ranges else WORLDS
    for spare in range(places):
        world = world_of(number.seed, number.scene, number.place, spare, difficulty, family.options)
        rng = Random(stable_seed("family", *number.name, spare))
        for _ in range(TRIED if has_ranges else 1):
            lots = Random(stable_seed("lots", *number.name))
            question = family.draw(lots, world, rng, difficulty)
            if question is None:
                break
            drawn = DrawnQuestion(world=world, question=question)
            if not difficulty or not has_ranges or difficulty.admits(features_of(world, question)):
                return drawn
    remedy = "ask for another difficulty or other tasks" if difficulty else "ask for other tasks"
    message = f"none of {places} places holds the question {number.sample_id}; {remedy}"
    raise DataError(message, field="select.difficulty" if difficulty else "select.tasks")
