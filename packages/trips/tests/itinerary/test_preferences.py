"""Preferences weigh in what is chosen, never decide whether a plan holds, and tell what no tag says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_trips.itinerary.draft import plan_of
from gnomon_trips.itinerary.errors import BadArgument
from gnomon_trips.itinerary.place import LatLon, Place
from gnomon_trips.itinerary.plan import Plan
from gnomon_trips.itinerary.planning import Found, find_plan
from gnomon_trips.itinerary.preferences import (
    ASPECTS,
    PREFERENCE_M,
    crowd_m,
    crowded_minutes,
    fit_of,
    is_asked,
    preference_m,
)
from gnomon_trips.itinerary.provider import Provider, answered
from gnomon_trips.itinerary.request import MEALS, Preferences, read_request
from gnomon_trips.itinerary.trip import Trip, open_trip

AT = LatLon(lat_deg=60.17, lon_deg=24.94)
ONE_DAY: dict[str, Any] = {
    "area": "helsinki",
    "start_date": "2026-06-10",
    "hotel": "Hotelli Torni",
    "places": ["Ateneum", "Kiasma"],
    "window": {"start": "09:00", "end": "21:00"},
    "meals": [{"name": "lunch"}, {"name": "dinner", "start": "17:30", "end": "20:30", "minutes": 60}],
}


def place(kind: str, **tags: str) -> Place:
    named = tuple((name.replace("diet_", "diet:"), value) for name, value in tags.items())
    return Place(id=f"x/{kind}", name=kind, at=AT, kind=kind, tags=named)


def opened(provider: Provider, **changes: Any) -> Trip:
    return answered(open_trip(read_request({**ONE_DAY, **changes}), provider), is_local=True)


def searched(trip: Trip) -> Found:
    return answered(find_plan(trip, seconds=5), is_local=True)


def planned(provider: Provider, **changes: Any) -> tuple[Trip, Plan]:
    trip = opened(provider, **changes)
    return trip, answered(plan_of(searched(trip).draft, trip), is_local=True)


@pytest.mark.parametrize(
    ("tags", "diet", "fit"),
    [
        ({"diet_vegetarian": "yes"}, ["vegetarian"], 1.0),
        ({"diet_vegetarian": "only"}, ["vegetarian"], 1.0),
        ({"diet_vegetarian": "limited"}, ["vegetarian"], 0.5),
        ({"diet_vegetarian": "no"}, ["vegetarian"], 0.0),
        ({"diet_vegan": "yes"}, ["vegetarian"], 1.0),
        ({"diet_vegetarian": "yes"}, ["vegan"], None),
        ({"cuisine": "thai;vegan"}, ["vegan", "vegetarian"], 1.0),
        ({"cuisine": "steak_house"}, ["vegetarian"], None),
        ({"diet_vegan": "yes", "diet_halal": "no"}, ["vegan", "halal"], 0.0),
        ({"diet_vegan": "yes"}, ["vegan", "halal"], None),
        ({"diet_vegan": "perhaps"}, ["vegan"], None),
    ],
)
def test_what_tags_say_of_a_diet(tags: dict[str, str], diet: list[Any], fit: float | None) -> None:
    assert fit_of(place("restaurant", **tags), "diet", Preferences(diet=diet)) == fit


def test_a_diet_is_a_matter_of_meals_alone() -> None:
    assert fit_of(place("museum", diet_vegan="no"), "diet", Preferences(diet=["vegan"])) is None
    assert preference_m(place("museum"), Preferences(diet=["vegan"])) == 0


@pytest.mark.parametrize(
    ("kind", "tags", "fit"),
    [
        ("pub", {}, 0.0),
        ("nightclub;restaurant", {}, 0.0),
        ("playground", {}, 1.0),
        ("museum", {"museum": "children"}, 1.0),
        ("restaurant", {"highchair": "yes"}, 1.0),
        ("restaurant", {"highchair": "no"}, None),
        ("cinema", {"min_age": "18"}, 0.0),
        ("museum", {}, None),
    ],
)
def test_what_is_for_children(kind: str, tags: dict[str, str], fit: float | None) -> None:
    assert fit_of(place(kind, **tags), "children", Preferences(children=True)) == fit


VALUES = st.sampled_from(["yes", "no", "limited", "only", "maybe", ""])


@given(
    st.sampled_from([*sorted(MEALS), "museum", "playground", "bar"]),
    st.dictionaries(
        st.sampled_from(["wheelchair", "diet_vegan", "diet_vegetarian", "highchair", "cuisine"]), VALUES
    ),
    st.booleans(),
    st.booleans(),
    st.lists(st.sampled_from(["vegan", "vegetarian", "halal"]), unique=True),
)
def test_what_is_unknown_costs_as_much_more_than_a_fit_as_less_than_a_misfit(
    kind: str, tags: dict[str, str], wheelchair: bool, children: bool, diet: list[Any]
) -> None:
    wanted = Preferences(wheelchair=wheelchair, children=children, diet=diet)
    somewhere = place(kind, **tags)
    cost = preference_m(somewhere, wanted)
    asked = [aspect for aspect in ASPECTS if is_asked(kind, aspect, wanted)]
    fits = [fit_of(somewhere, aspect, wanted) for aspect in asked]
    assert 0 <= cost <= PREFERENCE_M * len(asked)
    if all(fit is None for fit in fits):
        assert cost == PREFERENCE_M * len(asked) / 2
    if all(fit == 1 for fit in fits):
        assert cost == 0


def test_crowds_are_a_matter_of_famous_places_at_noon() -> None:
    avoid = Preferences(crowds="avoid")
    assert crowd_m(0.3, avoid) == 0
    assert crowd_m(0.9, avoid) > crowd_m(0.6, avoid) > 0
    assert crowd_m(0.9, Preferences()) == 0
    assert crowded_minutes(14 * 60, 16 * 60) == 60


def test_meals_are_had_where_the_diet_is_served(helsinki: Provider) -> None:
    trip, plan = planned(helsinki, preferences={"diet": ["vegetarian"]})
    meals = [visit.place.id for day in plan.days for visit in day.visits if visit.place.kind in MEALS]
    known = [answered(helsinki.details(meal), is_local=True).value for meal in meals]
    assert len(known) == 2
    assert [fit_of(meal, "diet", trip.request.preferences) for meal in known] == [1.0, 1.0]


def test_with_children_no_meal_is_had_in_a_pub(helsinki: Provider) -> None:
    _, plan = planned(helsinki, preferences={"children": True})
    kinds = {visit.place.kind for day in plan.days for visit in day.visits}
    assert kinds & MEALS
    assert not kinds & {"pub", "bar", "biergarten"}


def test_what_no_tag_says_is_told_in_the_plan(helsinki: Provider) -> None:
    _, plan = planned(helsinki, places=["Ateneum", "Amos Rex"], preferences={"wheelchair": True})
    told = [line for line in plan.assumptions if "wheelchair" in line]
    assert any(line.startswith("No source says") and "Amos Rex" in line for line in told)
    assert not any("Ateneum" in line for line in told)  # tagged: wheelchair=yes


def test_crowds_are_said_to_be_a_rule_of_thumb(helsinki: Provider) -> None:
    _, plan = planned(helsinki, preferences={"crowds": "avoid"})
    assert any("rule of thumb" in line for line in plan.assumptions)
    _, plain = planned(helsinki)
    assert not any("rule of thumb" in line for line in plain.assumptions)


def test_a_place_that_must_be_seen_is_one_of_the_request_by_whatever_name(helsinki: Provider) -> None:
    trip = opened(helsinki, preferences={"must_see": ["ATENEUM"]})
    assert trip.must_see == {trip.named["Ateneum"].id}
    for name in ("Amos Rex", "Nowhere At All"):
        with pytest.raises(BadArgument, match="must_see"):
            opened(helsinki, preferences={"must_see": [name]})


def test_a_place_that_must_be_seen_is_given_up_last(helsinki: Provider) -> None:
    places = ["Ateneum", "Kiasma", "Amos Rex", "Kampin kappeli"]
    window = {"start": "11:00", "end": "13:00"}
    for must in places:
        trip = opened(helsinki, places=places, window=window, meals=[], preferences={"must_see": [must]})
        found = searched(trip)
        assert found.partial is not None
        kept = {visit.place for day in found.partial.days for visit in day.visits}
        assert trip.named[must].id in kept
