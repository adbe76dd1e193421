"""Interval: how far the reply's stretch of time or numbers overlaps the right one (shared part of both)."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from gnomon.benchmarks.questions.scorers.scorer import Scorer, Truth, refuse, wrong
from gnomon.core.score import Score
from gnomon.core.words import closing
from gnomon.reading.reader import Unclear
from gnomon.reading.spans import DAY_S, Ends, ends_in, has_clock, read_span
from gnomon_tools.core.sketch import Sketch, Span


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
        sample = "<HH:MM:SS>-<HH:MM:SS>" if has_clock(truth.text) else "<start>-<end>"
        return closing(sample)

    def score(self, truth: Truth, response: str) -> Score:
        reading = read_span(response)
        ends = reading.value
        if ends is None:
            return reading.nothing()
        if ends[0] > ends[1]:
            return wrong("ends_before_it_starts")
        start, end = truth.value
        if end > DAY_S > start and ends[1] < start:
            ends = (ends[0] + DAY_S, ends[1] + DAY_S)  # both are after the midnight that is within the truth
        both = max(0.0, min(end, ends[1]) - max(start, ends[0]))
        overlap = both / (max(end, ends[1]) - min(start, ends[0]))
        value = overlap if self.threshold is None else float(overlap >= self.threshold)
        return Score(
            value=value,
            answer=f"{ends[0]:.6g}-{ends[1]:.6g}",
            metrics={"overlap": overlap, "start_error": ends[0] - start, "end_error": ends[1] - end},
            read_by=reading.read_by,
        )

    def verdict(self, truth: Truth, answer: str, metrics: Mapping[str, float | str | None]) -> str:
        overlap = metrics.get("overlap")
        share = f" (overlap {overlap:.0%})" if isinstance(overlap, int | float) else ""
        return f"Answered {answer}; right is {truth.text}{share}."

    def sketch(self, truth: Truth, answer: str | None) -> Sketch:
        ends = truth.value if answer is None else _read(answer)
        if ends is None or ends[0] > ends[1]:
            return Sketch()
        return Sketch(
            spans=(Span(start_s=ends[0], end_s=ends[1], label="right" if answer is None else "answer"),)
        )


def _ends_of(answer: object) -> Ends | None:
    if isinstance(answer, Mapping):
        answer = [answer.get("start"), answer.get("end")]
    if isinstance(answer, list):
        answer = " to ".join(str(end) for end in answer) if len(answer) == 2 else None
    return _read(answer) if isinstance(answer, str) else None


def _read(text: str) -> Ends | None:
    ends = ends_in(text)
    return None if isinstance(ends, Unclear) else ends
