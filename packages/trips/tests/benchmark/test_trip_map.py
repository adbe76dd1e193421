"""The maps of a trip: whole at any shape of it, with the ways that are known."""

import datetime as dt
import itertools
import math
from collections.abc import Sequence

import pytest

from gnomon_trips.export.day_lane import text_px
from gnomon_trips.export.geojson import straight
from gnomon_trips.export.result import TripResult
from gnomon_trips.export.trip_map import HEIGHT, LEAST_MAP_PX, WIDTH, Pin, TripMap, trip_maps
from gnomon_trips.itinerary.plan import Day, ItineraryLeg, Night, Plan, Stop, Visit

PHONE_MAP_PX = 288.0
Point = tuple[float, float]
SHAPES: dict[str, list[Point]] = {
    "one stop": [(60.17, 24.94)],
    "a line of 1,200 km": [(34.0 + 0.9 * step, 132.0 + 2.4 * step) for step in range(5)],
    "from north to south": [(60.0 + 0.4 * step, 24.9) for step in range(6)],
    "two clusters": [(35.68 + 0.001 * step, 139.76) for step in range(4)] + [(34.39, 132.45), (34.4, 132.46)],
    "all within 50 m": [(60.17 + 0.0001 * (step % 3), 24.94 + 0.0002 * (step // 3)) for step in range(10)],
    "ten times the same place": [(60.17, 24.94)] * 10,
    "in the corners": [(60.0, 24.0), (60.0, 24.4), (60.2, 24.4), (60.2, 24.0)],
}  # fmt: skip


def stop(number: int, at: Point) -> Stop:
    return Stop(id=f"x/{number}", name=f"A museum with a long name {number}", lat=at[0], lon=at[1])


def trip(points: Sequence[Point], *, days: int = 1, path: tuple[Point, ...] = ()) -> TripResult:
    stops = [stop(number, at) for number, at in enumerate(points)]
    bed = Stop(id="x/bed", name="Hotel", lat=points[0][0], lon=points[0][1])
    chain = [bed, *stops, bed]
    legs = [
        ItineraryLeg(
            from_id=start.id,
            to_id=end.id,
            mode="walk",
            minutes=5,
            metres=300,
            exactness="network",
            path=path if number == 1 else (),
        )
        for number, (start, end) in enumerate(itertools.pairwise(chain))
    ]
    visits = [
        Visit(place=place, arrive=f"{9 + at:02d}:00", leave=f"{9 + at:02d}:30")
        for at, place in enumerate(stops)
    ]
    plan_days = [
        Day(
            date=dt.date(2026, 6, 10 + number),
            start=bed,
            end=bed,
            visits=tuple(visits),
            legs=tuple(legs),
            night=Night(place=bed, basis="chosen"),
        )
        for number in range(days)
    ]
    return TripResult(plan=Plan(request_id="r", status="planned", days=tuple(plan_days)), violations=())


def maps_of(result: TripResult) -> list[TripMap]:
    maps = trip_maps(result, (), (), straight)
    return [maps.overview, *maps.days]


def box(pin: Pin, wide_px: float) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of a pin with its name, on a map that is so wide."""
    x, y = pin.x * wide_px / 100, pin.y * wide_px * HEIGHT / WIDTH / 100
    long = text_px(pin.name[:25] + "…") if pin.text_anchor and wide_px >= LEAST_MAP_PX else 0.0
    left = x + pin.text_x - {"start": 0.0, "middle": long / 2, "end": long, "": 0.0}[pin.text_anchor]
    half = 13.0
    if not long:
        return x - half, x + half, y - half, y + half
    return min(left, x - half), max(left + long, x + half), min(y - half, y + pin.text_y - 12), y + half


@pytest.mark.parametrize("days", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_pins_and_names_are_whole_on_a_phone_and_on_the_smallest_map_with_names(
    shape: str, days: int
) -> None:
    for drawn in maps_of(trip(SHAPES[shape], days=days)):
        for wide_px in (PHONE_MAP_PX, LEAST_MAP_PX, 900.0):
            tall_px = wide_px * HEIGHT / WIDTH
            for pin in drawn.pins:
                left, right, top, low = box(pin, wide_px)
                assert left >= 0, (pin.shown_as, wide_px)
                assert right <= wide_px, (pin.shown_as, wide_px)
                assert top >= 0, (pin.shown_as, wide_px)
                assert low <= tall_px + 12, (pin.shown_as, wide_px)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_pin_covers_another_and_one_that_was_moved_shows_where_it_belongs(shape: str) -> None:
    (drawn,) = maps_of(trip(SHAPES[shape]))
    spots = [(pin.x * WIDTH / 100, pin.y * HEIGHT / 100) for pin in drawn.pins]
    for (one, at), (other, there) in itertools.combinations(zip(drawn.pins, spots, strict=True), 2):
        assert math.dist(at, there) > 28, (one.shown_as, other.shown_as)
    west, top, wide, tall = map(float, drawn.view_box.split())
    assert wide >= 400
    assert (west, top) < (0, 0)
    assert tall == pytest.approx(wide * HEIGHT / WIDTH, abs=1)


def test_a_leg_with_a_path_is_drawn_along_it_and_the_others_straight_and_thin() -> None:
    path = ((60.17, 24.94), (60.175, 24.95), (60.18, 24.94))
    maps = trip_maps(trip([(60.17, 24.94), (60.18, 24.94)], path=path), (), (), straight)
    (route,) = maps.overview.routes
    assert route.path.count("L") == 2
    assert route.straight.count("M") == 2


def test_a_bed_has_one_label_wherever_it_stands() -> None:
    result = trip([(60.17, 24.94)], days=2)
    assert {pin.shown_as for drawn in maps_of(result) for pin in drawn.pins if pin.is_home} == {"H"}
