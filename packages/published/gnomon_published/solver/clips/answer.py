"""Writes answers as the prompt asks for them: letters, times and the reason."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gnomon.core.clock import day_clock
from gnomon_agents.models.reference.guessing import Option, by_hash
from gnomon_published.solver.clips.question import TIMES_WANTED, Question

Interval = tuple[float, float]  # seconds from midnight

USUAL_WAIT_S, USUAL_DWELL_S = 8.0, 8.0  # where nothing is known: soon after the last sighting, for a while


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The chosen options, in order, the times where they are asked for, and why."""

    options: tuple[Option, ...]
    why: str
    intervals: tuple[Interval, ...] = ()

    def text(self) -> str:
        letters = [option.letter for option in self.options]
        body: dict[str, object] = {"answer": letters[0] if len(letters) == 1 else letters}
        if self.intervals:
            body["time_duration"] = [
                f"{day_clock(start_s)}-{day_clock(end_s)}" for start_s, end_s in self.intervals
            ]
        return f"{self.why}\n{json.dumps(body)}"


def guess(question: Question, why: str) -> Answer:
    """An answer from nothing but the text: options by its hash, times soon after the last sighting."""
    wanted = max(TIMES_WANTED.get(question.kind, 1), 1)
    chosen = by_hash(question.text, question.options)[:wanted]
    if not chosen:
        return Answer(
            options=(Option(letter="A", text=""),), why=f"{why} There are no options to choose from."
        )
    return Answer(options=tuple(chosen), intervals=usual_intervals(question), why=f"{why} This is a guess.")


def usual_intervals(question: Question) -> tuple[Interval, ...]:
    """As many intervals as are wanted, one after the other from the last sighting on."""
    start_s = max((clip.end_s for clip in question.clips if clip.end_s is not None), default=0.0)
    steps = range(TIMES_WANTED.get(question.kind, 0))
    begins = [start_s + USUAL_WAIT_S + step * (USUAL_WAIT_S + USUAL_DWELL_S) for step in steps]
    return tuple((begin_s, begin_s + USUAL_DWELL_S) for begin_s in begins)


def cheapest(costs: Mapping[Option, float]) -> Sequence[Option]:
    """The options whose cost is known, cheapest first; equal costs in the order of their letters."""
    reachable = [option for option, cost in costs.items() if cost < float("inf")]
    return sorted(reachable, key=lambda option: (costs[option], option.letter))
