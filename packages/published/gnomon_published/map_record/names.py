"""Finds the name in a record that a written name means: tolerant of spelling, and never by a guess."""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from gnomon_tools.core.name_match import likeness, plain_name
from gnomon_tools.core.tool import ToolError

SURE = 0.88  # spellings at least this alike are one name, where no other name is
ALIKE = 0.5  # names at least this alike are offered as alternatives
MAX_OFFERED = 12


class Way(Protocol):
    """What leads from one place to another."""

    @property
    def start(self) -> str: ...

    @property
    def end(self) -> str: ...


W = TypeVar("W", bound=Way)


def ways_between(ways: Sequence[W], start: str, end: str) -> tuple[str, str, list[W]]:
    """The names that are meant by `start` and `end`, and the ways from the one to the other.

    Raises:
        ToolError: no way begins or ends at such a place, or a name may mean several.
    """
    names = [name for way in ways for name in (way.start, way.end)]
    start, end = resolve(start, names), resolve(end, names)
    pair = (plain_name(start), plain_name(end))
    return start, end, [way for way in ways if (plain_name(way.start), plain_name(way.end)) == pair]


def resolve(written: str, names: Iterable[str], what: str = "place") -> str:
    """The one name that is meant: the same but for case, accents and punctuation; else one that holds all
    words of the other; else one spelled nearly so.

    >>> resolve("military museum", ["National Military Museum", "Old Library"])
    'National Military Museum'

    Raises:
        ToolError: no name fits, or several do; the message lists them.
    """
    known = list({plain_name(name): name for name in names if name.strip()}.values())
    if not known:
        raise ToolError(f"Not known: there is no {what} of this kind in the map data.")
    fitting = fitting_names(written, known)
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise ToolError(f"{written!r} may mean several: {_listed(fitting)}. Write one of these.")
    ranked = sorted(known, key=lambda name: -likeness(written, name))
    alike = [name for name in ranked if likeness(written, name) >= ALIKE] or ranked
    raise ToolError(f"Not known: no {what} {written!r} in the map data. There are: {_listed(alike)}.")


def is_same_name(name: str, other: str) -> bool:
    """Whether two spellings are one place or road: but for an address behind a dash, and small differences.

    >>> is_same_name("Merlion Park", "Merlion Park - 1 Fullerton Road"), is_same_name("A8", "Via A8")
    (True, True)
    """
    return likeness(name, other.partition(" - ")[0].strip().removeprefix("Via ")) >= SURE


def fitting_names(written: str, known: list[str]) -> list[str]:
    """The names that fit best, all that fit equally well; empty where none fits."""
    plain = plain_name(written)
    same = [name for name in known if plain_name(name) == plain]
    if same:
        return same
    words = set(plain.split())
    longer = [name for name in known if words and words <= set(plain_name(name).split())]
    if longer:
        return longer
    shorter = [name for name in known if plain_name(name) and set(plain_name(name).split()) <= words]
    if shorter:
        return shorter
    return [name for name in known if likeness(written, name) >= SURE]


def _listed(names: list[str]) -> str:
    more = len(names) - MAX_OFFERED
    return "; ".join(names[:MAX_OFFERED]) + (f"; and {more} more" if more > 0 else "")
