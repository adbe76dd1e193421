"""Questions that several tests look at: a process draws each once."""

from functools import cache

from gnomon_worlds.families.drawing import draw_question
from gnomon_worlds.families.family import Family, FamilyQuestion
from gnomon_worlds.families.family_numbers import FamilyNumber


@cache
def question(number: FamilyNumber[Family]) -> FamilyQuestion:
    """The question of that number, without the world around it."""
    return draw_question(number).question
