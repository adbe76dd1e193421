"""Holds each sentence of a guide against the facts: true, false, not known, or without any claim."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gnomon_tools.core.name_match import GOOD_NAME, likeness, plain_name
from gnomon_trips.itinerary.facts import Facts
from gnomon_trips.itinerary.guide_claims import clock_of_number, guide_claims, is_japanese, sentences
from gnomon_trips.itinerary.hours import DAY_MIN, clock_of, minutes_of, told_hours
from gnomon_trips.itinerary.plan import Day, DayGuide, ItineraryLeg, Plan, Stop, Visit
from gnomon_trips.itinerary.reasons import Claim
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.itinerary.verify.violation import Unchecked, Violation
from gnomon_trips.itinerary.verify.why import SHARE, SPARE_M, SPARE_MIN, Said, truth_of

Verdict = Literal["true", "false", "unknown", "no claim"]
PLACE_BOUND = frozenset(
    ("opens", "closes", "open", "always", "closed_on", "price", "free", "near", "kind", "meal")
)
"""Claims that are about one place: without knowing which, nobody can tell."""
_OF_WAYS = re.compile(
    r"\b(?:walk|stroll|on foot|ride|away|by (?:train|bus|car|ferry|plane))\b|徒歩|歩い|電車|バスで|車で",
    re.IGNORECASE,
)
_OF_HOURS = re.compile(r"open|営業|開館|開店", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of a guide with its verdict; `truth` is what is so instead, `claim` what is not so."""

    path: str
    text: str
    verdict: Verdict
    truth: str = ""
    claim: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A text of a guide: which stop of its day it is about; None: the whole day."""

    path: str
    text: str
    stop: int | None


def guide_sentences(plan: Plan, trip: Trip, facts: Facts) -> tuple[Sentence, ...]:
    """Every sentence of the plan's guide, judged."""
    return tuple(
        _judged(path, sentence, told.stop, plan.days[guide.day - 1], trip, facts)
        for number, guide in enumerate(plan.guide)
        if guide.day <= len(plan.days)
        for told in _texts(number, guide, plan.days[guide.day - 1])
        for path, sentence in ((told.path, sentence) for sentence in sentences(told.text))
    )


def guide_faults(plan: Plan, trip: Trip, facts: Facts) -> Iterator[Violation | Unchecked]:
    """Sentences that facts contradict, those for which there are none, and texts of no stop."""
    for number, guide in enumerate(plan.guide):
        ids = (
            [visit.place.id for visit in plan.days[guide.day - 1].visits]
            if guide.day <= len(plan.days)
            else []
        )
        if not ids:
            yield Violation(
                code="WHY", path=f"guide.{number}.day", expected="a day of the plan", found=str(guide.day)
            )
        for at, stop in enumerate(guide.stops):
            if ids and stop.place not in ids:
                path = f"guide.{number}.stops.{at}"
                yield Violation(code="WHY", path=path, expected="a stop of that day", found=stop.place)
    for sentence in guide_sentences(plan, trip, facts):
        if sentence.verdict == "false":
            yield Violation(
                code="WHY",
                path=sentence.path,
                expected=sentence.truth,
                found=sentence.text,
                evidence=f"{facts.provider} {facts.version}",
            )
        elif sentence.verdict == "unknown":
            why = f"no source knows whether “{sentence.claim}” is so"
            yield Unchecked(code="WHY", path=sentence.path, why=why)


def _texts(number: int, guide: DayGuide, day: Day) -> Iterator[_Told]:
    index = {visit.place.id: at for at, visit in reversed(list(enumerate(day.visits)))}
    if guide.intro:
        yield _Told(path=f"guide.{number}.intro", text=guide.intro, stop=None)
    for at, stop in enumerate(guide.stops):
        yield _Told(path=f"guide.{number}.stops.{at}", text=stop.text, stop=index.get(stop.place))
    for at, note in enumerate(guide.notes):
        yield _Told(path=f"guide.{number}.notes.{at}", text=note, stop=None)


