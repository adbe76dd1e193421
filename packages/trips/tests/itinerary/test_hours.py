"""Opening hours are read as mappers mean them, and what the source leaves open stays uncertain."""

import datetime as dt
from collections import Counter
from pathlib import Path

import pytest

from gnomon_trips.itinerary.hours import Interval, open_on, opening_on, told_hours
from gnomon_trips.itinerary.place import LatLon, Place
from packages.trips.tests.itinerary.second_reader import class_of, rows_of

MONDAY = dt.date(2026, 6, 8)


def day(number: int) -> dt.date:
    return MONDAY + dt.timedelta(days=number)


def spans_of(hours: str, date: dt.date, country: str = "FI") -> tuple[Interval, ...] | None:
    """When a place with these hours is or may be open there."""
    return open_on(Place(id="p", name="P", at=LatLon(0.0, 0.0), kind="museum", hours=hours), date, country)


def test_hours_know_weekdays_nights_and_finnish_holidays() -> None:
    midsummer, wednesday = dt.date(2026, 6, 20), dt.date(2026, 6, 10)
    assert spans_of("Mo-Su 10:00-18:00; PH off", midsummer) == ()
    assert spans_of("Mo-Su 10:00-18:00; PH off", midsummer, "") == ((600, 1080),)
    assert spans_of("We 22:00-02:00", wednesday) == ((1320, 1560),)
    assert spans_of("24/7", wednesday) == ((0, 1800),)
    assert spans_of("by appointment?!", wednesday) is None


def test_a_blank_between_day_names_begins_no_rule() -> None:
    """Ateneum was read as open all of Tuesday."""
    hours = "Tu, Fr 10:00-18:00; We-Th 10:00-20:00; Sa-Su 10:00-17:00"
    assert spans_of(hours, day(1)) == ((600, 1080),)
    assert spans_of("Mo, Tu, Th-Su 11:00-20:00", day(0), "JP") == ((660, 1200),)
    assert spans_of("Mo-Fr 07:00-19:00; Sa, Su 09:00-16:00", day(5)) == ((540, 960),)
    assert spans_of("08:30-21:00; Su, PH off", day(6), "JP") == ()


@pytest.mark.parametrize("hours", ['"for request only"', 'Mo-Fr "by appointment"', '"要予約"', "unknown"])
def test_a_comment_alone_is_not_open(hours: str) -> None:
    opening = opening_on(hours, MONDAY, "FI")
    assert opening is not None
    assert opening.sure == ()
    assert opening.is_unknown
    assert spans_of(hours, MONDAY) is None


def test_hours_on_request_are_uncertain_and_other_comments_are_shown() -> None:
    asked = opening_on('Mo-Fr 10:00-18:00 "by appointment"', MONDAY, "FI")
    noted = opening_on('Mo-Fr 10:00-18:00 "last admission 17:30"', MONDAY, "FI")
    assert asked is not None
    assert noted is not None
    assert (asked.sure, asked.perhaps, asked.notes) == ((), ((600, 1080),), ("by appointment",))
    assert (noted.sure, noted.doubts, noted.notes) == (((600, 1080),), (), ("last admission 17:30",))


def test_a_night_lasts_until_its_own_end_whatever_the_next_days_rule() -> None:
    bar = "Mo-Sa 17:00-01:00; Su 11:30-02:00"
    assert spans_of(bar, day(5)) == ((0, 60), (1020, 1500))
    assert spans_of(bar, day(6)) == ((0, 60), (690, 1560))
    assert spans_of(bar, day(7)) == ((0, 120), (1020, 1500))
    assert spans_of("Fr-Sa 22:00-04:00; Su off", day(6)) == ((0, 240),)
    assert spans_of("Mo off; Tu-Su 18:00-02:00", day(0)) == ((0, 120),)


