"""A map record stands in for another: in its form, with facts of its own, and no hint at the answer."""

from collections import Counter
from dataclasses import replace
from functools import cache

from gnomon_published.map_record.record import (
    Amounts,
    Leg,
    MapNames,
    MapPlace,
    MapRecord,
    MapRoute,
    NearbyList,
    RouteStep,
)
from gnomon_published.map_record.stand_in_record import stand_in_record

BAKERIES = ("Nord Bakery", "Long Loaf", "Old Mill")
OFFERED = ("Long Loaf", "Corn Crust", "White Roll", "Salt Stick")  # one of them is in the record
NAMES = MapNames(said=("Harbour Museum", "Town Hall"), offered=OFFERED)


def place(name: str, **facts: object) -> MapPlace:
    return replace(MapPlace(name=name), **facts)  # type: ignore[arg-type]


ASKED = MapRecord(
    places=(
        place(
            "Harbour Museum", address="1 Quay, 20100 Turku, Finland", lat_deg=60.4, lon_deg=22.2, rating="4.9"
        ),
        place("Town Hall", hours={"Monday": "9 AM - 4 PM"}, lat_deg=60.5, lon_deg=22.3),
    ),
    nearby=(
        NearbyList(
            around="Harbour Museum",
            kind="bakery",
            order="nearest first",
            places=tuple(place(name, rating="4.1") for name in BAKERIES),
        ),
    ),
    legs=tuple(
        Leg(
            start="Harbour Museum",
            end="Town Hall",
            mode=mode,
            amounts=Amounts(duration="7 mins", duration_s=420),
        )
        for mode in ("foot", "car")
    ),
    routes=(MapRoute(start="Harbour Museum", end="Town Hall", mode="car", via="Quay Street"),),
)
OTHER = MapRecord(
    places=(
        place(
            "Grand Bazaar",
            address="Beyazit, 34126 Istanbul, Turkey",
            hours={"Monday": "Closed"},
            rating="3.3",
        ),
        place("Galata Tower", lat_deg=41.02, lon_deg=28.97, rating="3.4"),
        place("Blue Mosque", lat_deg=41.01, lon_deg=28.98),
    ),
    nearby=(
        NearbyList(
            around="Galata Tower",
            kind="cafe",
            order="not sorted",
            places=tuple(place(f"Kahve {number}", rating="3.5") for number in range(5)),
        ),
    ),
    legs=tuple(
        Leg(
            start="Galata Tower",
            end=end,
            mode=mode,
            amounts=Amounts(duration=f"{minutes} mins", duration_s=60 * minutes),
        )
        for end, by_foot, by_car in (("Grand Bazaar", 30, 12), ("Blue Mosque", 50, 20))
        for mode, minutes in (("foot", by_foot), ("car", by_car))
    ),
    routes=(
        MapRoute(
            start="Galata Tower",
            end="Blue Mosque",
            mode="car",
            via="Ataturk Bridge",
            amounts=Amounts(duration="20 mins", duration_s=1200),
            steps=(RouteStep(text="Head south"),),
        ),
    ),
)


@cache
def stand_ins() -> list[MapRecord]:
    return [stand_in_record(ASKED, OTHER, NAMES, seed) for seed in range(400)]


def test_every_fact_is_the_others() -> None:
    for record in stand_ins()[:40]:
        museum, hall = record.places
        assert museum.rating in {"3.3", "3.4", "3.5"}
        assert museum.address == "Beyazit, Turku, Finland"
        assert hall.hours == {"Monday": "Closed"}
        assert {leg.amounts for leg in record.legs} < {leg.amounts for leg in OTHER.legs}
        assert record.routes[0].steps == OTHER.routes[0].steps


def test_what_is_left_out_of_a_place_stays_so() -> None:
    for record in stand_ins()[:40]:
        museum, hall = record.places
        assert (museum.hours, museum.features, museum.phone) == ({}, (), "")
        assert (hall.address, hall.rating, hall.ratings) == ("", "", None)
        assert record.routes[0].amounts is None


def test_no_name_is_told_that_the_question_hides() -> None:
    hidden = {"Nord Bakery", "Old Mill", "Quay Street"}
    for record in stand_ins():
        told = {*record.place_names(), *(route.via for route in record.routes)}
        assert not told & hidden
        assert {"Harbour Museum", "Town Hall"} <= told


def test_each_offered_name_is_found_as_often_as_another() -> None:
    """Of four, one is in each record; binomially, 100 of 400 with a standard deviation of 8.7."""
    found = Counter(name for record in stand_ins() for name in OFFERED if name in record.place_names())
    assert set(found) == set(OFFERED)
    assert sum(found.values()) == len(stand_ins())
    assert all(65 < count < 135 for count in found.values())


def test_a_list_is_as_long_as_one_of_the_others() -> None:
    assert {len(record.nearby[0].places) for record in stand_ins()} == {5}
    for record in stand_ins():
        names = [listed.name for listed in record.nearby[0].places]
        assert len(set(names)) == len(names)


def test_a_way_that_is_short_by_one_mode_is_short_by_all() -> None:
    minutes = {tuple(leg.amounts.duration for leg in record.legs) for record in stand_ins()}
    assert minutes == {("30 mins", "12 mins"), ("50 mins", "20 mins")}


def test_places_lie_around_the_middle_of_the_questions_own() -> None:
    for record in stand_ins()[:40]:
        for spot in record.places:
            assert spot.lat_deg is not None
            assert spot.lon_deg is not None
            assert abs(spot.lat_deg - 60.45) < 0.1
            assert abs(spot.lon_deg - 22.25) < 0.1


def test_the_same_seed_gives_the_same_record() -> None:
    assert stand_in_record(ASKED, OTHER, NAMES, 7) == stand_ins()[7]
    assert stand_ins()[7] != stand_ins()[8]


def test_a_record_without_anothers_facts_exchanges_its_own() -> None:
    record = stand_in_record(ASKED, MapRecord(), NAMES, 1)
    assert record.places[1].hours == {"Monday": "9 AM - 4 PM"}
    assert len(record.legs) == 2


def test_an_empty_record_stays_empty() -> None:
    assert stand_in_record(MapRecord(), OTHER, NAMES, 1) == MapRecord()
