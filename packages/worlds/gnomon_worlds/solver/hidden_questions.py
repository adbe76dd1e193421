"""Answers questions about bodies out of sight by measuring the ways and trying who can have come where."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from gnomon.core.message import Message
from gnomon.core.model import Request
from gnomon_agents.models.reference.tool_results import (
    read_evidence,
    texts_of,
)
from gnomon_published.solver.clips.question import span_s
from gnomon_worlds.solver.sighting_questions import (
    OPTION,
    Ask,
    Location,
    Sighting,
    ends_of,
    lengths_m,
    lettered,
    sighting_in,
)

_SPEEDS = re.compile(r"at ([\d.]+) to ([\d.]+) m/s on average")
_WENT = re.compile(r"After sightings ([\d, and]+?) (?:two|three) ")
_ASKED = re.compile(r"of sighting (\d)")
_CAME = re.compile(r"one of the two was the \w+ of sighting (\d)")
_MOMENT = re.compile(r"At (\S+) it was")


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenQuestion:
    """The sightings, how many of them ended with a body out of sight, what is asked, and the bounds."""

    text: str
    sightings: tuple[Sighting, ...]
    went: int
    options: Mapping[str, str]
    slow_mps: float
    top_mps: float

    def is_possible(self, way_m: float, seconds: float) -> bool:
        """Whether one can have gone a way in a time."""
        return way_m / self.top_mps <= seconds <= way_m / self.slow_mps


def read_hidden_question(messages: Sequence[Message]) -> HiddenQuestion | None:
    """The question of such messages; None where they ask something else."""
    texts = texts_of(messages)
    asked = next((text for text in texts if text.startswith("Question: ") and _SPEEDS.search(text)), None)
    speeds = _SPEEDS.search(asked) if asked else None
    if asked is None or speeds is None:
        return None
    went = _WENT.search(asked)
    return HiddenQuestion(
        text=asked.partition("\nOptions:")[0],
        sightings=tuple(sighting for text in texts if (sighting := sighting_in(text))),
        went=len(re.findall(r"\d", went[1])) if went else 1,
        options=dict(OPTION.findall(asked)),
        slow_mps=float(speeds[1]),
        top_mps=float(speeds[2]),
    )


def answer_hidden_question(question: HiddenQuestion, request: Request) -> str:
    """The reply, as far as the evidence goes.

    Raises:
        Need: tools that are offered must be called first.
    """
    ask = read_evidence(request).ask
    moment = _MOMENT.search(question.text)
    words = _passed(question, moment[1], ask) if moment else _told_apart(question, ask)
    why = f"So the ways and the times say, at {question.slow_mps:g} to {question.top_mps:g} m/s."
    return lettered(words, question.options, why, seed=(question.text, str(question.sightings)))


def _passed(question: HiddenQuestion, moment: str, ask: Ask) -> str | None:
    """Which place was passed at a moment between two sightings."""
    at_s = (span_s(f"{moment}-{moment}") or (0.0, 0.0))[0]
    ends = ends_of(question.sightings, ask)
    places = [words for words in question.options.values() if not words.startswith("it cannot")]
    if ends is None or len(ends) != 2:
        return None
    legs: list[tuple[Location, Location]] = [(ends[0][-1], {"place": place}) for place in places]
    legs += [({"place": place}, ends[1][0]) for place in places]
    ways_m = lengths_m(legs, ask)
    if ways_m is None:
        return None
    there_s, on_s = at_s - question.sightings[0].end_s, question.sightings[1].start_s - at_s
    can = [
        place
        for place, to_m, on_m in zip(places, ways_m[: len(places)], ways_m[len(places) :], strict=True)
        if question.is_possible(to_m, there_s) and question.is_possible(on_m, on_s)
    ]
    return can[0] if len(can) == 1 else _unknown(question)


def _told_apart(question: HiddenQuestion, ask: Ask) -> str | None:
    """What can be said of those who went out of sight and those who came into sight."""
    sightings = question.sightings
    ends = ends_of(sightings, ask)
    if ends is None:
        return None
    before, after = range(question.went), range(question.went, len(sightings))
    pairs = [(first, later) for first in before for later in after]
    ways_m = lengths_m([(ends[first][-1], ends[later][0]) for first, later in pairs], ask)
    if ways_m is None:
        return None
    going = {
        (first, later): question.is_possible(way_m, sightings[later].start_s - sightings[first].end_s)
        for (first, later), way_m in zip(pairs, ways_m, strict=True)
    }
    if "How many" in question.text:
        most = max(sum(going[pair] for pair in share) for share in _shares(before, after))
        return str(question.went - most)
    shares = [dict(share) for share in _shares(before, after) if all(going[pair] for pair in share)]
    if came := _CAME.search(question.text):
        shares = [share for share in shares if int(came[1]) - 1 in share]
    if "came into sight first" in question.text:
        return _agreed(question, [f"that of sighting {1 if share[0] < share[1] else 2}" for share in shares])
    numbers = _ASKED.findall(question.text)
    body = int(numbers[-1]) - 1 if numbers else 0
    if "still out of sight then" in question.text:
        starts = ["no" if body in share else "yes" for share in shares]
        return _agreed(question, [_starting(question, start) for start in starts])
    return _agreed(question, [f"sighting {share[body] + 1}" for share in shares])


def _shares(before: Collection[int], after: Collection[int]) -> list[list[tuple[int, int]]]:
    """All ways to give each of the fewer one of the more."""
    if len(before) <= len(after):
        return [list(zip(before, order, strict=True)) for order in permutations(after, len(before))]
    return [list(zip(order, after, strict=True)) for order in permutations(before, len(after))]


def _agreed(question: HiddenQuestion, words: Sequence[str]) -> str:
    """What all possible shares say; that it cannot be determined where they don't agree."""
    return words[0] if len(set(words)) == 1 else _unknown(question)


def _unknown(question: HiddenQuestion) -> str:
    return _starting(question, "it cannot")


def _starting(question: HiddenQuestion, words: str) -> str:
    return next((text for text in question.options.values() if text.startswith(words)), "")
