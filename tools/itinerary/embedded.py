"""What providers share whose data are on this machine."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from tools.itinerary.errors import BadArgument, Unreachable
from tools.itinerary.place import Answer, Exactness, LatLon, Mode, Table, Way
from tools.itinerary.provider import MAX_TABLE

T = TypeVar("T")


class Embedded:
    """Base: answers carry the name, the version, the date and the notice of the data."""

    name = ""
    version = ""
    attribution = ""
    retrieved_at = ""
    is_local = True

    def answer(self, value: T, exactness: Exactness) -> Answer[T]:
        """A value with where it comes from."""
        return Answer(
            value=value,
            provider=self.name,
            version=self.version,
            attribution=self.attribution,
            retrieved_at=self.retrieved_at,
            exactness=exactness,
        )


def table_of(points: Sequence[LatLon], mode: Mode, way: Callable[[LatLon, LatLon, Mode], Way]) -> Table:
    """All ways among points; None where `way` raises Unreachable.

    Raises:
        BadArgument: there are more than MAX_TABLE points.
    """
    if len(points) > MAX_TABLE:
        raise BadArgument(f"{len(points)} points; allowed: up to {MAX_TABLE}")
    rows = [[_cell(start, end, mode, way) for end in points] for start in points]
    return Table(
        minutes=tuple(tuple(cell[0] for cell in row) for row in rows),
        metres=tuple(tuple(cell[1] for cell in row) for row in rows),
    )


def _cell(
    start: LatLon, end: LatLon, mode: Mode, way: Callable[[LatLon, LatLon, Mode], Way]
) -> tuple[int | None, int | None]:
    if start == end:
        return 0, 0
    try:
        found = way(start, end, mode)
    except Unreachable:
        return None, None
    return found.minutes, found.metres
