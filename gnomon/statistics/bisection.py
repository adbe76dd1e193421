"""Finds where a condition turns from false to true, by halving."""

from collections.abc import Callable


def bisect(holds: Callable[[float], bool], no: float, yes: float, *, halvings: int) -> tuple[float, float]:
    """The closest values found at which the condition does not hold, and holds, in this order.

    It is taken not to hold at `no`, to hold at `yes`, whichever is larger, and to turn once between them.

    >>> bisect(lambda x: x**2 >= 2, 0.0, 2.0, halvings=4)
    (1.375, 1.5)
    """
    for _ in range(halvings):
        middle = (no + yes) / 2
        no, yes = (no, middle) if holds(middle) else (middle, yes)
    return no, yes
