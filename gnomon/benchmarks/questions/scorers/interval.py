"""Interval: how far the reply's stretch of time or numbers overlaps the right one (shared part of both)."""

import re
from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from gnomon.benchmarks.questions.reading import answer_of, as_json
from gnomon.benchmarks.questions.scorers.number import quantities_in
from gnomon.benchmarks.questions.scorers.scorer import Scorer, Truth, refuse, wrong
from gnomon.core.score import Score
from gnomon.core.words import closing
from tools.core.sketch import Sketch, Span

Ends = tuple[float, float]
_CLOCK = re.compile(r"(?<![\d:.])(?:(\d{1,3}):)?(\d{1,2}):(\d{2}(?:\.\d{1,9})?)(?![\d:])")
LARGEST = 1e12


class IntervalScorer(Scorer):
    """A start and an end: numbers, or times on a clock, which count as seconds."""

    kind: ClassVar[str] = "interval"

    threshold: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Overlap from which on an answer is right; null: the score is the overlap itself.",
    )

    def truth(self, answer: object) -> Truth:
        """`[start, end]`, `{"start": …, "end": …}`, or a text such as `12.5-20` or `00:01:05-00:01:30`."""
        ends = _ends_of(answer)
        if ends is None or not ends[0] < ends[1]:
            raise refuse(answer, "an interval: two numbers or clock times, the first before the second")
        text = answer if isinstance(answer, str) else f"{ends[0]:g}-{ends[1]:g}"
        return Truth(value=ends, text=" ".join(text.split()))

    def form(self, truth: Truth) -> str:
        sample = "<HH:MM:SS>-<HH:MM:SS>" if _CLOCK.search(truth.text) else "<start>-<end>"
        return closing("the interval", f'"{sample}"')

    def score(self, truth: Truth, response: str) -> Score:
        answer = answer_of(response)
        ends = ends_in(answer)
        if ends is None:
            return wrong("no_answer")
        if ends[0] > ends[1]:
            return wrong("ends_before_it_starts")
        start, end = truth.value
        both = max(0.0, min(end, ends[1]) - max(start, ends[0]))
        overlap = both / (max(end, ends[1]) - min(start, ends[0]))
        value = overlap if self.threshold is None else float(overlap >= self.threshold)
        return Score(
            value=value,
            answer=f"{ends[0]:.6g}-{ends[1]:.6g}",
            metrics={"overlap": overlap, "start_error": ends[0] - start, "end_error": ends[1] - end},
        )

    def verdict(self, truth: Truth, answer: str, metrics: Mapping[str, float | str | None]) -> str:
        overlap = metrics.get("overlap")
        share = f" (overlap {overlap:.0%})" if isinstance(overlap, int | float) else ""
        return f"Answered {answer}; right is {truth.text}{share}."

    def sketch(self, truth: Truth, answer: str | None) -> Sketch:
        ends = truth.value if answer is None else ends_in(answer_of(answer))
        if ends is None or ends[0] > ends[1]:
            return Sketch()
        return Sketch(
            spans=(Span(start_s=ends[0], end_s=ends[1], label="right" if answer is None else "answer"),)
        )


def _ends_of(answer: object) -> Ends | None:
    if isinstance(answer, Mapping):
        answer = [answer.get("start"), answer.get("end")]
    if isinstance(answer, list):
        if len(answer) != 2:
            return None
        answer = " to ".join(str(end) for end in answer)
    return ends_in(answer) if isinstance(answer, str) else None


def ends_in(text: str) -> Ends | None:
    """The two ends that a text gives; None unless there are exactly two.

    >>> ends_in("00:01:05-00:01:30.5"), ends_in("from 3 s to 2 min"), ends_in("[3, 5]"), ends_in("3-5-7")
    ((65.0, 90.5), (3.0, 120.0), (3.0, 5.0), None)
    """
    value = as_json(text) if text.lstrip().startswith("[") else None
    if isinstance(value, list) and len(value) == 2:
        text = " to ".join(str(end) for end in value)
    clocks = [_seconds(match) for match in _CLOCK.finditer(text)]
    if clocks:
        return (clocks[0], clocks[1]) if len(clocks) == 2 else None
    quantities = quantities_in(text)
    if len(quantities) != 2:
        return None
    first, second = (q.value * (q.unit.factor if q.unit and q.unit.of == "time" else 1.0) for q in quantities)
    if quantities[0].unit is None and quantities[1].unit is not None and quantities[1].unit.of == "time":
        first *= quantities[1].unit.factor  # "3 to 5 min": the unit is that of both
    return (first, second) if max(abs(first), abs(second)) <= LARGEST else None


def _seconds(match: re.Match[str]) -> float:
    hours, minutes, seconds = match.groups()
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds)
