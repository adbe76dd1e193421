"""Answers questions about places by rules, such as what one is like, which is nearest, how many fit."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from gnomon_agents.models.reference.tool_results import Call
from gnomon_published.solver.map_reading import MapEvidence, MapReading
from gnomon_published.solver.map_words import (
    clock_minutes,
    hours_of,
    is_open,
    likest,
    mentions,
    nearest_option,
    number_in,
    weekday_in,
)
from gnomon_tools.core.name_match import likeness, plain_name
from gnomon_tools.geometry.angles import EIGHTHS, turn_deg

Rows = Sequence[Mapping[str, Any]]

_ORDINALS = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5}
_FEATURES = ("breakfast", "lunch", "dinner", "brunch", "beer", "wine", "vegetarian")
_SERVICES = {
    "takeout": "takeout",
    "take out": "takeout",
    "dine in": "dine in",
    "dine-in": "dine in",
    "delivery": "delivery",
    "deliver": "delivery",
    "reserv": "reservable",
    "wheelchair": "wheelchair",
}


def straight_line(reading: MapReading, evidence: MapEvidence, names: Sequence[str]) -> str | None:
    """Distance and direction between two places, and pairs that are nearest or farthest."""
    text = reading.text.lower()
    if "pair" in text and ("closest" in text or "farthest" in text or "furthest" in text):
        return _pair(reading, evidence, names, farthest="closest" not in text)
    ends = list(dict.fromkeys(hit.name for hit in mentions(reading.text, names)))
    towards = next((word for word in EIGHTHS if re.search(rf"\b{word} of\b", text)), None)
    if towards and len(ends) >= 1:
        return _towards(reading, evidence, names, ends[0], towards)
    if len(ends) < 2:
        return None
    start, end = ends[:2]
    if re.search(r"direction of .* from", text):
        start, end = end, start
    line = evidence.ask("map_distance", "The straight line between the two.", start=start, end=end)
    if line is None:
        return None
    options = reading.options
    if "direction" in text:
        fitting = {
            name: option
            for name, option in options.items()
            if _heads(option) and _turn(_heads(option), line.get("bearing_deg")) <= 60
        }
        if "distance" not in text:
            by_turn = {
                name: _turn(_heads(option), line.get("bearing_deg")) for name, option in fitting.items()
            }
            return min(by_turn, key=lambda name: by_turn[name], default=None)
        options = fitting or options
    far_m = float(line["distance_m"])
    values = {name: _metres(option) for name, option in options.items()}
    return nearest_option(options, values, far_m)


def _heads(text: str) -> str:
    words = plain_name(text.replace("-", "")).split()
    joined = [*words, *(first + second for first, second in pairwise(words))]
    return next((word for word in reversed(EIGHTHS) if word in joined), "") or next(
        (word for word in EIGHTHS if word in joined), ""
    )


def _turn(direction: str, bearing_deg: float | None) -> float:
    if not direction or bearing_deg is None:
        return 180.0
    return abs(turn_deg(45 * EIGHTHS.index(direction), bearing_deg))


def _metres(text: str) -> float | None:
    match = re.search(r"(\d[\d.,]*)\s*(km|kilomet|mi|m)?", text.lower())
    if match is None or number_in(match[1]) is None:
        return None
    factor = {"km": 1000.0, "kilomet": 1000.0, "mi": 1609.344, "m": 1.0, None: 1.0}[match[2]]
    return (number_in(match[1]) or 0.0) * factor


def _pair(reading: MapReading, evidence: MapEvidence, names: Sequence[str], *, farthest: bool) -> str | None:
    pairs: dict[str, Call] = {}
    for option, text in reading.options.items():
        ends = list(dict.fromkeys(hit.name for hit in mentions(text, names)))
        if len(ends) >= 2:
            pairs[option] = Call("map_distance", {"start": ends[0], "end": ends[1]})
    lines = evidence.ask_all(list(pairs.values()), "How far apart each pair is.")
    far = {option: line["distance_m"] for option, line in zip(pairs, lines, strict=True) if line}
    return (max if farthest else min)(far, key=lambda option: far[option], default=None)


def _towards(
    reading: MapReading, evidence: MapEvidence, names: Sequence[str], centre: str, direction: str
) -> str | None:
    """The option that lies in a direction of a place."""
    places = _options_as_names(reading, [name for name in names if name != centre])
    if not places:
        return reading.unanswerable
    calls = [Call("map_distance", {"start": centre, "end": place}) for place in places.values()]
    lines = evidence.ask_all(calls, "Where each option lies.")
    turns = {
        option: _turn(direction, line.get("bearing_deg"))
        for option, line in zip(places, lines, strict=True)
        if line
    }
    if not turns:
        return reading.unanswerable
    best = min(turns, key=lambda option: turns[option])
    return best if turns[best] <= 60 else reading.unanswerable


def _options_as_names(reading: MapReading, names: Sequence[str]) -> dict[str, str]:
    places: dict[str, str] = {}
    for option, text in reading.options.items():
        best = max(names, key=lambda name: _alike(text, name), default=None)
        if best is not None and _alike(text, best) >= 0.6:
            places[option] = best
    return places


def _alike(option: str, name: str) -> float:
    """How alike an option and a name are; an option may add the address."""
    plain, head = plain_name(option), plain_name(re.split(r" [-|] |, ", option.strip())[0])
    name_plain, name_head = plain_name(name), plain_name(re.split(r" [-|] ", name)[0])
    starts = 0.95 if name_plain and plain.startswith(name_plain) else 0.0
    same_head = 0.95 if name_head and name_head == plain else 0.0
    return max(likeness(option, name), likeness(head, name), starts, same_head)


def one_place(reading: MapReading, evidence: MapEvidence, names: Sequence[str]) -> str | None:
    """What a place is like: rating, price level, opening hours, what it offers, its address."""
    hits = mentions(reading.text, names)
    name = max(hits, key=lambda hit: hit.end - hit.start).name if hits else ""
    answer = evidence.ask("map_place", "What is known of the place.", place=name) if name else None
    if answer is None:
        return None
    text = reading.text.lower()
    rows = [row for row in answer["places"] if isinstance(row, Mapping)]
    place = max(rows, key=lambda row: (len(row) > 2, likeness(str(row.get("address", "")), reading.text)))
    if "price" in text:
        return likest(str(place.get("price_level", "")), reading.options)
    if "rating" in text:
        return nearest_option(reading.options, _numbers(reading), float(place.get("rating") or 0))
    if "address" in text:
        return likest(str(place.get("address", "")), reading.options)
    is_so = _is_so(reading.text, place)
    return None if is_so is None else yes_or_no(reading, is_so)


def _is_so(question: str, place: Mapping[str, Any]) -> bool | None:
    """The answer to a yes-or-no question about a place; None for any other question."""
    text = question.lower()
    features = " ".join(map(str, place.get("features", ()))).lower()
    for word, feature in (*((word, f"serves {word}") for word in _FEATURES), *_SERVICES.items()):
        if word in text:
            return feature in features
    hours = hours_of(place)
    weekday = weekday_in(question)
    if weekday is None:
        return None
    times = clock_minutes(question)
    answer = is_open(hours, weekday, times[0] if times else None)
    return not answer if re.search(r"\bclosed\b", text) and answer is not None else answer


def yes_or_no(reading: MapReading, is_so: bool) -> str | None:
    """The name of the option that says yes, or no; None where there is none."""
    wanted = "yes" if is_so else "no"
    return next((name for name, text in reading.options.items() if plain_name(text) == wanted), None)


def _numbers(reading: MapReading) -> dict[str, float | None]:
    return {name: number_in(text) for name, text in reading.options.items()}


def nearby(reading: MapReading, evidence: MapEvidence, contents: Mapping[str, Any]) -> str | None:
    """Which listed place is nearest, or best, which fit, and how many do."""
    lists = [row for row in contents["nearby"] if isinstance(row, Mapping)]
    if not lists:
        return None
    listed = _list_meant(reading, lists)
    result = evidence.ask("map_nearby", "The places around.", around=listed["around"], kind=listed["kind"])
    if result is None:
        return None
    rows: Rows = [row for row in result["places"] if isinstance(row, Mapping)]
    text = reading.text.lower()
    if not rows or _beyond(reading, rows, str(result["around"])):
        return reading.unanswerable
    if _located(rows):
        rows = _by_distance(rows, evidence, str(result["around"])) or rows
    fitting = [row for row in rows if _fits(row, reading.text)]
    if re.search(r"\bhow many\b|\bnumber of\b", text):
        return nearest_option(reading.options, _numbers(reading), float(len(fitting)))
    if all("," in option for option in reading.options.values()) and re.search(
        r"\blist\b|\bwhich of the\b|\bwhich .* are\b", text
    ):
        return _best_list(reading, rows, fitting)
    if re.search(r"\b(?:best|highest|top|reputable|rated)\b", text) and "nearest" not in text:
        return _best_rated(reading, rows)
    return _by_rank(reading, fitting) or reading.unanswerable


def _beyond(reading: MapReading, rows: Rows, around: str) -> bool:
    """Whether a list of places cannot say what is asked: a side of a road, a direction, another area."""
    is_compass = any(word in reading.text.split() for word in ("north", "south", "east", "west"))
    area = re.search(r"\b([A-Z][\w’']+) area\b", reading.text)
    is_elsewhere = area is not None and not mentions(area[1], [around])
    is_on_a_way = re.search(r"\bon (?:my|the) way\b|\b(?:left|right) side\b", reading.text)
    return bool((is_compass and not _located(rows)) or is_elsewhere or is_on_a_way)


def _by_rank(reading: MapReading, fitting: Rows) -> str | None:
    """The option that is nearest, second nearest or farthest among those that fit."""
    text = reading.text.lower()
    ordinal = next((count for word, count in _ORDINALS.items() if re.search(rf"\b{word}\b", text)), 1)
    reverse = bool(re.search(r"\b(?:farthest|furthest)\b", text))
    return _first_option(reading, fitting[::-1] if reverse else fitting[ordinal - 1 :])


def _list_meant(reading: MapReading, lists: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The list whose kind and place the question has words of."""
    text = plain_name(reading.text)

    def words(listed: Mapping[str, Any]) -> float:
        kinds = [word.rstrip("s") for word in plain_name(str(listed["kind"])).split()]
        places = plain_name(str(listed["around"])).split()
        return 2 * sum(word[:5] in text for word in kinds) + sum(word in text for word in places)

    return max(lists, key=words)