def _judged(path: str, text: str, stop: int | None, day: Day, trip: Trip, facts: Facts) -> Sentence:
    names = _names(day, facts)
    claims = guide_claims(text, [*names, *_names_of(day.start, facts), *_names_of(day.end, facts)])
    subject = next((claim.name for claim in claims if claim.sort == "subject"), "")
    about = stop
    if subject:
        about = _stop_named(subject, names)
        if about is None and stop is not None and _is_general(subject):
            about = stop
    elif stop is None:
        mentioned = {
            at for name, at in names.items() if plain_name(name) in plain_name(text) and len(name) > 1
        }
        about = mentioned.pop() if len(mentioned) == 1 else None
    claims = [claim for claim in claims if claim.sort != "subject"]
    verdicts = [(claim, _truth(claim, about, text, day, trip, facts, names)) for claim in claims]
    for claim, truth in verdicts:
        if truth:
            return Sentence(path=path, text=text, verdict="false", truth=truth, claim=claim.words.strip())
    for claim, truth in verdicts:
        if truth is None:
            return Sentence(path=path, text=text, verdict="unknown", claim=claim.words.strip())
    return Sentence(path=path, text=text, verdict="true" if verdicts else "no claim")


def _truth(
    claim: Claim, about: int | None, text: str, day: Day, trip: Trip, facts: Facts, names: Mapping[str, int]
) -> str | None:
    """The true value; empty: the claim is right; None: not known."""
    if claim.sort in ("next", "after"):
        return _neighbour(claim, about, text, day, names)
    if about is None:
        return None if claim.sort in PLACE_BOUND else _of_day(claim, day, trip)
    visit = day.visits[about]
    if claim.sort == "open" and (claim.value, claim.until) == (
        minutes_of(visit.arrive),
        minutes_of(visit.leave),
    ):
        return ""  # the stay, and no word of when it is open
    if claim.sort in ("metres", "minutes") and claim.name:
        leg = _leg_to(claim.name, about, day, names, facts)
        if leg is not None:
            return _as_leg(claim, [leg])
    if claim.sort in ("metres", "minutes") and not claim.name and _OF_WAYS.search(text):
        return _as_leg(claim, day.legs[about : about + 2])
    if claim.sort == "open" and _OF_HOURS.search(claim.words):
        return _exact_hours(claim, visit, day, facts)
    if claim.sort in ("arrives", "leaves"):
        clock = visit.arrive if claim.sort == "arrives" else visit.leave
        return "" if minutes_of(clock) == claim.value else f"{claim.sort} {clock}"
    known = {name: facts.places[day.visits[at].place.id] for name, at in names.items()
             if day.visits[at].place.id in facts.places}  # fmt: skip
    said = Said(
        visit=visit.model_copy(update={"why": text}),
        index=about,
        day=day,
        path="",
        trip=trip,
        facts=replace(facts, mentioned={**facts.mentioned, **known}),
    )
    truth = truth_of(claim, said)
    if truth is None or (truth and claim.sort in ("metres", "minutes") and not claim.name):
        of_day = _of_day(claim, day, trip)
        return "" if of_day == "" else truth
    return truth


def _leg_to(name: str, about: int, day: Day, names: Mapping[str, int], facts: Facts) -> ItineraryLeg | None:
    """The leg between a stop and its neighbour, where a name is the neighbour's."""
    other = _stop_named(name, names)
    if other == about + 1 and other < len(day.legs):
        return day.legs[other]
    own = _names_of(day.start, facts)
    is_start = about == 0 and max(likeness(name, one) for one in own) >= GOOD_NAME
    is_before = other is not None and other == about - 1
    return day.legs[about] if (is_start or is_before) and about < len(day.legs) else None


def _as_leg(claim: Claim, legs: Sequence[ItineraryLeg]) -> str:
    """Compare a length or a time with the ways that it may be about."""
    spare = (SPARE_M if claim.sort == "metres" else SPARE_MIN) / 2
    for leg in legs:
        measure = leg.metres if claim.sort == "metres" else leg.minutes
        if abs(claim.value - measure) <= SHARE / 2 * measure + spare:
            return ""
    return " and ".join(f"{leg.minutes} min, {leg.metres} m" for leg in legs) or "no way"


def _exact_hours(claim: Claim, visit: Visit, day: Day, facts: Facts) -> str | None:
    """Opening hours that a sentence states are those of the day, not merely some within them."""
    opening = facts.opening(visit.place.id, day.date)
    if opening is None or opening.is_unknown:
        return None
    if any((start, end) == (claim.value, claim.until or DAY_MIN) for start, end in opening.sure):
        return ""
    if any((start, end) == (claim.value, claim.until or DAY_MIN) for start, end in opening.possible):
        return None
    return f"open {told_hours(opening.possible)}"


