"""Answers questions about trips by rules, such as sums of travel times, stays and opening hours."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from typing import Any

from gnomon_agents.models.reference.tool_results import Call
from gnomon_published.solver.map_places import yes_or_no
from gnomon_published.solver.map_reading import MapEvidence, MapReading
from gnomon_published.solver.map_routes import MODE_WORDS, mode_in
from gnomon_published.solver.map_words import (
    Mention,
    clock_minutes,
    hours_of,
    mentions,
    nearest_option,
    number_in,
    span_minutes,
    spans_in,
    weekday_in,
)
from gnomon_tools.core.name_match import plain_name

_BACK = re.compile(
    r"\b(?:return\w*|back|come back|go back)\b(?! to (?!my\b|the (?:hotel|airport|start)|home))",
    re.IGNORECASE,
)
_DEADLINE = re.compile(
    r"(?:start|leave|begin|set off|depart)\b.*\b(?:to|so|and|if)\b"
    r".*\b(?:finish|by|before|reach|arrive|catch|end)"
    r"|what time (?:should|do|must) i (?:start|leave|depart)|latest"
)
_NUMBER_WORDS = {"none": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
CLOSE_KM = 0.06
CLOSE_MIN = 1.0  # an option that is further off than rounding allows is not meant


@dataclass(frozen=True, slots=True, kw_only=True)
class Journey:
    """The places in their order, the mode of each way, the stay at each place, and whether it goes back."""

    places: tuple[str, ...]
    modes: tuple[str | None, ...]
    stays: Mapping[str, float]


def trip(reading: MapReading, evidence: MapEvidence, contents: Mapping[str, Any]) -> str | None:
    """The answer to a question about a trip; None where it is none."""
    names = [str(name) for name in contents["travel_between"]]
    if not names:
        return None
    hits = mentions(reading.text, names)
    if not hits:
        return None
    modes = [str(mode) for mode in contents["travel_modes"]]
    text = reading.text.lower()
    if re.search(r"how many (?:places|of|attractions|spots)|number of places", text):
        return _most_places(reading, evidence, hits, modes)
    readings = _readings(_with_modes(reading.text, _in_time(hits, reading.text), modes, hits))
    for way, within in ((way, within) for within in (CLOSE_MIN, None) for way in readings):
        legs = _legs(evidence, way)
        choice = _timed(reading, evidence, way, legs, within) if legs else None
        if choice:
            return choice
    return None


def _readings(journey: Journey) -> list[Journey]:
    """The journey, and the same read otherwise: with the way back, or without it."""
    home, modes = journey.places[0], journey.modes
    if len(journey.places) > 2 and journey.places[-1] == home:
        return [journey, replace(journey, places=journey.places[:-1], modes=modes[:-1])]
    if len(journey.places) < 2:
        return []
    return [journey, replace(journey, places=(*journey.places, home), modes=(*modes, modes[-1]))]


def _in_time(hits: Sequence[Mention], text: str) -> list[Mention]:
    """Mentions as visits: each once, but for the first, to which a journey may return."""
    visits: list[Mention] = []
    for hit in hits:
        if visits and visits[-1].name == hit.name:
            continue
        known = [visit.name for visit in visits]
        if hit.name in known and hit.name != known[0]:
            continue
        if hit.name in known and not _BACK.search(text):
            continue
        visits.append(hit)
    back = _BACK.search(text)
    if back and visits and visits[-1].name != visits[0].name and back.start() > visits[-1].start - 40:
        visits.append(Mention(back.start(), back.end(), visits[0].name))
    return visits


def _with_modes(
    text: str, visits: Sequence[Mention], modes: Sequence[str], hits: Sequence[Mention]
) -> Journey:
    """The mode of each way: named before its end ("walk to"), or behind it ("by car")."""
    usual = modes[0] if len(modes) == 1 else None
    named = [
        (match.start(), match.end(), mode)
        for mode, words in MODE_WORDS
        for match in re.finditer(words, text.lower())
    ]
    by_leg: list[str | None] = []
    for index, (start, end) in enumerate(pairwise(visits)):
        behind = visits[index + 2].start if index + 2 < len(visits) else len(text)
        before = [hit for hit in named if start.end <= hit[0] < end.start]
        after = [hit for hit in named if end.end <= hit[0] < behind]
        here = [hit for hit in before if index > 0 and not _follows(text, hit)]
        trailing = [hit for hit in after if _follows(text, hit)]
        first = [hit for hit in before if index == 0]
        chosen = here[-1:] or trailing[:1] or first[-1:]
        by_leg.append(chosen[0][2] if chosen else None)
    overall = usual or mode_in(text)
    known = [mode if mode in modes else None for mode in by_leg]
    filled = tuple(mode or (overall if overall in modes else usual) for mode in known)
    return Journey(places=tuple(visit.name for visit in visits), modes=filled, stays=_stays(text, hits))


def _follows(text: str, hit: tuple[int, int, str]) -> bool:
    """Whether a mode is named behind the place that it leads to."""
    if re.match(r"(?:on|by) foot|public", text[hit[0] :].lower()):
        return True
    return bool(
        re.search(
            r"(?:by|on|via|using|with|take|use|in|own)\s*(?:my |a |the |own )*$", text[: hit[0]].lower()[-14:]
        )
    )


def _stays(text: str, hits: Sequence[Mention]) -> dict[str, float]:
    """How long is stayed at each place: a length of time belongs to the place before it, or else behind."""
    stays: dict[str, float] = {}
    for start, end, minutes in spans_in(text):
        around = text[max(0, start - 60) : end + 30].lower()
        if re.search(r"\bhave $", text[:start].lower()) or re.match(r" (?:available|in total)", text[end:]):
            continue
        before = [hit for hit in hits if hit.end <= start]
        behind = [hit for hit in hits if hit.start >= end]
        joined = behind and re.match(
            r"\s*(?:at|visit to|visit at|walk in|in|exploring|with|for)?\s*(?:the |a )?$",
            text[end : behind[0].start].lower(),
        )
        spot = behind[0] if joined else before[-1] if before else behind[0] if behind else None
        if spot is not None and "radius" not in around:
            stays[spot.name] = stays.get(spot.name, 0.0) + minutes
    return stays


def _legs(evidence: MapEvidence, journey: Journey) -> list[Mapping[str, Any]] | None:
    """The ways of a journey, one after the other; None where one is not known."""
    calls = [
        Call("map_travel", {"start": start, "end": end, **({"mode": mode} if mode else {})})
        for (start, end), mode in zip(pairwise(journey.places), journey.modes, strict=True)
    ]
    if not calls:
        return None
    answers = evidence.ask_all(calls, "The ways of the journey.")
    back = {
        index: Call(
            "map_travel", {**call.arguments, "start": call.arguments["end"], "end": call.arguments["start"]}
        )
        for index, (call, result) in enumerate(zip(calls, answers, strict=True))
        if result is None
    }
    for index, result in zip(back, evidence.ask_all(list(back.values()), "The ways back."), strict=True):
        answers[index] = result
    legs = [result["ways"][0] for result in answers if result and result["ways"]]
    return legs if len(legs) == len(calls) else None


def _timed(
    reading: MapReading,
    evidence: MapEvidence,
    journey: Journey,
    legs: Sequence[Mapping[str, Any]],
    within: float | None,
) -> str | None:
    """The option that the times or lengths add up to; None where none is as near as `within` minutes."""
    options = reading.options
    times = clock_minutes(reading.text)
    clocks = {name: clock_minutes(option) for name, option in options.items()}
    if {plain_name(option) for option in options.values()} == {"yes", "no"}:
        return _before_closing(reading, evidence, journey, _minutes(legs), times)
    if all(clocks.values()):
        wanted = _moment(reading, evidence, journey, legs, times)
        values: dict[str, float | None] = {name: float(clock[0]) for name, clock in clocks.items()}
        return None if wanted is None else nearest_option(options, values, wanted, within)
    if "distance" in reading.text.lower() and all(
        re.search(r"\d\s*k?m\b", text) for text in options.values()
    ):
        far = {
            name: (number_in(text) or 0.0) * (1 if "km" in text else 0.001) for name, text in options.items()
        }
        length_km = sum(float(leg["distance_m"]) for leg in legs) / 1000
        return nearest_option(options, far, length_km, None if within is None else CLOSE_KM)
    lengths = {name: span_minutes(option) for name, option in options.items()}
    for wanted in _sums(reading.text.lower(), journey, legs, times):
        choice = nearest_option(options, lengths, wanted, within)
        if choice:
            return choice
    return None


def _minutes(legs: Sequence[Mapping[str, Any]]) -> float:
    return sum(float(leg["duration_s"]) for leg in legs) / 60


def _sums(
    text: str, journey: Journey, legs: Sequence[Mapping[str, Any]], times: Sequence[int]
) -> Iterator[float]:
    """The lengths of time that a question may ask for, the likeliest first."""
    travel, stays = _minutes(legs), sum(journey.stays.values())
    if len(times) >= 2 and re.search(
        r"free time|maximum time|time (?:can i|do i have|will i have|left)|how much time can", text
    ):
        end = next((time for time in times[1:] if time > times[0]), times[-1])
        before = _minutes(legs[:-1]) if re.search(r"leav\w+ at", text) else travel
        yield end - times[0] - before - stays + journey.stays.get(journey.places[-1], 0.0)
    yield from (travel, travel + stays)


def _moment(
    reading: MapReading,
    evidence: MapEvidence,
    journey: Journey,
    legs: Sequence[Mapping[str, Any]],
    times: Sequence[int],
) -> float | None:
    """The clock time that a question asks for: when to start, to leave, or when one arrives."""
    text = reading.text.lower()
    travel, stays = sum(float(leg["duration_s"]) for leg in legs) / 60, sum(journey.stays.values())
    last = journey.places[-1]
    if re.search(r"latest|before (?:it|the \w+) closes|before closing", text) and "clos" in text:
        closes = _closing(evidence, last, weekday_in(reading.text))
        if closes is None:
            return None
        leaves = re.search(
            r"latest .*?(?:leave|depart from) (.*?)(?: to | so |,|\?|$)", reading.text, re.IGNORECASE
        )
        left = mentions(leaves[1], journey.places) if leaves else []
        if left and left[0].name in journey.places[1:]:
            index = journey.places.index(left[0].name)
            rest = sum(float(leg["duration_s"]) for leg in legs[index:]) / 60
            return closes - rest - sum(journey.stays.get(name, 0.0) for name in journey.places[index + 1 :])
        return closes - travel - stays
    if times and _DEADLINE.search(text):
        return times[-1] - travel - stays
    if times:
        arrives = times[0] + travel + sum(journey.stays.get(name, 0.0) for name in journey.places[:-1])
        opens = _opening(evidence, last, weekday_in(reading.text))
        if re.search(r"what time can i (?:visit|enter|see)|can i visit", text) and opens is not None:
            return max(arrives, opens)
        return arrives + (
            journey.stays.get(last, 0.0) if re.search(r"finish|end|complete|leave", text) else 0.0
        )
    return None


def _day_spans(evidence: MapEvidence, name: str, weekday: str | None) -> Sequence[tuple[int, int]] | None:
    """The opening hours of a place on a day; on most days where none is named."""
    answer = evidence.ask("map_place", "When it is open.", place=name)
    hours = hours_of(answer["places"][0]) if answer and answer["places"] else {}
    if weekday:
        return hours.get(weekday)
    spans = [tuple(day) for day in hours.values() if day]
    return max(spans, key=spans.count) if spans else None


def _closing(evidence: MapEvidence, name: str, weekday: str | None) -> float | None:
    spans = _day_spans(evidence, name, weekday)
    return float(spans[-1][1]) if spans else None


def _opening(evidence: MapEvidence, name: str, weekday: str | None) -> float | None:
    spans = _day_spans(evidence, name, weekday)
    return float(spans[0][0]) if spans else None


def _before_closing(
    reading: MapReading, evidence: MapEvidence, journey: Journey, travel: float, times: Sequence[int]
) -> str | None:
    """Whether the stay at the last place ends before it closes, or before a time that is named."""
    if not times:
        return None
    ends = times[0] + travel + sum(journey.stays.values())
    if len(times) > 1:
        return yes_or_no(reading, ends <= times[-1])
    spans = _day_spans(evidence, journey.places[-1], weekday_in(reading.text))
    if spans is None:
        return None
    arrives = ends - journey.stays.get(journey.places[-1], 0.0)
    return yes_or_no(reading, any(start <= arrives and ends <= end for start, end in spans))


def _most_places(
    reading: MapReading, evidence: MapEvidence, hits: Sequence[Mention], modes: Sequence[str]
) -> str | None:
    """The most places that fit in the time there is, in the best order, each with its stay and open."""
    names = list(dict.fromkeys(hit.name for hit in hits))
    stays = _stays(reading.text, hits)
    home, places = names[0], [name for name in names[1:] if name in stays]
    budget = re.search(r"i have ([\d.]+|\w+) (?:hours?|hrs?)", reading.text.lower()) or re.search(
        r"([\d.]+) hours? (?:available|in total|free)", reading.text.lower()
    )
    minutes = span_minutes(f"{budget[1]} hours") if budget else None
    if minutes is None or not places:
        return None
    mode = mode_in(reading.text)
    mode = mode if mode in modes else modes[0]
    table = evidence.ask("map_travel_table", "All ways among the places.", places=[home, *places], mode=mode)
    if table is None:
        return None
    ways = {(way["start"], way["end"]): float(way["duration_s"]) / 60 for way in table["ways"]}
    times = clock_minutes(reading.text)
    start = float(times[0]) if times else 0.0
    hours = {name: _day_spans(evidence, name, weekday_in(reading.text)) if times else None for name in places}
    best = 0
    for count in range(1, len(places) + 1):
        orders = permutations(places, count)
        if any(_end(home, order, start, ways, stays, hours) <= start + minutes for order in orders):
            best = count
    values = {}
    for name, option in reading.options.items():
        word = plain_name(option).split()[0] if plain_name(option) else ""
        number = number_in(option)
        values[name] = (
            float(len(places))
            if word == "all"
            else float(_NUMBER_WORDS[word])
            if word in _NUMBER_WORDS
            else number
        )
    return nearest_option(reading.options, values, float(best))


def _end(
    home: str,
    order: Sequence[str],
    start: float,
    ways: Mapping[tuple[str, str], float],
    stays: Mapping[str, float],
    hours: Mapping[str, Sequence[tuple[int, int]] | None],
) -> float:
    """When the last stay ends, in minutes; each begins when the place is open, and ends before it closes."""
    clock = start
    for pair in pairwise((home, *order)):
        clock += ways.get(pair, math.inf)
        spans, stay = hours[pair[1]], stays.get(pair[1], 0.0)
        if spans is not None:
            begins = [max(clock, opens) for opens, closes in spans if max(clock, opens) + stay <= closes]
            clock = min(begins, default=math.inf)
        clock += stay
    return clock
