"""One contract for every provider of places and ways: embedded ones, and services by loopback fakes."""

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from gnomon_trips.itinerary.errors import (
    BadArgument,
    NoSuchPlace,
    PlaceError,
    RateLimited,
    Unavailable,
    Unreachable,
    Unsupported,
)
from gnomon_trips.itinerary.haversine import metres_between
from gnomon_trips.itinerary.http.google import GooglePlaces, GoogleRoutes
from gnomon_trips.itinerary.http.nominatim import Nominatim
from gnomon_trips.itinerary.http.overpass import Overpass
from gnomon_trips.itinerary.http.routers import Osrm, Valhalla
from gnomon_trips.itinerary.osm.city import city_files, read_city
from gnomon_trips.itinerary.place import Answer, LatLon, Mode, least_minutes
from gnomon_trips.itinerary.provider import NameQuery, NearbyQuery, Provider, answered
from gnomon_trips.itinerary.registry import Composite, configured, embedded, provider_for
from packages.trips.tests.itinerary.fake_services import MOODS, PARIS, Service, fake_service


@dataclass(frozen=True)
class Case:
    """A provider, a name it knows, two points in its area, and a mode it knows."""

    provider: Provider
    name: str
    here: LatLon
    there: LatLon
    mode: Mode


LOUVRE = LatLon(lat_deg=PARIS["lat"], lon_deg=PARIS["lon"])
NEARBY = LatLon(lat_deg=48.8616, lon_deg=2.3386)
SERVICES: dict[str, Callable[[str], Provider]] = {
    "nominatim": lambda url: Nominatim(url),
    "overpass": lambda url: Overpass(url),
    "valhalla": lambda url: Valhalla(url),
    "osrm": lambda url: Osrm(url),
    "google-places": lambda url: GooglePlaces(url, "a-key"),
    "google-routes": lambda url: GoogleRoutes(url, "a-key"),
}
TORNI = LatLon(lat_deg=60.1678, lon_deg=24.9386)
ATENEUM = LatLon(lat_deg=60.1702, lon_deg=24.9441)
TOKYO = LatLon(lat_deg=35.6819, lon_deg=139.7648)
KYOTO = LatLon(lat_deg=34.9866, lon_deg=135.7599)
EMBEDDED: dict[str, Callable[[], Case]] = {
    "helsinki": lambda: Case(read_city(city_files([])["helsinki"]), "Ateneum", TORNI, ATENEUM, "walk"),
    "japan": lambda: Case(embedded("japan"), "Kyoto Station", TOKYO, KYOTO, "rail"),
    "world": lambda: Case(embedded("world"), "Kyoto", TOKYO, KYOTO, "air"),
    "composite": lambda: Case(embedded("helsinki"), "Ateneum", TORNI, ATENEUM, "walk"),
}


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with fake_service() as one:
        yield one


@pytest.fixture(params=[*EMBEDDED, *SERVICES])
def case(request: pytest.FixtureRequest, service: Service) -> Case:
    service.mood = "well"
    if request.param in EMBEDDED:
        return EMBEDDED[request.param]()
    return Case(SERVICES[request.param](service.url), "Louvre", LOUVRE, NEARBY, "walk")


def asked(case: Case, question: Coroutine[Any, Any, Answer[Any]]) -> Answer[Any] | None:
    """The answer; None where this provider does not answer such questions at all."""
    try:
        told = answered(question, is_local=case.provider.is_local)
    except Unsupported:
        return None
    assert told.provider
    assert told.version
    assert told.attribution
    assert told.retrieved_at
    assert told.exactness in ("exact", "network", "timetable", "estimate", "lower_bound")
    return told


def test_a_name_it_knows_is_found_and_its_id_gives_details(case: Case) -> None:
    told = asked(case, case.provider.resolve(NameQuery(case.name)))
    if told is None:
        return
    best = told.value[0]
    assert 0.7 <= best.score <= 1
    assert all(one.score >= two.score for one, two in zip(told.value, told.value[1:], strict=False))
    details = asked(case, case.provider.details(best.place.id))
    if details is not None:
        assert details.value.id == best.place.id
        assert details.value.name


def test_a_name_it_does_not_know_is_an_error_and_no_empty_answer(case: Case) -> None:
    for question in (
        case.provider.resolve(NameQuery("Nowhere Qqzx 17")),
        case.provider.details("osm/N1"),
        case.provider.details("../x"),
    ):
        with pytest.raises((NoSuchPlace, Unsupported)):
            answered(question, is_local=case.provider.is_local)


def test_a_point_lies_in_a_country(case: Case) -> None:
    told = asked(case, case.provider.reverse(case.here))
    if told is not None:
        assert len(told.value.country) == 2