def _of_day(claim: Claim, day: Day, trip: Trip) -> str | None:
    """A claim about the day as a whole: its way, its times, how many stops it has."""
    if claim.name:
        return None
    legs, visits = day.legs, day.visits
    if claim.sort == "metres":
        metres = [float(leg.metres) for leg in legs]
        metres += [sum(metres), float(sum(leg.metres for leg in legs if leg.mode == "walk"))]
        if any(abs(claim.value - measure) <= 0.1 * measure + SPARE_M for measure in metres):
            return ""
        return f"{sum(leg.metres for leg in legs)} m in all"
    if claim.sort == "minutes":
        minutes = [float(leg.minutes) for leg in legs]
        stays = [float(minutes_of(visit.leave) - minutes_of(visit.arrive)) for visit in visits]
        measures = [*minutes, sum(minutes), *stays, sum(stays)]
        if any(abs(claim.value - measure) <= SHARE * measure + SPARE_MIN for measure in measures):
            return ""
        return f"{sum(leg.minutes for leg in legs)} min on the way in all"
    if claim.sort in ("arrives", "leaves"):
        if not visits:
            return None
        at = visits[0].arrive if claim.sort == "arrives" else visits[-1].leave
        is_any = any(
            minutes_of(clock) == claim.value for visit in visits for clock in (visit.arrive, visit.leave)
        )
        return "" if is_any else f"the day {'begins' if claim.sort == 'arrives' else 'ends'} at {at}"
    if claim.sort == "number":
        return _number(claim, day, trip)
    return None


def _number(claim: Claim, day: Day, trip: Trip) -> str | None:
    clock = clock_of_number(claim)
    if clock is not None:
        return (
            ""
            if clock_of(clock) in {c for visit in day.visits for c in (visit.arrive, visit.leave)}
            else None
        )
    dates = trip.request.dates()
    numbers = {
        len(day.visits),
        trip.request.days,
        trip.request.party,
        day.date.year,
        day.date.month,
        day.date.day,
    }
    numbers.add(dates.index(day.date) + 1 if day.date in dates else 1)
    bare = claim.words.strip(".,")
    return "" if bare.isdigit() and int(bare) in numbers else None


def _neighbour(claim: Claim, about: int | None, text: str, day: Day, names: Mapping[str, int]) -> str | None:
    rest = text[text.find(claim.name) :]
    whole = max((name for name in names if rest.startswith(name)), key=len, default=claim.name)
    other = _stop_named(whole, names)
    if other is None:
        return None
    if claim.sort == "after":
        if about is None or other < about:
            return ""
        return f"{day.visits[other].place.name} comes later"
    if about is None:
        return ""
    if other == about + 1:
        return ""
    follower = day.visits[about + 1].place.name if about + 1 < len(day.visits) else "nothing"
    return f"{follower} comes next"


def _names_of(stop: Stop, facts: Facts) -> tuple[str, ...]:
    place = facts.places.get(stop.id)
    return (stop.name, *((place.name, *place.also) if place else ()))


def _names(day: Day, facts: Facts) -> dict[str, int]:
    """The stops of a day by every name they have."""
    by_name: dict[str, int] = {}
    for at, visit in enumerate(day.visits):
        for name in _names_of(visit.place, facts):
            by_name.setdefault(name, at)
    return by_name


def _stop_named(name: str, names: Mapping[str, int]) -> int | None:
    best = max(names, key=lambda other: likeness(name, other), default=None)
    return names[best] if best is not None and likeness(name, best) >= GOOD_NAME else None


def _is_general(subject: str) -> bool:
    """Whether the subject of a sentence is a word such as "It" or "The museum", and no name."""
    words = subject.lower().split()
    return words[0] in ("it", "this", "the", "here", "entry", "admission", "lunch", "dinner", "breakfast")


def cut_false(guide: Sequence[DayGuide], false: Mapping[str, Sequence[str]]) -> tuple[DayGuide, ...]:
    """The guide without these sentences, by the path of their text; each day counts what it lost."""
    kept = []
    for number, day in enumerate(guide):
        base, lost = f"guide.{number}", 0

        def cleaned(text: str, path: str) -> str:
            nonlocal lost
            wrong = false.get(path, ())
            parts = sentences(text)
            good = [part for part in parts if part not in wrong]
            lost += len(parts) - len(good)
            return text if len(good) == len(parts) else ("" if is_japanese(text) else " ").join(good)

        intro = cleaned(day.intro, f"{base}.intro")
        stops = tuple(
            stop.model_copy(update={"text": cleaned(stop.text, f"{base}.stops.{at}")})
            for at, stop in enumerate(day.stops)
        )
        notes = tuple(cleaned(note, f"{base}.notes.{at}") for at, note in enumerate(day.notes))
        changed = {
            "intro": intro,
            "stops": tuple(stop for stop in stops if stop.text),
            "notes": tuple(note for note in notes if note),
            "cut": day.cut + lost,
        }
        kept.append(day.model_copy(update=changed))
    return tuple(kept)
