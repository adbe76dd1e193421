"""Draws the place and the question behind a number of a family. Equal numbers, equal questions."""

from dataclasses import dataclass
from functools import lru_cache
from random import Random

from gnomon.core.errors import DataError
from gnomon.core.ids import stable_seed
from gnomon.worlds.drawing import KEPT_QUESTIONS, WORLDS, world_of
from gnomon.worlds.families.family import Family, FamilyQuestion
from gnomon.worlds.families.family_numbers import FamilyNumber
from gnomon.worlds.families.permanence import (
    COMES_OUT,
    FEWEST_HIDDEN,
    ORDER_HIDDEN,
    STILL_HIDDEN,
    WHERE_HIDDEN,
)
from gnomon.worlds.families.possible_ways import FEWEST, SAME, WHICH
from gnomon.worlds.world import World

FAMILIES: tuple[Family, ...] = (
    SAME, WHICH, FEWEST, WHERE_HIDDEN, STILL_HIDDEN, COMES_OUT, ORDER_HIDDEN, FEWEST_HIDDEN,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnQuestion:
    """A question and the place in which it is asked."""

    world: World
    question: FamilyQuestion


@lru_cache(KEPT_QUESTIONS)
def draw_question(number: FamilyNumber[Family]) -> DrawnQuestion:
    """The question of that number, in its place; in a spare one where that holds none.

    Raises:
        DataError: none of WORLDS places holds it.
    """
    name = (number.family.short, number.family.version, number.scene, number.seed, number.k)
    for spare in range(WORLDS):
        world = world_of(number.seed, number.scene, number.place, spare, options=number.family.options)
        lots, rng = Random(stable_seed("lots", *name)), Random(stable_seed("family", *name, spare))
        question = number.family.draw(lots, world, rng)
        if question is not None:
            return DrawnQuestion(world=world, question=question)
    raise DataError(f"none of {WORLDS} places holds the question {number.sample_id}")