def test_what_is_near_comes_nearest_first(case: Case) -> None:
    told = asked(case, case.provider.nearby(NearbyQuery(case.here, 2000.0, limit=5)))
    if told is not None:
        far = [hit.distance_m for hit in told.value]
        assert far == sorted(far)
        assert len(far) <= 5
        assert all(one <= 2000 for one in far)


def test_no_way_is_faster_than_the_straight_line(case: Case) -> None:
    told = asked(case, case.provider.route(case.here, case.there, mode=case.mode))
    if told is None:
        return
    straight_m = float(
        metres_between(case.here.lat_deg, case.here.lon_deg, case.there.lat_deg, case.there.lon_deg)
    )
    assert told.value.minutes >= least_minutes(straight_m, case.mode)
    assert told.value.metres >= straight_m * 0.99
    assert told.value.mode == case.mode
    table = asked(case, case.provider.matrix([case.here, case.there], mode=case.mode))
    assert table is not None
    assert table.value.minutes[0][0] == 0
    assert table.value.minutes[0][1] == pytest.approx(told.value.minutes, abs=1)


def test_a_radius_that_makes_no_sense_is_refused(case: Case) -> None:
    with pytest.raises((BadArgument, Unsupported)):
        answered(case.provider.nearby(NearbyQuery(case.here, -1.0)), is_local=case.provider.is_local)


def questions(provider: Provider) -> list[Coroutine[Any, Any, Answer[Any]]]:
    return [
        provider.resolve(NameQuery("Louvre")),
        provider.reverse(LOUVRE),
        provider.nearby(NearbyQuery(LOUVRE, 500.0)),
        provider.details("google/abc" if provider.name == "google-places" else "osm/W7515426"),
        provider.route(LOUVRE, NEARBY),
        provider.matrix([LOUVRE, NEARBY]),
    ]


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("mood", [mood for mood in MOODS if mood != "well"])
def test_a_service_in_a_bad_mood_is_an_error_that_says_so(name: str, mood: str, service: Service) -> None:
    service.mood = mood
    provider = SERVICES[name](service.url)
    if mood == "slow":
        provider.timeout_s = 0.2  # type: ignore[attr-defined]  # every service has it
    seen = 0
    for question in questions(provider):
        if mood in ("slow", "huge") and seen:
            question.close()
            continue
        with pytest.raises(PlaceError) as caught:
            answered(question, is_local=False)
        if isinstance(caught.value, Unsupported):
            continue
        seen += 1
        assert isinstance(caught.value, RateLimited if mood == "rate_limit" else Unavailable)
        assert caught.value.retryable
        if isinstance(caught.value, RateLimited):
            assert caught.value.retry_after_s == 7
    assert seen


def test_a_service_that_is_gone_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        answered(Nominatim("http://127.0.0.1:9").resolve(NameQuery("Louvre")), is_local=False)


def test_the_next_provider_answers_for_one_that_is_away_and_says_who_it_was(service: Service) -> None:
    service.mood = "broken"
    both = Composite((Nominatim(service.url), embedded("helsinki")))
    told = answered(both.resolve(NameQuery("Ateneum")), is_local=False)
    assert told.provider == "helsinki"
    asked_before = len(service.asked)
    assert answered(both.resolve(NameQuery("Ateneum")), is_local=False) == told
    assert len(service.asked) == asked_before  # each question is asked once
    with pytest.raises(Unavailable):  # nobody can say that there is nothing while one is away
        answered(both.resolve(NameQuery("Nowhere Qqzx 17")), is_local=False)


def test_what_the_environment_names_is_asked_first(service: Service) -> None:
    service.mood = "well"
    environ = {
        "GNOMON_NOMINATIM_URL": service.url,
        "GNOMON_OVERPASS_URL": service.url,
        "GNOMON_VALHALLA_URL": service.url,
        "GNOMON_OSRM_URL": service.url,
        "GNOMON_GOOGLE_KEY": "k",
    }
    names = [one.name for one in configured(environ)]
    assert names == ["nominatim", "overpass", "valhalla", "osrm", "google-places", "google-routes"]
    provider = provider_for("Paris", {"GNOMON_NOMINATIM_URL": service.url})
    assert answered(provider.resolve(NameQuery("Louvre")), is_local=False).provider == "nominatim"
    with pytest.raises(NoSuchPlace, match="there are: helsinki"):
        provider_for("Atlantis", {})


def test_streets_do_not_join_what_water_parts() -> None:
    helsinki = read_city(city_files([])["helsinki"])
    with pytest.raises(Unreachable):
        answered(helsinki.route(TORNI, LatLon(lat_deg=60.0, lon_deg=24.0)), is_local=True)