def _located(rows: Rows) -> bool:
    return all(row.get("lat_deg") is not None for row in rows)


def _by_distance(rows: Rows, evidence: MapEvidence, around: str) -> Rows | None:
    """The places nearest first, with their distance, by positions; None where the middle's is not known."""
    answer = evidence.ask("map_place", "Where the middle is.", place=around)
    places = answer["places"] if answer else []
    middle = next((row for row in places if row.get("lat_deg") is not None), None)
    if middle is None:
        return None
    from geographiclib.geodesic import Geodesic  # late: few questions need it

    far = [
        Geodesic.WGS84.Inverse(middle["lat_deg"], middle["lon_deg"], row["lat_deg"], row["lon_deg"])["s12"]
        for row in rows
    ]
    order = sorted(range(len(rows)), key=lambda index: far[index])
    return [{**rows[index], "far_m": far[index]} for index in order]


def _fits(row: Mapping[str, Any], question: str) -> bool:
    """Whether a place meets the conditions that a question names."""
    text = question.lower()
    at_least_ratings = re.search(r"at least ([\d,]+)(?: total)?(?: user)? ratings", text) or re.search(
        r"(?:and|have|has|least|than) ([\d,]{3,}) (?:total )?(?:user )?ratings", text
    )
    if at_least_ratings and (row.get("ratings") or 0) < (number_in(at_least_ratings[1]) or 0):
        return False
    rating = re.search(
        r"(?:at least|minimum|above|over|than)(?: a)?(?: rating of)? ([1-5](?:\.\d)?)\b"
        r"(?! (?:km|m|min|hour))",
        text,
    )
    if rating and "rating" in text and float(row.get("rating") or 0) < float(rating[1]):
        return False
    price = re.search(r"\b(?:very expensive|inexpensive|expensive|moderate)", text)
    if price and str(row.get("price_level")).lower() != price[0]:
        return False
    radius = re.search(r"([\d.]+)\s*(km|m|meters?|metres?)\b(?= radius| of| from|$)", text) or re.search(
        r"within (?:a )?([\d.]+)\s*(km|m|meters?|metres?)\b", text
    )
    if radius and row.get("far_m") is not None:
        limit_m = float(radius[1]) * (1000 if radius[2] == "km" else 1)
        if row["far_m"] > limit_m:
            return False
    weekday = weekday_in(question)
    if weekday:
        times = clock_minutes(question)
        is_shut = is_open(hours_of(row), weekday, times[0] if times else None) is False
        return is_shut is ("closed" in text)
    return True


