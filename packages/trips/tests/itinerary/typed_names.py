"""Names that travellers type, and what becomes of each: resolved right, asked back, or wrong.

Each name is asked alone, in the area of Japan, without anything else of a trip to tell meanings apart; those
of the last group with two more places of the same trip. The names, in both scripts and misspelt, and what
each means are in typed_names.csv: the id of the place, `?` where asking back is right, `-` where no
place may be taken for it.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

from gnomon_trips.itinerary.provider import Provider, answered
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.itinerary.trip import Trip, open_trip

NAMES = Path(__file__).with_suffix(".csv")
ASKED, UNKNOWN = "?", "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A name as it is typed; `meant` is an id, ASKED or UNKNOWN; `beside` are other places of the trip."""

    group: str
    name: str
    meant: str
    beside: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a name."""

    typed: Typed
    outcome: str  # right, told (right, and said so), asked, unknown, wrong
    taken_for: str


def typed_names() -> list[Typed]:
    """The names of the file."""
    with NAMES.open(encoding="utf-8", newline="") as text:
        return [
            Typed(
                group=row["group"],
                name=row["name"],
                meant=row["meant"],
                beside=tuple(filter(None, row["beside"].split(";"))),
            )
            for row in csv.DictReader(text)
        ]


def judged(typed: Typed, provider: Provider) -> Verdict:
    """What the trip makes of a name."""
    places = [typed.name, *typed.beside]
    request = read_request({"area": "japan", "start_date": "2026-06-10", "places": places})
    trip: Trip = answered(open_trip(request, provider), is_local=True)
    place = trip.named.get(typed.name)
    if place is not None:
        is_right = place.id == typed.meant
        outcome = ("told" if typed.name in trip.assumed else "right") if is_right else "wrong"
        return Verdict(typed=typed, outcome=outcome, taken_for=place.id)
    outcome = "asked" if typed.name in trip.candidates else "unknown"
    return Verdict(typed=typed, outcome=outcome, taken_for=trip.lost.get(typed.name, ""))


def is_as_meant(verdict: Verdict) -> bool:
    """Whether a name was resolved right, or asked back or refused where that is right."""
    meant = {ASKED: "asked", UNKNOWN: "unknown"}.get(verdict.typed.meant)
    return verdict.outcome == meant or (meant is None and verdict.outcome in ("right", "told"))
