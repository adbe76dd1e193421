"""What names are taken for: sights, areas and stations of Japan, squares and stops, and what is left out."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import osmium
import pytest

from gnomon_published.gazetteer.landmarks import landmarks
from gnomon_trips.itinerary.draft import DraftPlan, plan_of
from gnomon_trips.itinerary.errors import NoSuchPlace
from gnomon_trips.itinerary.hours import open_on
from gnomon_trips.itinerary.place import LatLon, Place
from gnomon_trips.itinerary.provider import NameQuery, NearbyQuery, Provider, answered
from gnomon_trips.itinerary.registry import embedded
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.itinerary.trip import Trip, find, open_trip
from packages.trips.tests.itinerary.typed_names import is_as_meant, judged, typed_names


@pytest.fixture(scope="module")
def japan() -> Provider:
    return embedded("japan")


def trip_of(provider: Provider, places: list[str], **fields: Any) -> Trip:
    request = {"area": "japan", "start_date": "2026-06-10", "places": places, **fields}
    return answered(open_trip(read_request(request), provider), is_local=True)


def place(provider: Provider, name: str) -> Place:
    return answered(find(provider, name), is_local=True).value


def test_there_are_a_hundred_landmarks_of_tokyo_and_of_kyoto_in_both_scripts() -> None:
    entries = landmarks().by_id.values()
    assert [sum(entry.city == city for entry in entries) for city in ("Tokyo", "Kyoto")] == [105, 147]
    assert all(entry.name_en.strip() and entry.name_ja.strip() for entry in entries)
    assert all(1 <= entry.importance <= 5 for entry in entries)


def test_names_that_travellers_type_mean_what_they_mean(japan: Provider) -> None:
    verdicts = [judged(typed, japan) for typed in typed_names()]
    assert len(verdicts) == 362
    assert [verdict.typed.name for verdict in verdicts if verdict.outcome == "wrong"] == []
    assert sum(map(is_as_meant, verdicts)) >= 360


@pytest.mark.parametrize("name", ["護国寺", "東大寺", "Byodo-in Temple", "Todai-ji", "Gokokuji Temple"])
def test_a_temple_is_never_answered_by_a_station_or_a_town(name: str, japan: Provider) -> None:
    with pytest.raises(NoSuchPlace):
        place(japan, name)


def test_a_choice_between_places_is_told_in_the_plan(japan: Provider) -> None:
    trip = trip_of(japan, ["Ueno", "Tokyo Tower"])
    assert set(trip.assumed) == {"Ueno"}
    assert trip.named["Ueno"].id == "jp:13106:上野"
    plan = answered(plan_of(DraftPlan(), trip), is_local=True)
    assert any(
        line.startswith("'Ueno' was taken for Ueno (上野), town in Taito-ku") for line in plan.assumptions
    )


@pytest.mark.parametrize(
    ("beside", "meant"), [(["Tokyo Tower"], "jp:13206"), (["Itsukushima Shrine", "Onomichi"], "jp:34208")]
)
def test_the_rest_of_the_trip_decides_a_shared_name(beside: list[str], meant: str, japan: Provider) -> None:
    alone = trip_of(japan, ["府中市"])
    assert "府中市" in alone.candidates
    trip = trip_of(japan, ["府中市", *beside])
    assert trip.named["府中市"].id == meant
    assert "府中市" in trip.assumed


@pytest.mark.parametrize(
    ("names", "states"),
    [
        (["Portland", "Boston", "New York"], ["Maine", "Massachusetts", "New York"]),
        (["Birmingham", "Montgomery", "Atlanta"], ["Alabama", "Alabama", "Georgia"]),
        (["London", "Hamilton", "Toronto"], ["Ontario", "Ontario", "Ontario"]),
    ],
)
def test_cities_of_shared_names_are_decided_together(names: list[str], states: list[str]) -> None:
    trip = trip_of(embedded("world"), names, area="world")
    assert [place.admin.prefecture for place in trip.places() if place.admin] == states


@pytest.mark.parametrize("names", [["Cordoba", "Granada", "Merida"], ["Santiago", "Leon", "Burgos"]])
def test_cities_that_are_all_larger_elsewhere_are_those_near_each_other(names: list[str]) -> None:
    trip = trip_of(embedded("world"), names, area="world")
    assert [place.admin.country for place in trip.places() if place.admin] == ["ES"] * 3


def test_an_unknown_name_is_skipped_and_the_rest_is_planned(japan: Provider) -> None:
    trip = trip_of(
        japan, ["Tokyo Tower", "Atlantis of the East", "中央区"], order=[["中央区", "Tokyo Tower"]]
    )
    assert trip.request.places == ["Tokyo Tower", "中央区"]
    plan = answered(plan_of(DraftPlan(), trip), is_local=True)
    assert [skipped.place for skipped in plan.skipped] == ["Atlantis of the East"]
    assert "nothing is called" in plan.skipped[0].reason


def test_what_is_asked_back_is_skipped_with_its_alternatives(japan: Provider) -> None:
    trip = trip_of(japan, ["Kyoto Tower", "Fuchu City"], avoid=["Nowhere at all"])
    assert "jp:13206" in trip.left_out["Fuchu City"]
    assert trip.request.avoid == ["Nowhere at all"]
    assert "'Nowhere at all' is the name of no place here" in trip.assumed["Nowhere at all"]


def test_names_seen_in_a_video_tell_each_other_apart_and_that_is_told(japan: Provider) -> None:
    names = ("Fuchu City", "Itsukushima Shrine", "Okonomi Planet", "Onomichi")
    video = [{"name": name, "from_s": second} for second, name in enumerate(names)]
    trip = trip_of(japan, [], video=video)
    assert trip.named["Fuchu City"].id == "jp:34208"
    assert "Fuchu City" in trip.assumed
    assert trip.request.places == ["Fuchu City", "Itsukushima Shrine", "Onomichi"]
    assert trip.request.order == [("Fuchu City", "Itsukushima Shrine"), ("Itsukushima Shrine", "Onomichi")]
    assert (set(trip.unseen), trip.lost) == ({"Okonomi Planet"}, {})


def test_a_name_that_is_nearly_right_is_taken_aloud(helsinki: Provider) -> None:
    trip = trip_of(helsinki, ["Hotelli Tornio"], area="helsinki")
    assert trip.named["Hotelli Tornio"].name == "Hotelli Torni"
    assert "is the name of no place that is known" in trip.assumed["Hotelli Tornio"]


def test_only_nothing_left_refuses(japan: Provider) -> None:
    trip = trip_of(japan, ["Atlantis of the East"])
    assert set(trip.lost) == {"Atlantis of the East"}
    assert trip.left_out == {}
    assert trip.request.places == ["Atlantis of the East"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Kauppatori", "square"),
        ("Market Square", "square"),
        ("Senaatintori", "square"),
        ("Hakaniemi", "suburb"),
        ("Erottaja", "tram_stop"),  # the stops of both directions are one
    ],
)
def test_squares_and_districts_come_before_the_stops_that_bear_their_name(
    name: str, kind: str, helsinki: Provider
) -> None:
    trip = trip_of(helsinki, [name], area="helsinki")
    assert trip.named[name].kind == kind
    assert list(trip.assumed) == ([name] if kind == "tram_stop" else [])  # that a stop is meant is told


def test_sights_can_be_searched_around_a_point(japan: Provider) -> None:
    temple = place(japan, "浅草寺")
    near = answered(japan.nearby(NearbyQuery(temple.at, 1500.0, kinds=("attraction",))), is_local=True)
    assert "Tokyo Skytree" in [hit.place.name for hit in near.value]
    assert temple.kind == "place_of_worship"
    assert ("religion", "buddhist") in temple.tags


@pytest.mark.parametrize(
    ("start", "end", "minutes"),
    [
        ("東京駅", "新宿駅", range(13, 20)),
        ("Ginza Station", "Asakusa Station", range(17, 25)),
        ("Tokyo Station", "横浜駅", range(24, 32)),
        ("Harajuku Station", "Akihabara Station", range(22, 31)),
    ],
)
def test_rides_round_tokyo_are_by_the_timetables(
    start: str, end: str, minutes: range, japan: Provider
) -> None:
    ends = place(japan, start).at, place(japan, end).at
    way = answered(japan.route(*ends, mode="rail"), is_local=True)
    assert way.exactness == way.value.exactness == "timetable"
    assert way.value.minutes in minutes


def test_elsewhere_rides_stay_estimates_and_shinkansen_are_not_lost(japan: Provider) -> None:
    kyoto = answered(
        japan.route(place(japan, "Gion").at, place(japan, "嵐山").at, mode="rail"), is_local=True
    )
    assert kyoto.value.exactness == "estimate"
    north = answered(
        japan.route(place(japan, "東京駅").at, place(japan, "宇都宮駅").at, mode="rail"), is_local=True
    )
    assert north.value.minutes < 70


def test_beside_a_station_one_walks_to_what_lies_there(japan: Provider) -> None:
    way = answered(
        japan.route(place(japan, "雷門").at, place(japan, "浅草寺").at, mode="rail"), is_local=True
    ).value
    assert 5 <= way.minutes <= 9


def write_extract(folder: Path, name: str, at: LatLon, about: dict[str, str] | None) -> None:
    """A crossroads with a temple drawn as a relation, a restaurant and a bus stop; all names in Japanese."""
    lat, lon = at.lat_deg, at.lon_deg
    with osmium.SimpleWriter(str(folder / f"{name}.osm.pbf")) as writer:
        points = [(0.0, -0.004), (0.0, 0.0), (0.0, 0.004), (0.004, 0.0), (-0.004, 0.0)]
        for number, (north, east) in enumerate(points, 1):
            writer.add_node(osmium.osm.mutable.Node(id=number, location=(lon + east, lat + north), version=1))
        sights = [{"name": "うなぎ屋", "amenity": "restaurant", "opening_hours": "Mo-Su 11:00-21:00"}]
        sights.append({"name": "浅草寺", "railway": "tram_stop"})
        for number, tags in enumerate(sights, 11):
            node = osmium.osm.mutable.Node(id=number, location=(lon + 0.001, lat), version=1, tags=tags)
            writer.add_node(node)
        streets = {1: [1, 2, 3], 2: [4, 2, 5]}
        for number, nodes in streets.items():
            writer.add_way(
                osmium.osm.mutable.Way(id=number, nodes=nodes, version=1, tags={"highway": "residential"})
            )
        writer.add_way(osmium.osm.mutable.Way(id=3, nodes=[1, 4, 3, 1], version=1))
        grounds = {
            "name": "浅草寺",
            "type": "multipolygon",
            "amenity": "place_of_worship",
            "wikidata": "Q615183",
            "opening_hours": "Mo-Su 06:00-17:00",
        }
        writer.add_relation(
            osmium.osm.mutable.Relation(id=9, members=[("w", 3, "outer")], version=1, tags=grounds)
        )
    if about is not None:
        (folder / f"{name}.json").write_text(json.dumps(about), encoding="utf-8")


@pytest.fixture
def cities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GNOMON_CITIES", str(tmp_path))
    embedded.cache_clear()
    yield tmp_path
    embedded.cache_clear()


@pytest.mark.parametrize(
    ("area", "about"),
    [("asakusa", {"title": "Asakusa", "country": "JP"}), ("japan", {"country": "JP"}), ("asakusa", None)],
)
def test_an_extract_of_japan_gives_streets_sights_and_hours_over_the_gazetteer(
    area: str, about: dict[str, str] | None, cities: Path, japan: Provider
) -> None:
    temple = place(japan, "浅草寺")
    write_extract(cities, "asakusa", temple.at, about)
    mounted = embedded(area)
    mapped = place(mounted, "Senso-ji Temple")
    assert mapped.id == "asakusa/r9"  # the extract's, found by a name that only the landmarks know
    assert open_on(mapped, dt.date(2026, 6, 10), "JP") == ((360, 1020),)
    assert place(mounted, "浅草寺").id == "asakusa/r9"
    assert place(mounted, "うなぎ屋").kind == "restaurant"
    assert place(mounted, "Ueno").id == "jp:13106:上野"
    assert place(mounted, "Gion").id == "jp:landmark:Q926312"
    trip = trip_of(mounted, ["Sensoji", "うなぎ屋", "東京タワー"])
    assert (trip.country, list(trip.lost)) == ("JP", [])
    eel, tower = trip.named["うなぎ屋"], trip.named["東京タワー"]
    walk = answered(mounted.route(mapped.at, eel.at), is_local=True)
    assert (walk.provider, walk.value.exactness) == ("asakusa", "network")
    ride = answered(mounted.route(eel.at, tower.at, mode="rail"), is_local=True)
    assert (ride.provider, ride.value.exactness) == ("japan", "timetable")
    near = answered(mounted.nearby(NearbyQuery(mapped.at, 900.0)), is_local=True).value
    assert {"うなぎ屋", "Kaminarimon", "Asakusa"} <= {hit.place.name for hit in near}
    assert "jp:landmark:Q615183" not in {hit.place.id for hit in near}
    assert "OpenStreetMap" in mounted.attribution
    assert "Geolonia" in mounted.attribution


def test_an_extract_of_another_country_stands_alone(cities: Path) -> None:
    write_extract(cities, "vaduz", LatLon(lat_deg=47.14, lon_deg=9.52), None)
    provider = embedded("vaduz")
    assert place(provider, "浅草寺").id == "vaduz/r9"
    with pytest.raises(NoSuchPlace):
        answered(provider.resolve(NameQuery("Tokyo Tower")), is_local=True)


def test_a_name_that_only_another_continent_knows_is_left_out(japan: Provider) -> None:
    trip = trip_of(japan, ["Tokyo Tower", "Shibuya Crossing", "Atlantis"])
    assert set(trip.named) == {"Tokyo Tower", "Shibuya Crossing"}
    assert "Atlantis, city" in trip.lost["Atlantis"]
    assert "km from the other places" in trip.lost["Atlantis"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("the Ateneum", "Ateneum"),
        ("Senate Square", "Senaatintori"),
        ("Ateneum Art Museum", "Ateneum"),
        ("Oodi", "Helsingin keskustakirjasto Oodi"),
        ("Tuomiokirkko", "Helsingin tuomiokirkko"),
        ("Hotel Torni", "Hotelli Torni"),
        ("Vanha Church", "Vanha kirkko"),
        ("Kasarmi", "Kasarmitori"),
    ],
)
def test_an_article_the_city_or_the_kind_beside_a_name_and_its_last_word_alone_are_understood(
    name: str, found: str, helsinki: Provider
) -> None:
    trip = trip_of(helsinki, [name], area="helsinki")
    assert trip.named[name].name == found
    assert (name in trip.assumed) == (name not in ("the Ateneum", "Senate Square", "Oodi"))


@pytest.mark.parametrize("name", ["Kamppi", "Kaivo", "Aleksanterinkatu 52", "Design Museum", "Kallio"])
def test_what_is_only_similar_in_a_city_is_listed_and_not_taken(name: str, helsinki: Provider) -> None:
    trip = trip_of(helsinki, [name], area="helsinki")
    assert name not in trip.named
    assert "similar" in trip.lost[name]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Tokyo Station Yaesu exit", "東京"),
        ("東京駅八重洲口", "東京"),
        ("Tokyo Stn", "東京"),
        ("Jingumae 1-chome", "神宮前"),
        ("Narita Airport", "成田空港"),
        ("Haneda Airport", "羽田空港第1・第2ターミナル"),
        ("Gokokuji", "護国寺"),
        ("Senso-ji Tempel", "浅草寺"),
        ("Yasaka Jinja", "八坂神社"),
        ("Osaka-jo", "大阪城"),
        ("Maruyama Koen", "円山公園"),
        ("きよみずでら", "清水寺"),
        ("Shinagawa", "品川"),
    ],
)
def test_what_a_traveller_types_beside_the_name_is_read_aloud(name: str, found: str, japan: Provider) -> None:
    trip = trip_of(japan, ["Tokyo Tower", name])
    assert found in (trip.named[name].name, *trip.named[name].also)
    assert trip.assumed[name]


def test_a_sight_goes_with_and_without_the_city(japan: Provider) -> None:
    trip = trip_of(japan, ["Disneyland", "Tokyo Senso-ji"])
    assert [place.name for place in trip.places()] == ["Tokyo Disneyland", "Sensō-ji"]


def test_a_station_goes_without_the_city_before_its_name(japan: Provider) -> None:
    trip = trip_of(japan, ["Kyoto Tower", "河原町駅"])
    assert trip.named["河原町駅"].name == "Kyoto-Kawaramachi"
    assert "河原町" in trip.assumed["河原町駅"]


def test_a_company_is_left_out_only_where_no_other_station_has_the_name(japan: Provider) -> None:
    trip = trip_of(japan, ["宮津駅", "円町駅", "Emmachi Station"])
    assert [trip.named[name].name for name in ("宮津駅", "円町駅", "Emmachi Station")] == [
        "Miyazu", "Emmachi", "Emmachi",
    ]  # fmt: skip


def test_stations_of_timetables_have_latin_names(japan: Provider) -> None:
    trip = trip_of(japan, ["Tokyo Tower", "原宿駅", "Haneda Airport"])
    assert trip.named["原宿駅"].name == "Harajuku"
    assert trip.named["Haneda Airport"].name == "Haneda Airport Terminal 1 and 2"


@pytest.mark.parametrize("name", ["Кафедральный собор", "헬싱키 대성당", "赫爾辛基座堂", "Suurkirkko"])
def test_a_place_of_a_map_is_found_by_its_names_in_any_language(name: str, helsinki: Provider) -> None:
    assert trip_of(helsinki, [name], area="helsinki").named[name].name == "Helsingin tuomiokirkko"


def test_names_to_avoid_are_never_left_out(helsinki: Provider) -> None:
    trip = trip_of(helsinki, ["Ateneum"], area="helsinki", avoid=["Fazer Café", "Nowhere Hall"])
    assert "several places: none that is called so is visited" in trip.assumed["Fazer Café"]
    assert "no place here: none that is called so is visited" in trip.assumed["Nowhere Hall"]
    assert (trip.request.avoid, trip.left_out) == (["Fazer Café", "Nowhere Hall"], {})


@pytest.mark.parametrize(
    ("name", "similar"),
    [("TeamLab", "teamLab Planets"), ("Starbucks Shibuya", "Shibuya"), ("Sumida River", "Sumida Park")],
)
def test_what_nothing_in_japan_is_called_comes_with_what_is_similar(
    name: str, similar: str, japan: Provider
) -> None:
    assert similar in trip_of(japan, ["Tokyo Tower", name]).lost[name]


def test_a_misspelt_name_is_never_taken_for_a_place_far_from_the_rest(japan: Provider) -> None:
    """Kurama, in the hills of Kyoto, is not Kuramae in Tokyo, however it is spelt."""
    assert trip_of(japan, ["Kyoto Tower", "Kurama"]).named["Kurama"].also == ("鞍馬",)
    assert "Kuramea" not in trip_of(japan, ["Kyoto Tower", "Kuramea"]).named


def test_two_entries_of_one_place_are_no_two_meanings(helsinki: Provider) -> None:
    trip = trip_of(helsinki, ["Kansalliskirjasto"], area="helsinki")
    assert (trip.named["Kansalliskirjasto"].kind, trip.assumed) == ("library", {})