@pytest.mark.parametrize(
    ("hours", "number", "spans"),
    [
        ("Mo-Th 11:00-23:00; Fr11:00-24:00; Sa12:00-24:00", 4, ((660, 1440),)),
        ("Mo,Tu11:00-14:00", 1, ((660, 840),)),
        ("Mo-Fri11:00-14:00", 2, ((660, 840),)),
        ("week01-53 Mo 10:00-12:00", 0, ((600, 720),)),
    ],
)
def test_hours_may_stand_right_behind_their_day(
    hours: str, number: int, spans: tuple[tuple[int, int], ...]
) -> None:
    assert spans_of(hours, day(number)) == spans


@pytest.mark.parametrize(
    ("hours", "number", "sure", "perhaps"),
    [
        ("Mo-Fr 10:00-14:00; 16:00-20:00", 0, ((960, 1200),), ((600, 840),)),
        ("Mo-Fr 10:00-14:00; 16:00-20:00", 5, (), ((960, 1200),)),
        ("Mo off; 10:00-18:00", 0, (), ((600, 1080),)),
        ("Mo off; 10:00-18:00", 1, ((600, 1080),), ()),
        ("10:00-14:00; 16:00-20:00", 1, ((960, 1200),), ((600, 840),)),
        ("10:00-18:00; Mo off", 0, (), ()),
    ],
)
def test_a_later_rule_without_days_is_sure_only_where_both_its_meanings_agree(
    hours: str, number: int, sure: tuple[tuple[int, int], ...], perhaps: tuple[tuple[int, int], ...]
) -> None:
    opening = opening_on(hours, day(number), "FI")
    assert opening is not None
    assert (opening.sure, opening.perhaps) == (sure, perhaps)
    assert bool(opening.doubts) == bool(perhaps)


def test_an_open_end_is_uncertain_after_its_beginning() -> None:
    opening = opening_on("11:30-14:00,18:00-20:30,20:30+", MONDAY, "JP")
    assert opening is not None
    assert opening.sure == ((690, 840), (1080, 1230))
    assert opening.perhaps == ((1230, 1440),)
    assert opening.doubts == ("when it closes is not known",)


def test_public_holidays_count_where_the_country_is_known_and_are_uncertain_elsewhere() -> None:
    midsummer = dt.date(2026, 6, 19)
    known, unknown = (opening_on("Mo-Su 10:00-18:00; PH off", midsummer, c) for c in ("FI", None))
    assert known is not None
    assert unknown is not None
    assert known.possible == ()
    assert (unknown.sure, unknown.perhaps) == ((), ((600, 1080),))
    assert unknown.doubts == ("which days are public holidays there is not known",)


def test_school_holidays_are_known_nowhere() -> None:
    opening = opening_on("Mo-Fr 12:00-18:00; SH 10:00-18:00", MONDAY, "FI")
    assert opening is not None
    assert (opening.sure, opening.perhaps) == (((720, 1080),), ((600, 720),))
    assert opening.doubts == ("which days are school holidays there is not known",)


@pytest.mark.parametrize(
    ("date", "country"),
    [
        ("2026-12-25", "FI"),
        ("2026-12-25", ""),
        ("2026-12-06", "FI"),
        ("2026-12-31", "JP"),
        ("2027-01-02", "JP"),
    ],
)
def test_usual_hours_are_uncertain_on_a_holiday_of_which_they_say_nothing(date: str, country: str) -> None:
    opening = opening_on("Mo-Su 10:00-18:00", dt.date.fromisoformat(date), country)
    assert opening is not None
    assert opening.sure == ()
    assert "holiday" in opening.doubts[0]


def test_hours_that_name_the_holiday_hold() -> None:
    christmas = dt.date(2026, 12, 25)
    for hours in ("24/7", "Mo-Su 10:00-18:00; PH 12:00-16:00", "Mo-Su 10:00-18:00; Dec 25 12:00-16:00"):
        opening = opening_on(hours, christmas, "FI")
        assert opening is not None
        assert opening.sure


