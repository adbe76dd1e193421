"""What the embedded data know: hours by date, ambiguous names, rail times, a second country."""

import datetime as dt
from pathlib import Path

import pytest

from gnomon_trips.itinerary.draft import DraftPlan, plan_of
from gnomon_trips.itinerary.errors import AmbiguousPlace, NoSuchPlace
from gnomon_trips.itinerary.hours import open_on
from gnomon_trips.itinerary.osm.city import city_files, read_city
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.provider import Provider, answered
from gnomon_trips.itinerary.registry import embedded
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.itinerary.trip import find, open_trip


def station(name: str, within: str | None = None) -> Place:
    return answered(find(embedded("japan"), f"{name}駅", within=within), is_local=True).value


def test_the_embedded_city_has_places_hours_and_streets(helsinki: Provider) -> None:
    city = read_city(city_files([])["helsinki"])
    assert len(city.places) == 1264
    with_hours = [place for place in city.places.values() if place.hours]
    assert len(with_hours) == 520
    unread = [place for place in with_hours if open_on(place, dt.date(2026, 6, 10), "FI") is None]
    assert len(unread) == 4  # of 520: text in free words, or on request
    assert len(city.streets.lat_deg) > 5000
    assert "OpenStreetMap" in helsinki.attribution


def test_a_name_that_several_places_share_comes_back_with_them(helsinki: Provider) -> None:
    with pytest.raises(AmbiguousPlace) as caught:
        answered(find(helsinki, "R-Kioski"), is_local=True)
    assert len(caught.value.candidates) > 1
    assert len({hit.place.id for hit in caught.value.candidates}) == len(caught.value.candidates)
    with pytest.raises(NoSuchPlace):
        answered(find(helsinki, "Museum of Nothing"), is_local=True)


def test_a_request_keeps_what_it_could_not_find(helsinki: Provider) -> None:
    request = read_request(
        {"area": "helsinki", "start_date": "2026-06-10", "places": ["Ateneum", "Atlantis", "R-Kioski"]}
    )
    trip = answered(open_trip(request, helsinki), is_local=True)
    assert [place.name for place in trip.places()] == ["Ateneum"]
    assert set(trip.lost) == {"Atlantis", "R-Kioski"}
    assert len(trip.candidates["R-Kioski"]) > 1


def test_a_visiting_order_graph_gives_places_and_their_order(helsinki: Provider) -> None:
    graph = {
        "nodes": [
            {"id": "c", "name": "Helsinki", "kind": "city"},
            {"id": "1", "name": "Kiasma", "parent": "c"},
            {"id": "2", "name": "Ateneum", "parent": "c"},
            {"id": "3", "name": "Amos Rex", "parent": "c"},
        ],
        "transitions": [["1", "2"], ["2", "3"]],
    }
    request = read_request({"area": "helsinki", "start_date": "2026-06-10", "graph": graph})
    trip = answered(open_trip(request, helsinki), is_local=True)
    assert trip.request.places == ["Kiasma", "Ateneum", "Amos Rex"]
    assert trip.request.order == [("Kiasma", "Ateneum"), ("Ateneum", "Amos Rex")]


def test_places_seen_in_a_video_are_found_by_name_or_by_where_they_are(helsinki: Provider) -> None:
    ateneum = answered(find(helsinki, "Ateneum"), is_local=True).value
    stops = [
        {"lat": ateneum.at.lat_deg, "lon": ateneum.at.lon_deg, "from_s": 40, "to_s": 60},
        {"name": "Kiasma", "from_s": 3, "to_s": 30},
    ]
    request = read_request({"area": "helsinki", "start_date": "2026-06-10", "video": stops})
    trip = answered(open_trip(request, helsinki), is_local=True)
    assert [place.name for place in trip.places()] == ["Kiasma", "Ateneum"]
    assert len(trip.request.order) == 1


def test_what_a_video_names_and_nobody_knows_is_left_out_with_its_reason(helsinki: Provider) -> None:
    stops = [{"name": name, "from_s": at} for at, name in enumerate(("Kiasma", "Mumin Towers", "Ateneum"))]
    given = {"area": "helsinki", "start_date": "2026-06-10", "video": stops}
    trip = answered(open_trip(read_request(given), helsinki), is_local=True)
    assert trip.request.order == [("Kiasma", "Ateneum")]
    assert not trip.lost
    plan = answered(plan_of(DraftPlan(), trip), is_local=True)
    assert [(one.place, one.reason[:7]) for one in plan.skipped] == [("Mumin Towers", "nothing")]
    alone = read_request({**given, "video": [stops[1]]})
    assert set(answered(open_trip(alone, helsinki), is_local=True).lost) == {"Mumin Towers"}


@pytest.mark.parametrize("known_at_s", [1, 9])
def test_a_place_that_a_video_shows_twice_is_known_if_it_is_known_once(
    known_at_s: float, helsinki: Provider
) -> None:
    ateneum = answered(find(helsinki, "Ateneum"), is_local=True).value.at
    known = {"name": "R-Kioski", "from_s": known_at_s, "lat": ateneum.lat_deg, "lon": ateneum.lon_deg}
    stops = [{"name": "R-Kioski", "from_s": 5}, known]
    request = read_request({"area": "helsinki", "start_date": "2026-06-10", "video": stops})
    trip = answered(open_trip(request, helsinki), is_local=True)
    assert (list(trip.named), dict(trip.unseen)) == (["R-Kioski"], {})


@pytest.mark.parametrize(
    ("start", "end", "minutes"),
    [
        ("東京", "京都", 135),
        ("東京", "仙台", 92),
        ("博多", "鹿児島中央", 80),
        ("東京", "長野", 85),
    ],
)
def test_rail_times_are_within_a_quarter_of_the_timetable(start: str, end: str, minutes: int) -> None:
    japan = embedded("japan")
    ends = station(start), station(end)
    way = answered(japan.route(ends[0].at, ends[1].at, mode="rail"), is_local=True).value
    back = answered(japan.route(ends[1].at, ends[0].at, mode="rail"), is_local=True).value
    assert way.minutes == pytest.approx(minutes, rel=0.25)
    assert way == back
    assert way.exactness == "estimate"


def test_any_extract_dropped_into_a_folder_is_a_city(geo_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_CITIES", str(geo_dir))
    country = embedded("Liechtenstein")
    museum = answered(find(country, "Kunstmuseum Liechtenstein"), is_local=True).value
    assert museum.hours == "Tu-Su 10:00-17:00; Th 10:00-20:00"
    stamps = answered(find(country, "Postmuseum"), is_local=True).value
    way = answered(country.route(museum.at, stamps.at), is_local=True).value
    assert 100 < way.metres < 1000


def test_a_ring_of_names_resolves_the_same_in_any_order(helsinki: Provider) -> None:
    names = ["Ateneum", "Kiasma", "Amos Rex"]
    found = [answered(find(helsinki, name), is_local=True).value.id for name in names]
    again = [answered(find(helsinki, name), is_local=True).value.id for name in reversed(names)]
    assert found == again[::-1]
