"""Valhalla and OSRM as sources of ways over OpenStreetMap's streets."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from gnomon_trips.itinerary.errors import BadArgument, Unreachable, Unsupported
from gnomon_trips.itinerary.http.client import HttpProvider
from gnomon_trips.itinerary.osm.city import OSM_NOTICE
from gnomon_trips.itinerary.place import Answer, LatLon, Mode, Table, Way

COSTING: dict[Mode, str] = {"walk": "pedestrian", "car": "auto", "bus": "bus"}
PROFILES: dict[Mode, str] = {"walk": "foot", "car": "driving"}


class _StreetRouter(HttpProvider):
    """Base: ways over OpenStreetMap's streets; seconds and metres are taken as the service gives them."""

    attribution = OSM_NOTICE

    async def route(self, start: LatLon, end: LatLon, *, mode: Mode = "walk") -> Answer[Way]:
        try:
            seconds, metres = await self.measured(start, end, mode)
        except BadArgument:  # 400 is also how a router says that nothing joins the two
            raise Unreachable(f"{self.name} finds no way by {mode}") from None
        with self.reading():
            return self.answer(Way.of(_finite(seconds), _finite(metres), mode, "network"), "network")

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "walk") -> Answer[Table]:
        seconds, metres = await self.measured_table(points, mode)
        with self.reading():
            return self.answer(_table(seconds, metres, len(points)), "network")

    @abstractmethod
    async def measured(self, start: LatLon, end: LatLon, mode: Mode) -> tuple[Any, Any]:
        """Seconds and metres of a way, unchecked."""

    @abstractmethod
    async def measured_table(self, points: Sequence[LatLon], mode: Mode) -> tuple[Any, Any]:
        """Rows of seconds and of metres among points, unchecked."""


class Valhalla(_StreetRouter):
    """Ways on foot, by car and by bus lane."""

    name = "valhalla"

    async def measured(self, start: LatLon, end: LatLon, mode: Mode) -> tuple[Any, Any]:
        costing = _name_of(mode, COSTING)
        body = {"locations": [_at(start), _at(end)], "costing": costing, "units": "kilometers"}
        reply = await self.ask("POST", "/route", json=body)
        with self.reading():
            summary = reply["trip"]["summary"]
            return summary["time"], summary["length"] * 1000

    async def measured_table(self, points: Sequence[LatLon], mode: Mode) -> tuple[Any, Any]:
        rows, costing = [_at(point) for point in points], _name_of(mode, COSTING)
        body = {"sources": rows, "targets": rows, "costing": costing, "units": "kilometers"}
        reply = await self.ask("POST", "/sources_to_targets", json=body)
        with self.reading():
            cells = reply["sources_to_targets"]
            seconds = [[cell["time"] for cell in row] for row in cells]
            lengths = [[cell["distance"] for cell in row] for row in cells]
            return seconds, [[None if km is None else km * 1000 for km in row] for row in lengths]


class Osrm(_StreetRouter):
    """Ways on foot and by car."""

    name = "osrm"

    async def measured(self, start: LatLon, end: LatLon, mode: Mode) -> tuple[Any, Any]:
        path = f"/route/v1/{_name_of(mode, PROFILES)}/{_pairs((start, end))}"
        reply = await self.ask("GET", path, params={"overview": "false"})
        with self.reading():
            if reply["code"] == "NoRoute":
                raise Unreachable(f"{self.name} finds no way by {mode}")
            route = reply["routes"][0]
            return route["duration"], route["distance"]

    async def measured_table(self, points: Sequence[LatLon], mode: Mode) -> tuple[Any, Any]:
        path = f"/table/v1/{_name_of(mode, PROFILES)}/{_pairs(points)}"
        reply = await self.ask("GET", path, params={"annotations": "duration,distance"})
        with self.reading():
            return reply["durations"], reply["distances"]


def _name_of(mode: Mode, names: dict[Mode, str]) -> str:
    if mode not in names:
        raise Unsupported(f"no ways by {mode}; there are: {', '.join(names)}")
    return names[mode]


def _at(point: LatLon) -> dict[str, float]:
    return {"lat": point.lat_deg, "lon": point.lon_deg}


def _pairs(points: Sequence[LatLon]) -> str:
    return ";".join(f"{point.lon_deg:.6f},{point.lat_deg:.6f}" for point in points)


def _minutes(seconds: Any) -> int:
    return max(1, math.ceil(_finite(seconds) / 60))


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{value!r} is no length or time")
    return float(value)


def _table(seconds: Any, metres: Any, count: int) -> Table:
    if len(seconds) != count or len(metres) != count or any(len(row) != count for row in (*seconds, *metres)):
        raise ValueError("a table of another size")
    return Table(
        minutes=tuple(
            tuple(0 if i == j else None if cell is None else _minutes(cell) for j, cell in enumerate(row))
            for i, row in enumerate(seconds)
        ),
        metres=tuple(tuple(None if cell is None else round(_finite(cell)) for cell in row) for row in metres),
    )
