"""The base of providers whose data are on this machine."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar

from gnomon_trips.itinerary.errors import BadArgument, Unreachable
from gnomon_trips.itinerary.place import Answer, Exactness, LatLon, Mode, Table, Way
from gnomon_trips.itinerary.provider import MAX_TABLE

T = TypeVar("T")


class Embedded:
    """Base: answers carry the name, the version, the date and the notice of the data.

    `exactness` is that of its tables of ways: of the least exact of them.
    """

    name = ""
    version = ""
    attribution = ""
    retrieved_at = ""
    exactness: Exactness
    is_local = True

    @abstractmethod
    def way(self, start: LatLon, end: LatLon, mode: Mode) -> Way:
        """The way between two points.

        Raises:
            Unreachable, Unsupported: no way exists, or the provider does not know the mode.
        """

    async def route(self, start: LatLon, end: LatLon, *, mode: Mode = "walk") -> Answer[Way]:
        way = self.way(start, end, mode)
        return self.answer(way, way.exactness)

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "walk") -> Answer[Table]:
        """All ways among the points; None where `way` raises Unreachable.

        Raises:
            BadArgument: more than MAX_TABLE points are passed.
        """
        if len(points) > MAX_TABLE:
            raise BadArgument(f"{len(points)} points; allowed: up to {MAX_TABLE}")
        rows = [[self._cell(start, end, mode) for end in points] for start in points]
        table = Table(
            minutes=tuple(tuple(cell[0] for cell in row) for row in rows),
            metres=tuple(tuple(cell[1] for cell in row) for row in rows),
        )
        return self.answer(table, self.exactness)

    def answer(self, value: T, exactness: Exactness) -> Answer[T]:
        return Answer(
            value=value,
            provider=self.name,
            version=self.version,
            attribution=self.attribution,
            retrieved_at=self.retrieved_at,
            exactness=exactness,
        )

    def _cell(self, start: LatLon, end: LatLon, mode: Mode) -> tuple[int | None, int | None]:
        if start == end:
            return 0, 0
        try:
            way = self.way(start, end, mode)
        except Unreachable:
            return None, None
        return way.minutes, way.metres
