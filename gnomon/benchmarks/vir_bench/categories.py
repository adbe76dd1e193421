"""Categories: the closed list from which a place's category is chosen, as published (`resturant` too)."""

from functools import cache
from importlib.resources import files


@cache
def categories() -> tuple[str, ...]:
    """All of them, in the published order.

    >>> len(categories()), categories()[0]
    (156, 'adventure_sports_center')
    """
    text = files("gnomon.benchmarks.vir_bench").joinpath("categories.txt").read_text(encoding="utf-8")
    return tuple(text.split())
