"""Valhalla and OSRM as sources of ways over OpenStreetMap's streets."""

import math
from collections.abc import Sequence
from typing import Any

from tools.itinerary.errors import BadArgument, Unreachable, Unsupported
from tools.itinerary.http.client import WRONG_SHAPE, HttpProvider, nonsense
from tools.itinerary.osm.city import OSM_NOTICE
from tools.itinerary.place import Answer, LatLon, Mode, Table, Way

COSTING: dict[Mode, str] = {"walk": "pedestrian", "car": "auto", "bus": "bus"}
PROFILES: dict[Mode, str] = {"walk": "foot", "car": "driving"}


class Valhalla(HttpProvider):
    """Ways on foot, by car and by bus lane; its time and length are taken as they are."""

    name = "valhalla"
    attribution = OSM_NOTICE

    async def route(
        self,
        start: LatLon,
        end: LatLon,
        *,
        mode: Mode = "walk",
        depart: str | None = None,  # noqa: ARG002 (streets have no timetable)
    ) -> Answer[Way]:
        body = {"locations": [_at(start), _at(end)], "costing": _known(COSTING, mode), "units": "kilometers"}
        try:
            found = await self.ask("POST", "/route", json=body)
        except BadArgument:  # 400 is also how it says that nothing joins the two
            raise Unreachable(f"{self.name} finds no way by {mode}") from None
        try:
            told = found["trip"]["summary"]
            return self.answer(_way(told["time"], told["length"] * 1000, mode), "network")
        except WRONG_SHAPE as error:
            raise nonsense(self.name, error) from None

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "walk") -> Answer[Table]:
        rows = [_at(point) for point in points]
        body = {"sources": rows, "targets": rows, "costing": _known(COSTING, mode), "units": "kilometers"}
        found = await self.ask("POST", "/sources_to_targets", json=body)
        try:
            cells = found["sources_to_targets"]
            seconds = [[cell["time"] for cell in row] for row in cells]
            metres = [
                [None if (d := cell["distance"]) is None else d * 1000 for cell in row] for row in cells
            ]
            return self.answer(_table(seconds, metres, len(points)), "network")
        except WRONG_SHAPE as error:
            raise nonsense(self.name, error) from None


class Osrm(HttpProvider):
    """Ways on foot and by car."""

    name = "osrm"
    attribution = OSM_NOTICE

    async def route(
        self,
        start: LatLon,
        end: LatLon,
        *,
        mode: Mode = "walk",
        depart: str | None = None,  # noqa: ARG002 (streets have no timetable)
    ) -> Answer[Way]:
        path = f"/route/v1/{_known(PROFILES, mode)}/{_pairs((start, end))}"
        try:
            found = await self.ask("GET", path, params={"overview": "false"})
        except BadArgument:
            raise Unreachable(f"{self.name} finds no way by {mode}") from None
        try:
            if found["code"] == "NoRoute":
                raise Unreachable(f"{self.name} finds no way by {mode}")
            told = found["routes"][0]
            return self.answer(_way(told["duration"], told["distance"], mode), "network")
        except WRONG_SHAPE as error:
            raise nonsense(self.name, error) from None

    async def matrix(self, points: Sequence[LatLon], *, mode: Mode = "walk") -> Answer[Table]:
        path = f"/table/v1/{_known(PROFILES, mode)}/{_pairs(points)}"
        found = await self.ask("GET", path, params={"annotations": "duration,distance"})
        try:
            return self.answer(_table(found["durations"], found["distances"], len(points)), "network")
        except WRONG_SHAPE as error:
            raise nonsense(self.name, error) from None


def _known(names: dict[Mode, str], mode: Mode) -> str:
    if mode not in names:
        raise Unsupported(f"no ways by {mode}; there are: {', '.join(names)}")
    return names[mode]


def _at(point: LatLon) -> dict[str, float]:
    return {"lat": point.lat_deg, "lon": point.lon_deg}


def _pairs(points: Sequence[LatLon]) -> str:
    return ";".join(f"{point.lon_deg:.6f},{point.lat_deg:.6f}" for point in points)


def _way(seconds: Any, metres: Any, mode: Mode) -> Way:
    return Way.of(_finite(seconds), _finite(metres), mode, "network")


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
            tuple(0 if i == j else None if one is None else _minutes(one) for j, one in enumerate(row))
            for i, row in enumerate(seconds)
        ),
        metres=tuple(tuple(None if one is None else round(_finite(one)) for one in row) for row in metres),
    )
