"""Questions that several tests look at: a process draws each once."""

from functools import cache

from gnomon_worlds.families.family import Family, FamilyQuestion
from gnomon_worlds.families.family_numbers import FamilyNumber
from gnomon_worlds.families.sample_making import draw_question


@cache
def question(number: FamilyNumber[Family]) -> FamilyQuestion:
    """The question of that number, without the world around it."""
    return draw_question(number).question
