"""Writes a trip as GeoJSON (RFC 7946): stops as points, each leg as a line, times as properties."""

from collections.abc import Callable
from typing import Any

from gnomon_trips.export.result import TripResult
from gnomon_trips.itinerary.plan import Day, Stop

Line = tuple[tuple[float, float], ...]
Way = Callable[[Stop, Stop], Line]
"""The way between two stops as (lat, lon) points, for legs without a path; without streets it is straight."""


def straight(start: Stop, end: Stop) -> Line:
    """The two ends as a line."""
    return (start.lat, start.lon), (end.lat, end.lon)


def to_geojson(result: TripResult, way: Way = straight) -> dict[str, Any]:
    """A feature collection; coordinates are longitude, latitude."""
    features: list[dict[str, Any]] = []
    for number, day in enumerate(result.plan.days, 1):
        features += _stops(number, day)
        chain = [day.start, *(visit.place for visit in day.visits), day.end]
        for index, leg in enumerate(day.legs):
            points = leg.path or way(chain[index], chain[index + 1])
            line = [[round(lon, 6), round(lat, 6)] for lat, lon in points]
            properties = {"day": number, **leg.model_dump(mode="json", exclude={"evidence", "path"})}
            features.append(_feature({"type": "LineString", "coordinates": line}, properties))
    return {
        "type": "FeatureCollection",
        "features": features,
        "attribution": list(result.plan.attributions),
    }


def _stops(number: int, day: Day) -> list[dict[str, Any]]:
    homes = [{"role": "start", "stop": day.start}, {"role": "end", "stop": day.end}]
    stops: list[dict[str, Any]] = [
        _point(home["stop"], {"day": number, "role": home["role"]}) for home in homes
    ]
    for order, visit in enumerate(day.visits, 1):
        properties = {"role": "visit", "order": order, "arrive": visit.arrive, "leave": visit.leave}
        stops.append(_point(visit.place, {"day": number, "date": day.date.isoformat(), **properties}))
    return stops


def _point(stop: Any, properties: dict[str, Any]) -> dict[str, Any]:
    named = {"id": stop.id, "name": stop.name, "kind": stop.kind}
    return _feature({"type": "Point", "coordinates": [stop.lon, stop.lat]}, {**named, **properties})


def _feature(geometry: dict[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "geometry": geometry, "properties": properties}
