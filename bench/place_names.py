"""Counts how many of the names that travellers type are resolved right, asked back, or wrong.

    python -m bench.place_names [--all]

Each name is asked alone, in the area of Japan, without anything else of a trip to tell meanings apart; those
of the last group with two more places of the same trip. The names, in both scripts and misspelt, and what
each means are in bench/place_names.csv: the id of the place, `?` where asking back is right, `-` where no
place may be taken for it.
"""

import csv
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tools.itinerary.provider import Provider, answered
from tools.itinerary.registry import embedded
from tools.itinerary.request import read_request
from tools.itinerary.trip import Trip, open_trip

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


def main() -> None:
    """Print a table by group, and every name that is not as meant; with --all every name."""
    provider = embedded("japan")
    verdicts = [judged(typed, provider) for typed in typed_names()]
    heads = ("group", "names", "as meant", "right", "told", "asked", "unknown", "wrong")
    print("|", " | ".join(heads), "|\n" + "|---" * len(heads) + "|")
    groups = [*dict.fromkeys(verdict.typed.group for verdict in verdicts), "all"]
    for group in groups:
        own = [verdict for verdict in verdicts if group in ("all", verdict.typed.group)]
        counts = Counter(verdict.outcome for verdict in own)
        cells = [counts[outcome] for outcome in ("right", "told", "asked", "unknown", "wrong")]
        print("|", " | ".join(map(str, (group, len(own), sum(map(is_as_meant, own)), *cells))), "|")
    for verdict in verdicts:
        if "--all" in sys.argv or not is_as_meant(verdict):
            typed = verdict.typed
            print(f"{verdict.outcome:8} {typed.name}: meant {typed.meant}; {verdict.taken_for[:120]}")


if __name__ == "__main__":
    main()
