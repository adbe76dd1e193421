"""Contexts become records line by line, and every line is counted."""

from pathlib import Path

import pytest

from gnomon_published.benchmarks.mapeval.loader import FILE, read_questions
from gnomon_published.map_record.context import ends_of, read_context
from tests.published_maps import CONTEXT, PARKS, ROUTES, TRAVEL


def test_every_line_of_a_known_form_is_behind_tools_and_the_rest_is_counted() -> None:
    reading = read_context(CONTEXT)
    assert reading.left_over == ("Today is Sunday.",)
    assert reading.lines == sum(bool(line.strip()) for line in CONTEXT.splitlines())
    assert reading.behind_tools == reading.lines - 1
    assert reading.lines_by_pattern["step"] == 5


def test_places_keep_what_is_said_of_them() -> None:
    museum, castle = read_context(CONTEXT).record.places
    assert (museum.name, museum.address, museum.rating, museum.ratings) == (
        "Amberlow Museum",
        "1 Quill Lane, Amberlow",
        "4.5",
        1200,
    )
    assert (museum.lat_deg, museum.lon_deg, museum.price_level) == (10.0, 20.0, "Moderate")
    assert museum.hours["Tuesday"] == "9:00 AM - 5:00 PM"
    assert museum.hours["Sunday"] == "Closed"
    assert museum.features == ("Serves Lunch",)
    assert castle.phone == "+00 12 34"
    assert castle.rating == ""


def test_lists_keep_their_order_kind_and_radius() -> None:
    cafes, parks = read_context(CONTEXT).record.nearby
    assert [place.name for place in cafes.places] == ["Tin Cup", "Old Kettle"]
    assert (cafes.kind, cafes.around, cafes.order) == ("Cafes", "Amberlow Museum", "nearest first")
    assert (parks.order, parks.radius_m) == ("not sorted", 1000.0)
    assert parks.places[0].lat_deg == 10.006


def test_ways_have_their_ends_modes_and_amounts() -> None:
    legs = read_context(CONTEXT).record.legs
    assert [(leg.start, leg.end, leg.mode, leg.amounts.duration_s) for leg in legs] == [
        ("Amberlow Museum", "Brine Castle", "foot", 3900.0),
        ("Amberlow Museum", "Brine Castle", "car", 720.0),
        ("Brine Castle", "Amberlow Museum", "car", 540.0),
        ("Brine Castle", "Port to Port", "car", 60.0),
    ]
    assert legs[0].amounts.distance_m == 5100.0


def test_routes_have_steps_without_markup() -> None:
    first, second = read_context(ROUTES).record.routes
    assert [step.text for step in first.steps] == [
        "Head north on Quill Ln",
        "Turn left onto North Rd/B1 (Pass by Tin Cup (on the left))",
        "Turn right onto Castle St",
    ]
    assert second.steps[1].amounts is not None
    assert second.steps[1].amounts.distance_m == 3000.0
    assert second.amounts is not None
    assert second.amounts.duration_s == 900.0


def test_known_names_decide_where_a_way_that_holds_to_is_cut() -> None:
    assert ends_of("Way to Go to Nowhere", ["Way to Go", "Nowhere"]) == ("Way to Go", "Nowhere")
    assert ends_of("Nowhere", []) == ("Nowhere", "")


@pytest.mark.parametrize("line", ["1. Stray", " - Turn left", "- Rating: 4. (3 ratings).", "1. <b>Stray</b>"])
def test_a_line_outside_of_its_section_is_left_over(line: str) -> None:
    assert read_context(line).left_over == (line.strip(),)


def test_an_unsorted_list_is_not_said_to_be_sorted() -> None:
    assert read_context(PARKS).record.nearby[0].order == "not sorted"
    assert not read_context(TRAVEL).record.nearby


def test_nearly_every_published_line_is_behind_a_tool(mapeval_dir: Path) -> None:
    questions, faults = read_questions(mapeval_dir / FILE)
    readings = [question.evidence for question in questions]
    lines, behind = sum(r.lines for r in readings), sum(r.behind_tools for r in readings)
    assert not faults
    assert behind / lines > 0.995
    assert sum(not reading.left_over for reading in readings) / len(readings) > 0.89


@pytest.mark.parametrize(
    "line",
    [
        "Information of <b></b>:",
        "Travel Time from A to B on foot is 5 mins (1.2.3 km)",
        "Travel Time from A to B on foot is 5 mins (, km)",
        f"Travel Time from A to B on foot is {'9' * 5000} mins (1 km)",
        f"Travel Time from A to B on foot is {'9' * 400} mins (1 km)",
        f"Information of {'x' * 3000}:",
    ],
)
def test_a_line_that_says_no_name_or_no_number_is_left_over(line: str) -> None:
    reading = read_context(line)
    assert (reading.left_over, reading.behind_tools) == ((line,), 0)


def test_a_radius_that_is_no_number_is_none() -> None:
    [listed] = read_context("Nearby Parks of X are (1.2.3 km):").record.nearby
    assert listed.radius_m is None


@pytest.mark.parametrize(
    "line",
    [
        f'POIs for query "{" " * 1_000_000}" are',
        f"Nearby {'a of ' * 200_000}",
        f"- Location: {' ' * 1_000_000}x(",
        "\n".join(["Nearby " + " of a" * 145 + " are (" * 110 + ":"] * 70),
    ],
)
def test_a_line_on_which_patterns_could_backtrack_without_end_is_left_over(line: str) -> None:
    assert read_context(line).behind_tools == 0
