"""Constants: what the reference takes for granted before it has seen anything, each with its source.

One frozen object holds them, so that a study can put others there: `dataclasses.replace(SHIPPED, …)`.
"""

from dataclasses import dataclass, field, fields
from typing import Any


def constant(value: float, source: str, *, tried: tuple[float, ...] = ()) -> Any:  # as `field` is typed
    """A default with its source. A constant that is fitted names all the values that were tried."""
    return field(default=value, metadata={"source": source, "tried": tried})


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """Units are in the names. None depends on a camera, a target or a question."""

    # An option right behind the target counts as (1 + this) times as far.
    behind_cost: float = constant(3.0, "generated worlds, set before")
    # Metres on the way back count so many times more for the second of two cameras.
    back_cost: float = constant(1.0, "generated worlds, set before")
    # A meeting so much later is less likely by a factor e.
    meeting_soon_s: float = constant(10.0, "fitted", tried=(5.0, 10.0, 20.0))


SHIPPED = Constants()


def fitted(constants: type[Constants] = Constants) -> dict[str, tuple[float, ...]]:
    """The constants that are fitted to answers, and the values to try for each.

    >>> fitted()["meeting_soon_s"]
    (5.0, 10.0, 20.0)
    """
    return {each.name: each.metadata["tried"] for each in fields(constants) if each.metadata["tried"]}
