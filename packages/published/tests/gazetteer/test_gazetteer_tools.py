"""What a model learns from the gazetteer's tools."""

import json
from itertools import pairwise, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_published.held_karp import shortest_order
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_tools.scene.scene import Scene

IN_JAPAN = ToolContext(is_free=True)
NAMES = ("how_far", "lies_in", "municipality_of", "visiting_order")


def _call(name: str, /, **args: Any) -> dict[str, Any]:
    seen: dict[str, Any] = json.loads(Toolbox(TOOLS, IN_JAPAN).call(name, json.dumps(args)).content)
    return seen


def test_only_questions_that_play_in_japan_are_offered_the_gazetteer(small: Scene) -> None:
    offered = {schema["function"]["name"] for schema in Toolbox(TOOLS, IN_JAPAN).schemas}
    assert offered >= set(NAMES)
    assert "camera_view" not in offered
    elsewhere = {
        schema["function"]["name"] for schema in Toolbox(TOOLS, ToolContext(inputs=held(small))).schemas
    }
    assert elsewhere.isdisjoint(NAMES)


def test_a_town_is_placed_in_its_ward_city_and_prefecture() -> None:
    found = _call("municipality_of", name="Dotonbori (tourist_attraction)")["candidates"][0]["place"]
    assert (found["ward"], found["municipality"], found["prefecture"]) == (
        "Chuo-ku (中央区)",
        "Osaka-shi (大阪市)",
        "Osaka (大阪府)",
    )


def test_a_shop_is_unknown_but_the_places_in_its_name_are_told() -> None:
    message = _call("municipality_of", name="Kukuru Dotonbori (japanese_restaurant)")["error"]
    assert "not in the gazetteer" in message
    assert "道頓堀" in message


@pytest.mark.parametrize(
    ("inner", "outer", "is_in"),
    [
        ({"name": "Shibuya"}, "Tokyo", True),
        ({"name": "Shibuya City"}, "Osaka Prefecture", False),
        ({"name": "Chuo-ku", "within": "Osaka"}, "Osaka City", True),
        ({"name": "Hakone"}, "Kanagawa", True),
        ({"name": "Nara City"}, "Nara City", False),
        ({"name": "道頓堀"}, "大阪市", True),
    ],
)
def test_a_place_lies_in_what_its_code_says(inner: dict[str, str], outer: str, is_in: bool) -> None:
    assert _call("lies_in", inner=inner, outer=outer)["lies_in"] is is_in


def test_a_shared_name_is_not_measured_but_listed() -> None:
    told = _call("how_far", start={"name": "Fuchu City"}, end={"name": "Nara City"})["error"]
    assert "Tokyo" in told
    assert "Hiroshima" in told
    settled = _call("how_far", start={"name": "Fuchu City", "within": "Hiroshima"}, end={"name": "Nara City"})
    assert settled["distance_m"] == pytest.approx(236_000, rel=0.05)


def test_the_way_from_tokyo_to_osaka_is_the_geodesic() -> None:
    told = _call("how_far", start={"name": "Tokyo Station"}, end={"name": "大阪駅"})
    assert told["distance_m"] == pytest.approx(403_800, abs=1_000)
    assert 250 < told["bearing_deg"] < 260
    assert told["error_m"] == 2_000


def test_the_plausible_order_is_the_shortest_and_keeps_a_given_end() -> None:
    places = [{"name": f"{city} City"} for city in ("Kyoto", "Kobe", "Nara", "Osaka")]
    told = _call("visiting_order", places=places, first="Kobe City")
    assert told["order"] == ["Kobe City", "Osaka City", "Nara City", "Kyoto City"]
    assert told["distance_m"] < told["given_order_m"]
    assert _call("visiting_order", places=places, last="Kobe City")["order"][-1] == "Kobe City"
    assert "none of the places" in _call("visiting_order", places=places, first="Tokyo")["error"]
    assert "given twice" in _call("visiting_order", places=places * 2)["error"]


def _length(metres: list[list[float]], order: tuple[int, ...] | list[int]) -> float:
    return sum(metres[a][b] for a, b in pairwise(order))


@given(
    st.integers(2, 6).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 99), min_size=n, max_size=n), min_size=n, max_size=n)
    ),
    st.booleans(),
    st.booleans(),
)
def test_no_order_is_shorter_than_the_shortest(
    metres: list[list[float]], with_first: bool, with_last: bool
) -> None:
    first, last = (0 if with_first else None), (len(metres) - 1 if with_last else None)
    allowed = [
        order
        for order in permutations(range(len(metres)))
        if (first is None or order[0] == first) and (last is None or order[-1] == last)
    ]
    found = shortest_order(metres, first=first, last=last)
    assert tuple(found) in allowed
    assert _length(metres, found) == min(_length(metres, order) for order in allowed)