def test_sunset_needs_a_position() -> None:
    unplaced = opening_on("09:00-sunset", MONDAY, "FI")
    placed = opening_on("09:00-sunset", MONDAY, "FI", (60.17, 24.94))
    assert unplaced is not None
    assert placed is not None
    assert unplaced.sure == ()
    assert placed.sure[0][0] == 540
    assert placed.sure[0][1] > 22 * 60


def test_every_difference_to_the_second_reader_has_a_class(places_dir: Path) -> None:
    counts = Counter(class_of(row) for row in rows_of(places_dir / "opening-hours-strings.jsonl.gz"))
    assert counts == {
        "same": 938, "neither": 14, "only here": 1, "night": 39, "comment": 2, "semicolon": 2, "bare days": 1,
        "last rule": 2, "sun": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("hours", "date", "sure", "perhaps"),
    [
        ("We-Mo 10:00-18:00; PH We-Mo 10:00-16:00", "2027-05-07", "10:00-18:00", ""),
        ("We-Mo 10:00-18:00; PH We-Mo 10:00-16:00", "2027-05-06", "10:00-16:00", ""),
        ("SH Mo-Fr 10:00-18:00", "2027-05-07", "", "10:00-18:00"),
        ("PH off; Mo-Fr 10:00-18:00", "2027-05-06", "", "10:00-18:00"),
        ("Mo off; PH 10:00-18:00", "2027-05-06", "10:00-18:00", ""),
        ("Jun off; Mo-Fr 10:00-18:00", "2027-06-08", "", "10:00-18:00"),
        ("Mo-Fr", "2027-06-08", "", "00:00-30:00"),
        ("Tu-Th 12:00-14:00 || 17:00-19:00", "2027-06-08", "12:00-14:00, 17:00-19:00", ""),
        ('Tu 14:00-18:00 "groups only"', "2027-06-08", "", "14:00-18:00"),
        ("Mo-Fr 10:00-18:00; Sa by appointment", "2027-06-12", "", "00:00-24:00"),
        ("Mo-Do 9.30-17h, Sa-So 10:00 bis 16:00", "2027-06-10", "09:30-17:00", ""),
        ("daily 10:00 to 18:00", "2027-06-13", "10:00-18:00", ""),
        ("Ma-Pe klo 9-17.30; su kiinni", "2027-06-11", "09:00-17:30", ""),
        ("lundi au vendredi de 9h à 18h", "2027-06-11", "09:00-18:00", ""),
        ("mån-fre 10-18, lör 10-14", "2027-06-12", "10:00-14:00", ""),
        ("lunedì-venerdì 9-18", "2027-06-12", "", ""),
        ("土日祝 10:00-18:00", "2027-06-13", "10:00-18:00", ""),
        ("平日 9:00〜17:00", "2027-06-11", "09:00-17:00", ""),
        ("Mo-Fr: 24 hours", "2027-06-11", "00:00-24:00", ""),
        ("June-August 10:00-18:00", "2027-06-11", "10:00-18:00", ""),
    ],
)
def test_what_mappers_mean_by_holidays_rules_and_words(
    hours: str, date: str, sure: str, perhaps: str
) -> None:
    opening = opening_on(hours, dt.date.fromisoformat(date), "FI")
    assert opening is not None
    assert told_hours(opening.sure) == (sure or "closed")
    assert told_hours(opening.perhaps) == (perhaps or "closed")


def test_days_that_two_languages_name_otherwise_are_not_read() -> None:
    assert opening_on("Ma-Di 10-18", MONDAY) is None  # French: Tu-Su; Dutch: Mo-Tu


def test_days_off_the_holidays_are_uncertain_without_a_calendar() -> None:
    opening = opening_on("Mo-Fr 10:00-18:00; PH -1 day 10:00-14:00", dt.date(2027, 6, 8))
    assert opening is not None
    assert (opening.sure, opening.perhaps) == (((600, 840),), ((840, 1080),))
