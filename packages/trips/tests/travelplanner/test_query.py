"""What a query asks for is read from its words."""

import datetime as dt

import pytest

from gnomon.core.errors import SpecError
from gnomon_trips.benchmarks.travelplanner.query import level_of, read_query
from tests.published_trips import EASY, HARD

WHEN = "from March 1st to March 3rd, 2022"


def query(words: str) -> str:
    return f"Please plan a 3-day trip for two people from Amberlow to Brine {WHEN} for up to $900. {words}"


def test_an_easy_query() -> None:
    needs = read_query(EASY)
    assert (needs.origin, needs.destination, needs.cities) == ("Amberlow", "Brine", 1)
    assert (needs.days, needs.start_date) == (3, dt.date(2022, 3, 1))
    assert (needs.people, needs.budget_usd) == (1, 1000)
    assert needs.hard_rules() == ("budget",)
    assert level_of(needs) == "easy"


def test_a_hard_query() -> None:
    needs = read_query(HARD)
    assert (needs.origin, needs.destination, needs.cities) == ("Amberlow", "Texas", 2)
    assert (needs.days, needs.people, needs.budget_usd) == (5, 6, 6000)
    assert needs.cuisines == ("French", "Indian")
    assert (needs.room_type, needs.house_rule, needs.transport) == ("entire room", "pets", "no self-driving")
    assert level_of(needs) == "hard"


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        ("We would like rooms that are not shared.", "room_type", "not shared room"),
        ("We require non-shared accommodations.", "room_type", "not shared room"),
        ("We prefer shared rooms.", "room_type", "shared room"),
        ("Rooms neither shared nor noisy, and private rooms please.", "room_type", "private room"),
        ("Our entire travel is planned.", "room_type", None),
        ("Parties must be allowed.", "house_rule", "parties"),
        ("We are a party of 2.", "house_rule", None),
        ("We smoke, so smoking should be permitted.", "house_rule", "smoking"),
        ("Visitors should be welcome.", "house_rule", "visitors"),
        ("We bring children under 10.", "house_rule", "children under 10"),
        ("Please avoid any flight bookings.", "transport", "no flight"),
        ("We cannot utilize flights.", "transport", "no flight"),
        ("We will not be flying and will presumably drive.", "transport", "no flight"),
        ("We'd rather not drive ourselves.", "transport", "no self-driving"),
        ("I have no specific preferences about transportation.", "transport", None),
    ],
)
def test_wishes(words: str, field: str, value: str | None) -> None:
    assert getattr(read_query(query(words)), field) == value


@pytest.mark.parametrize(
    ("words", "people"),
    [("for a couple", 2), ("for a duo", 2), ("for 4 people", 4), ("for a party of five", 5), ("", 1)],
)
def test_people(words: str, people: int) -> None:
    assert read_query(f"A 3-day trip {words} from Amberlow to Brine {WHEN}, budget $900.").people == people


@pytest.mark.parametrize(
    "dates",
    ["from the 8th to the 10th of March, 2022", "from March 8th to 10th, 2022", "March 8 to March 10, 2022"],
)
def test_dates_in_several_spellings(dates: str) -> None:
    needs = read_query(f"A 3-day trip for me from Amberlow to Brine {dates}, budget $900.")
    assert (needs.start_date, needs.days) == (dt.date(2022, 3, 8), 3)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (f"A 3-day trip for us from Amberlow to Brine {WHEN}, budget $900.", "people"),
        (f"A 3-day trip for 2 people from Amberlow to Brine {WHEN}.", "budget"),
        (f"A 3-day trip from Amberlow to Brine {WHEN}, for $900 or $1,000.", "budget"),
        (f"A 4-day trip for 2 people from Amberlow to Brine {WHEN}, budget $900.", "days"),
        ("A 3-day trip for 2 people from Amberlow to Brine, budget $900.", "dates"),
        ("A trip for 2 people from Amberlow to Texas from March 1st to March 7th, 2022, for $900.", "cities"),
        (f"A 3-day trip for 2 people {WHEN}, budget $900.", "origin"),
        (query("We smoke and bring pets."), "house_rule"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_field(text: str, field: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_query(text)
    assert caught.value.field == field
