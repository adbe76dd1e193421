"""Answers questions about rooms by one or two calls for each type."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from gnomon.core.ids import stable_seed
from gnomon.core.model import Request
from gnomon_rooms.solver.reading import BoxEvidence, RoomReading, read_room_question

USUAL = {
    "metres": "2",
    "centimetres": "100",
    "objects": "2",
    "square metres": "20",
}  # guesses in round numbers


def answer_room_question(request: Request) -> str:
    """The reply to a question about a room, as far as the evidence goes.

    Raises:
        Need: tools that are offered must be called first.
    """
    reading, evidence = read_room_question(request.messages), BoxEvidence(request)
    for pattern, way in WAYS.items():
        if re.search(pattern, reading.text):
            try:
                found = way(reading, evidence)
            except (LookupError, ValueError):  # results that say something else than these tools do
                found = None
            if found is not None:
                return reading.reply(found, "This is what the boxes give.")
    if reading.options:
        order = sorted(reading.options, key=lambda letter: stable_seed(reading.text, reading.options[letter]))
        return reading.reply(order[0], "This is a guess.")
    unit = re.search(r"How many (square metres|metres|centimetres|objects)", reading.text)
    return reading.reply(USUAL[unit[1] if unit else "objects"], "This is a guess.")


def _distance(reading: RoomReading, evidence: BoxEvidence) -> str | None:
    first, second = reading.quoted
    found = evidence.ask("box_distance", "How far apart they are.", first=first, second=second)
    return f"{found['distance_m']:.2f}"


def _size(reading: RoomReading, evidence: BoxEvidence) -> str | None:
    found = evidence.ask("box_extent", "How large it is.", name=reading.quoted[0])
    return f"{100 * found['longest_m']:.1f}"


def _count(reading: RoomReading, evidence: BoxEvidence) -> str | None:
    found = evidence.ask("box_list", "How many there are.", kind=reading.quoted[0])
    return str(found["total"])


def _count_within(reading: RoomReading, evidence: BoxEvidence) -> str | None:
    radius = re.search(r"within ([\d.]+) m", reading.text)
    kind, near = reading.quoted
    if radius is None:
        return None
    found = evidence.ask(
        "box_count", "How many are so near.", kind=kind, near=near, radius_m=float(radius[1])
    )
    return str(found["count"])


def _closest(reading: RoomReading, evidence: BoxEvidence) -> str | None:
    among = list(reading.options.values())
    found = evidence.ask("box_nearest", "Which is nearest.", to=reading.quoted[0], among=among)
    return reading.letter(found["nearest"][0]["asked"])


def _midpoint(reading: RoomReading, evidence: BoxEvidence) -> str | None:
    first, second = reading.quoted
    among = list(reading.options.values())
    found = evidence.ask("box_midpoint", "Which is nearest.", first=first, second=second, among=among)
    return reading.letter(found["nearest"][0]["name"])


def _view(reading: RoomReading, evidence: BoxEvidence) -> str | None:
    at, towards = reading.quoted
    among = list(reading.options.values())
    found = evidence.ask("box_view", "What is in view.", at=at, towards=towards, fov_deg=90.0, among=among)
    return reading.letter(found["in_view"][0]["name"])


def _direction(reading: RoomReading, evidence: BoxEvidence) -> str | None:
    at, towards, of = reading.quoted
    found = evidence.ask("box_direction", "Where it lies.", at=at, towards=towards, of=of)
    answers: Mapping[str, Any] = {"quarter": found["quarter"], "side": found["side"]}
    if found["is_behind"] and reading.letter("behind"):
        return reading.letter("behind")
    return reading.letter(answers["quarter"]) or reading.letter(answers["side"])


def _fit(reading: RoomReading, evidence: BoxEvidence) -> str | None:
    what, first, second = reading.quoted
    size = evidence.ask("box_extent", "How wide it is.", name=what)
    gap = evidence.ask("box_distance", "How wide the gap is.", first=first, second=second)
    return reading.letter("yes" if size["width_m"] < gap["gap_m"] else "no")


WAYS: Mapping[str, Callable[[RoomReading, BoxEvidence], str | None]] = {
    r"^How many metres apart": _distance,
    r"^How many centimetres long": _size,
    r"in the room\?$": _count,
    r"have their centre within": _count_within,
    r"is closest to": _closest,
    r"closest to the point halfway": _midpoint,
    r"field of view": _view,
    r"^Someone stands at .* and faces": _direction,
    r"pass between the boxes": _fit,
}