def _best_list(reading: MapReading, rows: Rows, fitting: Rows) -> str | None:
    """The option that lists the most places which fit, and none that does not."""
    good = {plain_name(str(row["name"])) for row in fitting}
    every = {plain_name(str(row["name"])) for row in rows}
    scores = {}
    for option, text in reading.options.items():
        members = [plain_name(part) for part in re.split(r", | and ", text) if part.strip()]
        right = sum(member in good for member in members)
        wrong = sum(member in every and member not in good for member in members)
        scores[option] = right - 2 * wrong - 0.5 * (len(members) - right - wrong)
    return max(scores, key=lambda option: scores[option], default=None)


def _best_rated(reading: MapReading, rows: Rows) -> str | None:
    listed = {option: row for option in reading.options for row in [_row_of(reading, option, rows)] if row}
    rated = {option: float(row["rating"]) for option, row in listed.items() if row.get("rating")}
    return max(rated, key=lambda option: rated[option]) if rated else reading.unanswerable


def _row_of(reading: MapReading, option: str, rows: Rows) -> Mapping[str, Any] | None:
    text = reading.options[option]
    return next((row for row in rows if _alike(text, str(row["name"])) >= 0.9), None)


def _first_option(reading: MapReading, rows: Rows) -> str | None:
    ranks = {}
    for option in reading.options:
        row = _row_of(reading, option, rows)
        if row is not None:
            ranks[option] = next(index for index, other in enumerate(rows) if other is row)
    return min(ranks, key=lambda option: ranks[option], default=None)
