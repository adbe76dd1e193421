"""Answers questions about places by rules for their kinds, from the evidence alone."""

import re

from gnomon.core.ids import stable_seed
from gnomon.core.model import Request
from gnomon_published.solver.map_places import nearby, one_place, straight_line
from gnomon_published.solver.map_reading import MapEvidence, MapReading, read_map_question
from gnomon_published.solver.map_routes import routing
from gnomon_published.solver.map_trips import trip

_STRAIGHT = re.compile(
    r"straight[- ]line|\bdirection\b|\bpair of\b|\bdirectly (?:north|south|east|west)\b|\bsituated between\b"
    r"|\b(?:north|south|east|west) of\b|\bbetween .* and\b",
    re.IGNORECASE,
)

_ATTRIBUTE = re.compile(
    r"\bprice level\b|\brating of\b|\bserves?\b|\breserv|\bwheelchair\b|\btake-?out\b|\bdine-in\b|\bdeliver"
    r"|^(?:is|can i visit|does|are)\b",
    re.IGNORECASE,
)


def answer_map_question(request: Request) -> str:
    """The reply to a question about places, as far as the evidence goes.

    Raises:
        Need: tools that are offered must be called first.
    """
    reading = read_map_question(request.messages)
    evidence = MapEvidence(request)
    choice = _choice(reading, evidence) if evidence.is_there else None
    if choice:
        return reading.reply(choice, "This is what the map data give.")
    order = sorted(reading.options, key=lambda name: stable_seed(reading.text, reading.options[name]))
    return reading.reply(order[0] if order else reading.unanswerable, "This is a guess.")


def _choice(reading: MapReading, evidence: MapEvidence) -> str | None:
    """The option that the rules for the question's kind choose, or that says unanswerable where none does;
    None where nothing can be looked up.
    """
    contents = evidence.ask("map_contents", "What there is to look up.")
    if contents is None:
        return None
    names = [str(name) for name in contents["places"]]
    text = reading.text.lower()
    if _ATTRIBUTE.search(reading.text) and not re.search(r"\bnear(?:est|by)?\b|\bhow many\b", text):
        choice = one_place(reading, evidence, names)
        if choice:
            return choice
    if contents["routes"] and (
        re.search(r"\broute|\bvia\b|\bdriv|\bon my way\b", text) or not contents["travel_between"]
    ):
        choice = routing(reading, evidence, contents)
        if choice:
            return choice
    if _STRAIGHT.search(reading.text) and not contents["routes"]:
        choice = straight_line(reading, evidence, names) if not contents["nearby"] else None
        if choice:
            return choice
    if contents["travel_between"]:
        choice = trip(reading, evidence, contents)
        if choice:
            return choice
    if contents["nearby"]:
        choice = nearby(reading, evidence, contents)
        if choice:
            return choice
    return one_place(reading, evidence, names) or reading.unanswerable
