"""Facts about a call that follow from the truth: which of its times are early, late or of a wrong camera."""

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.core.question_view import QuestionView
from gnomon_tools.core.sketch import Sketch, Span

SLACK_S = 0.5  # within it a forecast counts as right
MOST = 4  # findings of one call


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What follows from the truth about a call, and whether the answer took a time from it."""

    sentences: tuple[str, ...] = ()
    is_used: bool = False


def findings_on(sketch: Sketch, view: QuestionView | None, answer: Sketch) -> Findings:
    """Sentences that compare the call's times with the true ones of the same camera; derived facts alone.

    None where the question has no true times, or the call is not about any of them.
    """
    if view is None:
        return Findings()
    used = used_in(sketch.spans, answer.spans)
    sentences = compared(sketch.spans, view.truth.spans)[:MOST]
    if used:
        sentences.insert(0, f"The answer takes its time at {', '.join(used)} from this call.")
    return Findings(sentences=tuple(sentences), is_used=bool(used))


def used_in(results: Sequence[Span], answers: Sequence[Span]) -> list[str]:
    """The cameras for which the answer gives the very interval of a result, to half a second.

    >>> span = Span(start_s=98, end_s=104, label="c1")
    >>> used_in([span], [Span(start_s=98.2, end_s=104, label="A c1")]), used_in([span], [])
    (['c1'], [])
    """
    return [
        name_in(span.label)
        for span in results
        if span.role == "result"
        and any(
            name_in(answer.label) == name_in(span.label)
            and abs(answer.start_s - span.start_s) <= SLACK_S
            and abs(answer.end_s - span.end_s) <= SLACK_S
            for answer in answers
        )
    ]


def compared(results: Sequence[Span], truths: Sequence[Span]) -> list[str]:
    """One sentence for each result whose label names a true interval.

    >>> truth = Span(start_s=100, end_s=110, label="c1")
    >>> compared([Span(start_s=98, end_s=104, label="c1")], [truth])
    ['c1: comes 2.0 s early and goes 6.0 s early; 40 % of the true interval is covered.']
    >>> compared([Span(start_s=200, end_s=210, label="c1")], [truth])
    ['c1: misses the true interval by 90.0 s, too late.']
    """
    by_camera = {name_in(truth.label): truth for truth in truths}
    sentences = []
    for span in results:
        truth = by_camera.get(name_in(span.label))
        if truth is not None and span.role == "result":
            sentences.append(f"{name_in(span.label)}: {_compare(span, truth)}")
    return sentences


def name_in(label: str) -> str:
    """The camera in a label: its last word without what is in brackets.

    >>> name_in("C c01"), name_in("c01 (C)"), name_in("c01")
    ('c01', 'c01', 'c01')
    """
    words = [word for word in label.replace("(", " (").split() if not word.startswith("(")]
    return words[-1] if words else ""


def _compare(span: Span, truth: Span) -> str:
    if span.end_s < truth.start_s:
        return f"misses the true interval by {truth.start_s - span.end_s:.1f} s, too early."
    if span.start_s > truth.end_s:
        return f"misses the true interval by {span.start_s - truth.end_s:.1f} s, too late."
    overlap_s = min(span.end_s, truth.end_s) - max(span.start_s, truth.start_s)
    length_s = truth.end_s - truth.start_s
    share = (
        f"{100 * overlap_s / length_s:.0f} % of the true interval is covered" if length_s else "it is covered"
    )
    starts, ends = span.start_s - truth.start_s, span.end_s - truth.end_s
    if max(abs(starts), abs(ends)) <= SLACK_S:
        return f"right to {max(abs(starts), abs(ends)):.1f} s."
    return f"comes {_shift(starts)} and goes {_shift(ends)}; {share}."


def _shift(seconds: float) -> str:
    if abs(seconds) <= SLACK_S:
        return "on time"
    return f"{abs(seconds):.1f} s {'late' if seconds > 0 else 'early'}"
