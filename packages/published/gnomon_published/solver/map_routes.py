"""Answers questions about routes by rules, such as the next turn, the fastest, what is passed."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gnomon_agents.models.reference.tool_results import Call
from gnomon_published.solver.map_places import Rows
from gnomon_published.solver.map_reading import MapEvidence, MapReading
from gnomon_published.solver.map_words import likest, nearest_option, number_in, span_minutes
from gnomon_tools.core.name_match import likeness, plain_name

MODE_WORDS: tuple[tuple[str, str], ...] = (
    ("foot", r"\b(?:walk\w*|on foot|by foot|hik\w+)\b"),
    ("bicycle", r"\b(?:bik\w+|bicycl\w*|cycl\w+|bike)\b"),
    ("transit", r"\b(?:public transport\w*|transit|train|bus|metro|subway|tram)\b"),
    ("car", r"\b(?:driv\w+|drove|car|taxi|cab)\b"),
)


_COUNTED: tuple[tuple[str, str], ...] = (  # what a question counts, and the steps that are of the kind
    (r"toll", r"toll"),
    (r"roundabout|traffic circle", r"roundabout|traffic circle"),
    (r"exit", r"\btake (?:the )?(?:\w+ )?exit\b|\bexit onto\b"),
    (r"u[- ]turn", r"u-turn"),
    (r"merge", r"\bmerge\b"),
    (r"turn.*left|left.*turn", r"^turn left|turns (?:slightly )?left"),
    (r"turn.*right|right.*turn", r"^turn right|turns (?:slightly )?right"),
    (r"left", r"\bleft\b"),
    (r"right", r"\bright\b"),
    (r"turn", r"^turn "),
)


def mode_in(text: str) -> str | None:
    """The first mode of travel that a text names."""
    hits = [(match.start(), mode) for mode, words in MODE_WORDS if (match := re.search(words, text.lower()))]
    return min(hits)[1] if hits else None


def routing(reading: MapReading, evidence: MapEvidence, contents: Mapping[str, Any]) -> str | None:
    """The answer to a question about routes; None where it is none."""
    ways = [row for row in contents["routes"] if isinstance(row, Mapping)]
    if not ways:
        return None
    way = _way_meant(reading, ways)
    ends = {key: way[key] for key in ("start", "end", "mode")}
    listed = evidence.ask("map_routes", "The routes there are.", **ends)
    if listed is None:
        return None
    routes: Rows = listed["routes"]
    text = reading.text.lower()
    via = _via_meant(reading, routes)
    if via is not None and not re.search(r"\bwhich (?:\w+ ){0,3}route\b", text):
        return _along(reading, evidence, ends, via)
    return _compared(reading, evidence, ends, routes)


def _way_meant(reading: MapReading, ways: Rows) -> Mapping[str, Any]:
    """The way whose mode the question names, and whose ends it has the words of."""
    mode = mode_in(re.sub(r"\bvia\b.*?[.?]", "", reading.text)) or "car"
    text = plain_name(reading.text)

    def fit(way: Mapping[str, Any]) -> tuple[int, bool]:
        words = plain_name(f"{way['start']} {way['end']}").split()
        return sum(word in text for word in words), way["mode"] == mode

    in_mode = [way for way in ways if way["mode"] == mode]
    return max(in_mode or ways, key=fit)


def _via_meant(reading: MapReading, routes: Rows) -> str | None:
    """The route that the question takes, by its roads; the most telling that the question names."""
    match = re.search(r"\bvia\b:? *(.*)", reading.text, re.IGNORECASE)
    if match is None:
        return None
    rest = plain_name(match[1])
    named = [str(route["via"]) for route in routes if plain_name(str(route["via"])) in rest[: len(rest)]]
    starts = [via for via in named if rest.startswith(plain_name(via))]
    return max(starts or named, key=len, default=None) or max(
        (str(route["via"]) for route in routes),
        key=lambda via: likeness(rest[: len(plain_name(via))], via),
        default=None,
    )


def _along(reading: MapReading, evidence: MapEvidence, ends: Mapping[str, Any], via: str) -> str | None:
    """A question about one route."""
    answer = evidence.ask("map_routes", "The directions of this route.", via=via, **ends)
    if answer is None:
        return None
    route = answer["routes"][0]
    steps: Rows = route.get("steps", ())
    text = reading.text.lower()
    if re.search(r"\bhow (?:many|much)\b|\bhow long\b|\bhow far\b", text):
        return _counted(reading, route, steps)
    reached = re.search(
        r"(?:after|once|when)\b.*?\b(?:reach\w*|arriv\w*(?: at)?|on|onto)\s+(.*?)(?:,|\bwhere\b|\bwhat\b|$)",
        reading.text,
        re.IGNORECASE,
    )
    return _after(reading, steps, reached[1]) if reached else None


def _after(reading: MapReading, steps: Rows, reached: str) -> str | None:
    """The option that says the step after a road was reached."""
    place = plain_name(
        re.sub(
            r"^(?:turn|slight|keep|continue)\w* (?:\w+ )?(?:onto|on) ",
            "",
            reached.strip(),
            flags=re.IGNORECASE,
        )
    )
    texts = [_direction(str(step["text"])) for step in steps]
    after = [
        texts[index + 1]
        for index, text in enumerate(texts[:-1])
        if place in plain_name(_onto(text)) or likeness(place, _onto(text)) > 0.85
    ]
    scored = {
        (name, index): likeness(option, text)
        for index, text in enumerate(after)
        for name, option in reading.options.items()
    }
    if not scored:
        return None
    name, index = max(scored, key=lambda key: (round(scored[key], 3), -key[1]))
    return name if scored[name, index] > 0.6 else None


def _direction(step: str) -> str:
    return re.sub(r" \((?:Pass by|Continue|Destination|Toll|Parts|Closed|Restricted|Partial|May).*", "", step)


def _onto(step: str) -> str:
    match = re.search(r"(?:onto|to stay on|to continue on|toward|becomes|on|at) (.*)", step)
    return match[1] if match else step


def _counted(reading: MapReading, route: Mapping[str, Any], steps: Rows) -> str | None:
    """How many steps of a kind there are, or how long the route takes or is."""
    text = reading.text.lower()
    texts = [str(step["text"]).lower() for step in steps]
    if re.search(r"\bhow (?:much time|long)\b", text):
        return _by_minutes(reading, _minutes(route))
    if "distance" in text or "how far" in text:
        return _by_metres(reading, _metres(route))
    kind = next((kind for word, kind in _COUNTED if re.search(word, text)), "")
    count = sum(bool(re.search(kind, step)) for step in texts)
    values = {name: number_in(option) for name, option in reading.options.items()}
    return nearest_option(reading.options, values, float(count))


def _minutes(route: Mapping[str, Any]) -> float | None:
    if route.get("duration_s") is not None:
        return float(route["duration_s"]) / 60
    parts = [step["duration_s"] for step in route.get("steps", ()) if step.get("duration_s") is not None]
    return sum(parts) / 60 if parts else None


def _metres(route: Mapping[str, Any]) -> float | None:
    if route.get("distance_m") is not None:
        return float(route["distance_m"])
    parts = [step["distance_m"] for step in route.get("steps", ()) if step.get("distance_m") is not None]
    return float(sum(parts)) if parts else None


def _by_minutes(reading: MapReading, minutes: float | None) -> str | None:
    if minutes is None:
        return None
    values = {name: span_minutes(option) for name, option in reading.options.items()}
    return nearest_option(reading.options, values, minutes)


def _by_metres(reading: MapReading, metres: float | None) -> str | None:
    if metres is None:
        return None
    values = {}
    for name, option in reading.options.items():
        number = number_in(option)
        unit = 1000.0 if "km" in option.lower() else 1609.344 if re.search(r"\bmi", option.lower()) else 1.0
        values[name] = None if number is None else number * unit
    return nearest_option(reading.options, values, metres)


def _compared(
    reading: MapReading, evidence: MapEvidence, ends: Mapping[str, Any], routes: Rows
) -> str | None:
    """A question that compares routes by time, length, or what their steps hold."""
    text = reading.text.lower()
    if any(_minutes(route) is None or _metres(route) is None for route in routes):
        calls = [Call("map_routes", {"via": str(route["via"]), **ends}) for route in routes]
        answers = evidence.ask_all(calls, "The directions of each route.")
        routes = [
            result["routes"][0] if result else route for result, route in zip(answers, routes, strict=True)
        ]
    is_most = bool(re.search(r"longest|maximum|slowest|farthest", text))
    by_length = bool(re.search(r"short|distance|longest|farthest", text)) and not re.search(
        r"(?:longest|shortest) time|least time", text
    )
    measure = _metres if by_length else _minutes
    measured = [(measure(route), index) for index, route in enumerate(routes) if measure(route) is not None]
    if not measured:
        return None
    _, index = (max if is_most else min)(measured, key=lambda pair: pair[0] or 0.0)
    chosen = routes[index]
    if re.search(r"how much time|how long|what time", text):
        return _by_minutes(reading, _minutes(chosen))
    if re.search(r"how (?:much|many|far)|(?:longest|shortest|total|maximum|minimum) distance", text) and all(
        number_in(option) is not None and "via" not in option.lower() for option in reading.options.values()
    ):
        return _by_metres(reading, _metres(chosen))
    return _by_name(reading, [str(chosen["via"])])


def _by_name(reading: MapReading, names: Sequence[str]) -> str | None:
    options = {
        name: re.sub(r"^\s*via ", "", option, flags=re.IGNORECASE) for name, option in reading.options.items()
    }
    same = next(
        (name for name, option in options.items() if plain_name(option) == plain_name(names[0])), None
    )
    return same or likest(names[0], options)
