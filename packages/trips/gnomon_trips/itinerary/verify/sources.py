"""Checks whether a plan cites its sources, names their owners, and tells what it assumes."""

from collections.abc import Iterator

from gnomon_trips.itinerary.assumptions import OUT_OF_TIME, assumptions
from gnomon_trips.itinerary.facts import Facts
from gnomon_trips.itinerary.plan import Plan
from gnomon_trips.itinerary.preference_words import preference_words
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.itinerary.verify.violation import Violation

HOURS_OF = "opening_hours="


def sources(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation]:
    """Faults of evidence, attributions and assumptions."""
    for path, cited, known in citations(plan, facts):
        yield from _cited(path, cited, known)
    yield from attributed(plan, facts)
    for line in told_assumptions(plan, trip, facts):
        if line not in plan.assumptions:
            yield Violation(code="ASSUMED", path="assumptions", expected=line, found="not a word of it")


def told_assumptions(plan: Plan, trip: Trip, facts: Facts) -> tuple[str, ...]:
    """What a plan must say that it takes for granted, by the facts about its stops."""
    preferences = preference_words(trip.request.preferences, plan.days, facts.places)
    is_cut = plan.search is not None and plan.search.is_cut
    return (*assumptions(trip, plan.days), *preferences, *([OUT_OF_TIME] if is_cut else ()))


def attributed(plan: Plan, facts: Facts) -> Iterator[Violation]:
    """The notices of the data in use, all of them and no other."""
    for line in facts.attributions:
        if line not in plan.attributions:
            yield Violation(code="ATTRIBUTION", path="attributions", expected=line, found="not named")
    for line in plan.attributions:
        if facts.attributions and line not in facts.attributions:
            yield Violation(
                code="ATTRIBUTION", path="attributions", expected="; ".join(facts.attributions), found=line
            )


Citation = tuple[str, tuple[str, ...], tuple[frozenset[str], str]]
"""The path of something with evidence, its evidence, and what it can be: who knows it, and its hours."""


def citations(plan: Plan, facts: Facts) -> Iterator[Citation]:
    """Everything in a plan that has evidence and that is known here."""
    for number, day in enumerate(plan.days):
        for index, visit in enumerate(day.visits):
            if told_by := facts.place_sources.get(visit.place.id):
                place = facts.places[visit.place.id]
                hours = f"{HOURS_OF}{place.hours}" if place.hours else ""
                yield f"days.{number}.visits.{index}.evidence", visit.evidence, (told_by, hours)
        for index, leg in enumerate(day.legs):
            if source := facts.way_sources.get((leg.from_id, leg.to_id, leg.mode)):
                yield f"days.{number}.legs.{index}.evidence", leg.evidence, (frozenset((source,)), "")
        if day.night and (told_by := facts.place_sources.get(day.night.place.id)):
            yield f"days.{number}.night.evidence", day.night.evidence, (told_by, "")


def is_other_state(source: str, told_by: frozenset[str]) -> bool:
    """Whether it cites another state of the data of one that knows: that state cannot be looked up here."""
    return source not in told_by and source.partition(" ")[0] in {one.partition(" ")[0] for one in told_by}


def _cited(path: str, cited: tuple[str, ...], known: tuple[frozenset[str], str]) -> Iterator[Violation]:
    told_by, hours = known
    names = " or ".join(sorted(told_by))
    if not any(source in told_by or is_other_state(source, told_by) for source in cited):
        yield Violation(
            code="EVIDENCE", path=path, expected=names, found=", ".join(cited) or "none", evidence=names
        )
    hours_cited = [source for source in cited if source.startswith(HOURS_OF)]
    if hours_cited != ([hours] if hours else []):
        yield Violation(
            code="EVIDENCE",
            path=path,
            expected=hours or "no hours: none are known",
            found=", ".join(hours_cited) or "none",
            evidence=names,
        )
    for source in cited:
        is_place = source in told_by or is_other_state(source, told_by) or source.startswith(HOURS_OF)
        if not is_place:
            yield Violation(code="EVIDENCE", path=path, expected=names, found=source, evidence=names)
