"""Estimates when a target comes to each option, by the forecasting tool or by distances alone."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gnomon_agents.models.reference.guessing import Option
from gnomon_agents.models.reference.tool_results import Call, Evidence, Result
from gnomon_published.solver.clips.answer import Interval
from gnomon_published.solver.clips.constants import SHIPPED
from gnomon_published.solver.clips.interval_choice import Doubts, hedged
from gnomon_published.solver.clips.observations import (
    ASSUMED_RANGE_M,
    BLIND_SHARE,
    Location,
    Survey,
    at,
    distances,
)

LEAST_M = 1.0  # no camera is nearer than that
BEHIND_M = 1e6  # what surely lies behind comes after all that lies ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """An option as it lies ahead: how far, when in view, and when and where the target passes its middle."""

    metres: float
    interval: Interval
    middle: Location
    middle_s: float
    heading_deg: float | None


def arrivals(
    observed: Survey, departures: Sequence[Mapping[str, Any]], options: Sequence[Option], evidence: Evidence
) -> list[dict[Option, Arrival]]:
    """For each departure, what lies ahead among the options other than the camera it departs from.

    Raises:
        Need: the tools have not been asked yet.
    """
    names = [[option.text for option in options if option.text != leave["seen_by"]] for leave in departures]
    calls = [
        Call("forecast_arrival", {**leave, "cameras": others})
        for leave, others in zip(departures, names, strict=True)
    ]
    results = evidence.ask(calls, "I forecast when the target comes to each option.")
    return [
        by_distance(observed, leave, options, evidence)
        if result is None
        else _read(observed, result, options)
        for leave, result in zip(departures, results, strict=True)
    ]


def _read(observed: Survey, result: Result, options: Sequence[Option]) -> dict[Option, Arrival]:
    rows = {row["camera"]: row for row in result["arrivals"] if "start_s" in row}
    return {
        option: Arrival(
            metres=row["distance_m"],
            interval=(row["start_s"], row["end_s"]),
            middle=at((row["middle_x_m"], row["middle_y_m"]), _floor(observed, option)),
            middle_s=row["middle_s"],
            heading_deg=row.get("heading_deg"),
        )
        for option in options
        if (row := rows.get(option.text))
    }


def by_distance(
    observed: Survey, departure: Mapping[str, Any], options: Sequence[Option], evidence: Evidence
) -> dict[Option, Arrival]:
    """Within half a view's length of the middle of each option's view.

    Raises:
        Need: the tools have not been asked yet.
    """
    options = [option for option in options if option.text != departure["seen_by"]]
    pairs = [(departure["at"], middle(observed, option)) for option in options]
    metres = distances(evidence, pairs, "I measure the way to each option.")
    by_option = {}
    for option, way_m in zip(options, metres, strict=True):
        camera = observed.cameras.get(option.text)
        half_m = ((camera.range_m if camera else None) or ASSUMED_RANGE_M) * (1 - BLIND_SHARE) / 2
        passes_s, half_s = (metres / departure["speed_mps"] for metres in (way_m, half_m))
        if math.isfinite(way_m):
            start_s = departure["time_s"] + passes_s
            by_option[option] = Arrival(
                metres=way_m,
                interval=(max(start_s - half_s, departure["time_s"]), start_s + half_s),
                middle=middle(observed, option),
                middle_s=start_s,
                heading_deg=None,
            )
    return by_option


def expected(
    observed: Survey, option: Option, forecast: Interval, since_s: float, *, vehicle: bool
) -> Interval:
    """The interval to answer for a stay in an option's view, forecast from a sighting ended at `since_s`.

    People stop and turn, cars wait at lights: but only as far as the map itself is vague. Where a scene
    states that its views are exact, it is a drawing, and what moves in it moves evenly.
    """
    constants, camera = SHIPPED, observed.cameras.get(option.text)
    vague = camera.vagueness if camera else 1.0
    start_s = constants.walker_start_s
    if vehicle:
        ahead_s = max(0.0, forecast[0] - since_s)
        start_s = constants.vehicle_start_s + constants.vehicle_start_share * ahead_s
    doubts = Doubts(
        start_s=round(vague * start_s, 2),
        length=round(vague * (constants.vehicle_length if vehicle else constants.walker_length), 2),
        pause_s=round(vague * (0.0 if vehicle else constants.walker_pause_s), 2),
    )
    return hedged(*forecast, doubts)


def middle(observed: Survey, option: Option) -> Location:
    """The middle of an option's view, judged by its range; else its camera."""
    camera = observed.cameras.get(option.text)
    ends = camera.view_ends() if camera else None
    if camera is None or ends is None:
        return {"camera": option.text}
    near, far = ends
    return at(((near["x_m"] + far["x_m"]) / 2, (near["y_m"] + far["y_m"]) / 2), camera.floor)


def _floor(observed: Survey, option: Option) -> int:
    camera = observed.cameras.get(option.text)
    return camera.floor if camera else 0


def arrivals_ahead(
    observed: Survey, options: Sequence[Option], evidence: Evidence
) -> tuple[dict[Option, Arrival], dict[Option, float]]:
    """What lies ahead of the first clip, and each option's cost in metres: what lies behind costs more.

    An option lies behind if the way there grew on the target's way out of view. Where views are vague, so
    are these ways; then the straight line to it says how far it lies behind.

    Raises:
        Need: the tools have not been asked yet.
    """
    departure = observed.departure(0)
    if not observed.is_exact:
        [coming] = arrivals(observed, [departure], options, evidence)
        return coming, costs(observed, departure, coming)
    before = {**departure, "at": observed.came_from(0)}
    coming, earlier = arrivals(observed, [departure, before], options, evidence)
    metres = {
        option: _passed_m(departure, stay)
        + (BEHIND_M if option in earlier and stay.metres > earlier[option].metres else 0.0)
        for option, stay in coming.items()
    }
    return coming, metres


def costs(
    observed: Survey,
    departure: Mapping[str, Any],
    coming: Mapping[Option, Arrival],
) -> dict[Option, float]:
    """Metres to the middle of the stay in each option's view; what lies behind counts more."""
    heading_deg, start = departure.get("heading_deg"), departure["at"]
    by_option = {}
    for option, arrival in coming.items():
        there = middle(observed, option)
        behind = 1.0
        if heading_deg is not None and "x_m" in there and "x_m" in start:
            east_m, north_m = there["x_m"] - start["x_m"], there["y_m"] - start["y_m"]
            turn = math.radians(heading_deg) - math.atan2(east_m, north_m)
            behind += SHIPPED.behind_cost * (1.0 - math.cos(turn)) / 2 if east_m or north_m else 0.0
        by_option[option] = _passed_m(departure, arrival) * behind
    return by_option


def _passed_m(departure: Mapping[str, Any], arrival: Arrival) -> float:
    """Metres to the middle of a stay at the speed of the departure."""
    passed_s = sum(arrival.interval) / 2 - departure["time_s"]
    metres: float = passed_s * departure["speed_mps"]
    return max(metres, LEAST_M)
