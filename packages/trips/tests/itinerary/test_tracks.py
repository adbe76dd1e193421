"""How a way runs: its streets or rides in words, and its line."""

import re
from itertools import pairwise

import pytest

from gnomon_trips.itinerary.haversine import metres_between
from gnomon_trips.itinerary.japan.rides import line_words
from gnomon_trips.itinerary.place import LatLon, Mode
from gnomon_trips.itinerary.plan import ItineraryLeg
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.registry import provider_for
from gnomon_trips.itinerary.track import KnowsTracks, Track, simplified, street_names, track_of
from gnomon_trips.itinerary.trip import find


def track(area: str, start: str, end: str, mode: Mode) -> Track:
    provider = provider_for(area)
    ends = [answered(find(provider, name), is_local=True).value.at for name in (start, end)]
    return answered(track_of(provider, *ends, mode=mode), is_local=True)


def test_a_walk_names_its_streets_in_the_order_walked_and_is_as_long_as_the_way() -> None:
    there = track("helsinki", "Helsingin tuomiokirkko", "Vanha Kauppahalli", "walk")
    back = track("helsinki", "Vanha Kauppahalli", "Helsingin tuomiokirkko", "walk")
    assert there.via == ("Unioninkatu", "Pohjoisesplanadi", "Eteläranta")
    assert back.via == there.via[::-1]
    assert back.path == there.path[::-1]
    length_m = sum(
        float(metres_between(*start, *end)) for start, end in zip(there.path, there.path[1:], strict=False)
    )
    assert length_m == pytest.approx(617, rel=0.03)


def test_corners_and_unnamed_ways_are_not_named() -> None:
    assert street_names([("A", 20.0), ("", 300.0), ("A", 15.0), ("B", 29.0), ("C", 40.0)]) == ("A", "C")
    assert street_names([("", 900.0)]) == ()


def test_a_line_is_simplified_to_within_its_tolerance() -> None:
    zigzag = [(60.0 + 0.00001 * (step % 2), 24.0 + 0.0001 * step) for step in range(200)]
    assert len(simplified(zigzag)) == 2
    assert len(simplified(zigzag, tolerance_m=0.3)) == 200
    assert simplified([(60.0, 24.0), (60.0, 24.0)]) == ()


def test_a_ride_names_its_line_stops_minutes_and_direction() -> None:
    ride = track("japan", "上野駅", "渋谷駅", "rail")
    parts = [re.search(r" from (.+?) to (.+?), \d+ stops?, \d+ min", part) for part in ride.via]
    ends = [(part[1], part[2]) for part in parts if part]
    assert len(ends) == len(ride.via)
    assert (ends[0][0], ends[-1][1]) == ("Ueno", "Shibuya")
    assert all(end == start for (_, end), (start, _) in pairwise(ends))
    assert "towards Oshiage" in track("japan", "大門駅", "浅草駅", "rail").via[0]
    asakusa = track("japan", "Senso-ji Temple", "渋谷駅", "rail")
    assert asakusa.via == (
        "570 m on foot to Asakusa",
        "Ginza Line (Tokyo Metro) from Asakusa to Shibuya, 18 stops, 34 min",
    )
    assert len(asakusa.path) > 10


def test_a_shinkansen_runs_on_over_the_next_line_and_other_rides_change() -> None:
    ride = track("japan", "京都駅", "広島駅", "rail")
    assert ride.via == ("Tokaido Shinkansen and Sanyo Shinkansen from Kyoto to Hiroshima, about 96 min",)
    change = track("japan", "札幌駅", "円山公園駅", "rail")
    assert sum(" from " in part for part in change.via) == 2
    back = track("japan", "広島駅", "京都駅", "rail")
    assert len(back.path) == len(ride.path)
    for there, again in zip(ride.path, back.path[::-1], strict=True):
        # Where two lines meet, each has its own platforms.
        assert metres_between(*there, *again) < 50


def test_what_no_source_knows_has_no_track() -> None:
    assert track("world", "Paris", "Tokyo", "car") == Track()
    assert track("japan", "東京駅", "Tokyo Tower", "walk") == Track()
    assert not isinstance(object(), KnowsTracks)


def test_legs_written_without_a_track_are_still_read() -> None:
    leg = {"from_id": "a", "to_id": "b", "mode": "walk", "minutes": 1, "metres": 2, "exactness": "network"}
    assert ItineraryLeg.model_validate(leg).path == ()


@pytest.mark.parametrize(
    ("railway", "words"),
    [
        ("JR-East.KeihinTohokuNegishi", "Keihin Tohoku Negishi Line (JR East)"),
        ("ChibaMonorail.Line1", "Line 1 (Chiba Monorail)"),
        ("TamaMonorail.TamaMonorail", "Tama Monorail"),
        ("TokyoMetro.MarunouchiBranch", "Marunouchi Branch (Tokyo Metro)"),
    ],
)
def test_lines_are_named_as_travellers_read_them(railway: str, words: str) -> None:
    assert line_words(railway) == words


def test_points_of_one_place_have_no_way_between_them() -> None:
    at = LatLon(lat_deg=60.17, lon_deg=24.94)
    assert answered(track_of(provider_for("helsinki"), at, at, mode="walk"), is_local=True) == Track()
