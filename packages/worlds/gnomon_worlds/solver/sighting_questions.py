"""Answers who can have been where: puts sightings on the ground, measures the ways, compares the times."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from gnomon.core.ids import stable_seed
from gnomon.core.message import Message
from gnomon.core.model import Request
from gnomon_agents.models.reference.tool_results import (
    Call,
    Result,
    read_evidence,
    texts_of,
)
from gnomon_published.solver.clips.question import span_s

_SIGHTING = re.compile(r"^Sighting (\d+): camera (\S+), .*?, (\S+)$", re.MULTILINE)
_BOX = re.compile(r"box x=(-?[\d.]+) y=(-?[\d.]+) w=([\d.]+) h=([\d.]+)")
_TOP = re.compile(r"faster than ([\d.]+) m/s")
OPTION = re.compile(r"^([A-E])\. (.*)$", re.MULTILINE)

Box = tuple[float, ...]
Location = Mapping[str, Any]  # what the tools take: a place, or x_m, y_m and floor
Ask = Callable[[Sequence[Call], str], list[Result | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What a camera saw: seconds from midnight, and boxes at its first and last moment."""

    camera: str
    start_s: float
    end_s: float
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SightingQuestion:
    """The sightings, what is asked of them, its options by letter, and the highest speed."""

    text: str
    sightings: tuple[Sighting, ...]
    options: Mapping[str, str]
    top_mps: float


def read_sighting_question(messages: Sequence[Message]) -> SightingQuestion | None:
    """The question of such messages; None where they ask something else."""
    texts = texts_of(messages)
    asked = next((text for text in texts if text.startswith("Question: ") and _TOP.search(text)), None)
    if asked is None or "sighting" not in asked:
        return None
    top = _TOP.search(asked)
    return SightingQuestion(
        text=asked.partition("\nOptions:")[0],
        sightings=tuple(sighting for text in texts if (sighting := sighting_in(text))),
        options=dict(OPTION.findall(asked)),
        top_mps=float(top[1]) if top else 0.0,
    )


def sighting_in(text: str) -> Sighting | None:
    """The sighting that a text tells; None: it tells none."""
    head = _SIGHTING.search(text)
    span = span_s(head[3]) if head else None
    if head is None or span is None:
        return None
    boxes = tuple(tuple(float(number) for number in numbers) for numbers in _BOX.findall(text))
    return Sighting(camera=head[2], start_s=span[0], end_s=span[1], boxes=boxes)


def answer_sighting_question(question: SightingQuestion, request: Request) -> str:
    """The reply, as far as the evidence goes.

    Raises:
        Need: tools that are offered must be called first.
    """
    ask = read_evidence(request).ask
    pairs = _pairs(question)
    ways_m = _ways_m(question, pairs, ask) if pairs else None
    words = None if ways_m is None else _chosen(question, pairs, ways_m)
    why = f"So the ways and the times say, at {question.top_mps:g} m/s at most."
    return lettered(words, question.options, why, seed=(question.text, str(question.sightings)))


def lettered(words: str | None, options: Mapping[str, str], why: str, *, seed: Sequence[str]) -> str:
    """The reply that names the option of these words; a guess where there are none."""
    letter = next((letter for letter, text in options.items() if text == words), None)
    if letter is None:
        order = sorted(options, key=lambda each: stable_seed(*seed, each))
        return _reply(order[0] if order else "A", "I cannot measure this. This is a guess.")
    return _reply(letter, why)


def _pairs(question: SightingQuestion) -> list[tuple[int, int]]:
    """The pairs of sightings, by index, whose ways decide."""
    count = len(question.sightings)
    if "at least" in question.text:
        return list(combinations(range(count), 2))
    return [(0, later) for later in range(1, count)]


def _ways_m(question: SightingQuestion, pairs: Sequence[tuple[int, int]], ask: Ask) -> list[float] | None:
    """The shortest way of each pair, from where the first left the view; None where one is not known."""
    ends = ends_of(question.sightings, ask)
    if ends is None:
        return None
    return lengths_m([(ends[first][-1], ends[later][0]) for first, later in pairs], ask)


def ends_of(sightings: Sequence[Sighting], ask: Ask) -> list[list[Location]] | None:
    """Where each sighting began and ended, as the tools take places; None where one is not known.

    Raises:
        Need: the tools have not been asked yet.
    """
    calls = [
        Call(
            "project_track",
            {
                "camera": each.camera,
                "boxes": [list(box) for box in each.boxes],
                "times_s": [each.start_s, each.end_s],
            },
        )
        for each in sightings
    ]
    tracks = ask(calls, "I put the sightings on the ground.")
    ends: list[list[Location]] = [
        [{"x_m": x_m, "y_m": y_m, "floor": track["floor"]} for x_m, y_m in track["points_m"]]
        for track in tracks
        if track is not None
    ]
    return ends if len(ends) == len(tracks) else None


def lengths_m(pairs: Sequence[tuple[Location, Location]], ask: Ask) -> list[float] | None:
    """The shortest way of each pair of places; None where one is not known.

    Raises:
        Need: the tools have not been asked yet.
    """
    calls = [Call("distance", {"start": start, "end": end}) for start, end in pairs]
    ways = ask(calls, "How long are the ways between them?")
    known_m = [float(way["path_m"]) for way in ways if way is not None and way.get("path_m") is not None]
    return known_m if len(known_m) == len(ways) else None


def _chosen(
    question: SightingQuestion, pairs: Sequence[tuple[int, int]], ways_m: Sequence[float]
) -> str | None:
    """The words of the option that the ways and times say is right."""
    seen = question.sightings
    going = [
        (first, later)
        for (first, later), way_m in zip(pairs, ways_m, strict=True)
        if way_m / question.top_mps <= seen[later].start_s - seen[first].end_s
    ]
    if "at least" in question.text:
        return str(len(seen) - _joined(len(seen), going))
    if "exactly one" in question.text:
        return f"sighting {going[0][1] + 1}" if len(going) == 1 else _starting(question, "it cannot")
    return _starting(question, "yes" if going else "no")


def _starting(question: SightingQuestion, words: str) -> str | None:
    return next((text for text in question.options.values() if text.startswith(words)), None)


def _joined(count: int, going: Sequence[tuple[int, int]]) -> int:
    """How many sightings can be another's next at most: a matching, by augmenting paths (Kuhn)."""
    before: dict[int, int] = {}

    def augment(first: int, tried: set[int]) -> bool:
        for start, later in going:
            if start == first and later not in tried:
                tried.add(later)
                if later not in before or augment(before[later], tried):
                    before[later] = first
                    return True
        return False

    return sum(augment(first, set()) for first in range(count))


def _reply(letter: str, why: str) -> str:
    return f"{why}\n{json.dumps({'answer': letter})}"
