"""Draws the report's charts as SVG: intervals in rows, steps in rows, and curves over an axis.

All have one idea of a chart. A `Scale` turns values into pixels and knows its round ticks; rows have their
label on the left and their figures on the right; colours are classes, to which report.css gives the colours
for light, dark and paper. Every chart has a title for screen readers, and needs no script. Texts from outside
are escaped.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup, escape

from gnomon.report.section import Interval
from gnomon.report.text_formats import percent, points, points_brackets, short

WIDTH, LEFT, RIGHT = 900.0, 225.0, 660.0  # of a chart of rows; its scale runs from LEFT to RIGHT
TOP, TOP_OF_SIGNED, ROW, FOOT = 8.0, 30.0, 26.0, 34.0
LABEL_X, NOTE_X = LEFT - 11, RIGHT + 16
CURVE_WIDTH, CURVE_LEFT, CURVE_RIGHT, CURVE_TOP, CURVE_BOTTOM = 720.0, 56.0, 470.0, 16.0, 236.0
TICK_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
MAX_TICKS = 9
COLOURS = 6  # of curves: c0 to c5 in report.css
DASHES = ("", "7 4", "2 3", "9 3 2 3")  # tell curves apart on paper


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Values from `low` to `high`, drawn from the pixel `start` to the pixel `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The pixel of a value; a value beyond the scale is drawn at its end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low or 1.0)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Round values, nine at most.

        >>> Scale(low=0.0, high=1.0, start=0.0, end=100.0).ticks()
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        """
        span = self.high - self.low
        step = next((step for step in TICK_STEPS if span / step <= MAX_TICKS), TICK_STEPS[-1])
        first, last = round(self.low / step + 0.499), round(self.high / step - 0.499)
        return [round(n * step, 4) for n in range(first, last + 1)]


SHARES = Scale(low=0.0, high=1.0, start=LEFT, end=RIGHT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A row of a forest plot: a value with its interval. `kind` names its colour."""

    label: str
    value: float | None
    interval: Interval
    note: str
    kind: str
    is_total: bool = False
    pooled: float | None = None  # the value after partial pooling


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A row of a waterfall: from the arm before to this one."""

    label: str
    start: float
    end: float
    diff: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A line with its band: points (x, y, interval of y), y a share."""

    label: str
    points: Sequence[tuple[float, float, Interval]]


def share_plot(marks: Sequence[Mark], *, title: str) -> Markup:
    """Shares with their intervals, one a row, on the scale from 0 to 100 percent."""
    body = _ticks(SHARES, top=TOP, rows=len(marks), signed=False)
    return _rows(title, [*body, *_marks(marks, SHARES, TOP)], top=TOP, rows=len(marks))


def difference_plot(marks: Sequence[Mark], *, title: str, margin: float) -> Markup:
    """Differences with their intervals, one a row, about zero; the margin is a band.

    The scale is symmetric, and as wide as the furthest end of an interval.
    """
    ends = [abs(end) for mark in marks for end in (mark.interval or [mark.value or 0.0])]
    furthest = min(1.0, max([*ends, 2 * (margin or 0.05)]))
    scale = Scale(low=-furthest, high=furthest, start=LEFT, end=RIGHT)
    body = [
        *_band(scale, margin, rows=len(marks)),
        *_ticks(scale, top=TOP_OF_SIGNED, rows=len(marks), signed=True),
        *_zero_line(scale, rows=len(marks)),
        *_marks(marks, scale, TOP_OF_SIGNED),
    ]
    return _rows(title, body, top=TOP_OF_SIGNED, rows=len(marks))


def waterfall_plot(first: str, last: str, steps: Sequence[Step], *, title: str) -> Markup:
    """One bar a step, on the scale from 0 to 100 percent, between the arms `first` and `last`.

    A step is coloured where its interval is clear of zero.
    """
    rows = len(steps) + 2
    body = [*_ticks(SHARES, top=TOP, rows=rows, signed=False)]
    start, end = steps[0].start, steps[-1].end
    body += _bar(0, first, f"{percent(start)} %", 0.0, start, kind="arm total")
    for index, step in enumerate(steps, start=1):
        is_clear = step.interval and (step.interval[0] > 0 or step.interval[1] < 0)
        kind = ("helps" if step.diff > 0 else "hurts") if is_clear else "undecided"
        y = _row_y(index, TOP)
        body.append(_line("grid", SHARES.at(step.start), y - 20, SHARES.at(step.start), y))
        note = points(step.diff) + points_brackets(step.interval)
        body += _bar(index, f"→ {short(step.label, 25)}", note, step.start, step.end, kind=kind)
    body += _bar(rows - 1, last, f"{percent(end)} %", 0.0, end, kind="arm total")
    return _rows(title, body, top=TOP, rows=rows)


def curve_plot(curves: Sequence[Curve], *, title: str, x_title: str) -> Markup:
    """Curves of shares over whole numbers, each with its band; lines differ by dash as well as by colour."""
    xs = sorted({x for curve in curves for x, _, _ in curve.points})
    x_scale = Scale(low=xs[0], high=xs[-1], start=CURVE_LEFT, end=CURVE_RIGHT)
    y_scale = Scale(low=0.0, high=1.0, start=CURVE_BOTTOM, end=CURVE_TOP)
    body: list[str] = []
    for value in y_scale.ticks():
        y = y_scale.at(value)
        body.append(_line("grid", CURVE_LEFT, y, CURVE_RIGHT, y))
        body.append(_text("tick", CURVE_LEFT - 18, y + 4, _tick_text(value, signed=False)))
    body += [_text("tick", x_scale.at(x), CURVE_BOTTOM + 18, f"{x:g}") for x in xs]
    body.append(_text("tick", (CURVE_LEFT + CURVE_RIGHT) / 2, CURVE_BOTTOM + FOOT, x_title))
    label_ys = _spread([y_scale.at(curve.points[-1][1]) for curve in curves])
    for index, (curve, label_y) in enumerate(zip(curves, label_ys, strict=True)):
        body += _curve(curve, index, x_scale, y_scale, label_y)
    return _svg(title, body, width=CURVE_WIDTH, height=CURVE_BOTTOM + 38)


def _curve(curve: Curve, index: int, x_scale: Scale, y_scale: Scale, label_y: float) -> Iterator[str]:
    upper = [f"{x_scale.at(x):g},{y_scale.at(ends[1]):g}" for x, _, ends in curve.points if ends]
    lower = [f"{x_scale.at(x):g},{y_scale.at(ends[0]):g}" for x, _, ends in curve.points if ends]
    line = [(x_scale.at(x), y_scale.at(y)) for x, y, _ in curve.points]
    dash = DASHES[index % len(DASHES)]
    yield f'<g class="curve c{index % COLOURS}">'
    yield f'<polygon class="area" points="{" ".join([*upper, *reversed(lower)])}"/>'
    yield (
        f'<polyline class="line" points="{" ".join(f"{x:g},{y:g}" for x, y in line)}" '
        f'stroke-dasharray="{dash}"/>'
    )
    yield from (f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="3.5"/>' for x, y in line)
    yield _text("value", CURVE_RIGHT + 10, label_y + 4, curve.label)
    yield "</g>"


def _marks(marks: Sequence[Mark], scale: Scale, top: float) -> Iterator[str]:
    for index, mark in enumerate(marks):
        y = _row_y(index, top)
        yield f'<g class="{escape(mark.kind)}{" total" if mark.is_total else ""}">'
        yield _text("label", LABEL_X, y + 4, mark.label)
        if mark.interval:
            low, high = (scale.at(end) for end in mark.interval)
            yield _line("whisker", low, y, high, y)
            yield from (_line("whisker", end, y - 4, end, y + 4) for end in (low, high))
        if mark.pooled is not None:
            yield f'<circle class="pooled" cx="{scale.at(mark.pooled):g}" cy="{y:g}" r="7"/>'
        if mark.value is not None:
            yield _dot(scale.at(mark.value), y, is_total=mark.is_total)
        yield _text("value", NOTE_X, y + 4, mark.note)
        yield "</g>"


def _dot(x: float, y: float, *, is_total: bool) -> str:
    if is_total:
        corners = f"M{x - 8:g} {y:g}L{x:g} {y - 7:g}L{x + 8:g} {y:g}L{x:g} {y + 7:g}Z"
        return f'<path class="dot" d="{corners}"/>'
    return f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="4.5"/>'


def _bar(index: int, label: str, note: str, start: float, end: float, *, kind: str) -> Iterator[str]:
    y, low, high = _row_y(index, TOP), SHARES.at(min(start, end)), SHARES.at(max(start, end))
    width = round(max(high - low, 1.5), 1)  # a step of nothing is seen too
    yield f'<g class="{kind}">'
    yield _text("label", LABEL_X, y + 4, short(label))
    yield f'<rect class="bar" x="{low:g}" y="{y - 9:g}" width="{width:g}" height="18"/>'
    yield _text("value", NOTE_X, y + 4, note)
    yield "</g>"


def _ticks(scale: Scale, *, top: float, rows: int, signed: bool) -> Iterator[str]:
    bottom = top + ROW * rows
    for value in scale.ticks():
        x = scale.at(value)
        yield _line("grid", x, top - 4 if not signed else top - 12, x, bottom + 6)
        yield _text("tick", x, bottom + 22, _tick_text(value, signed=signed))


def _tick_text(value: float, *, signed: bool) -> str:
    """A tick in percent or in points.

    >>> _tick_text(0.2, signed=False), _tick_text(-0.2, signed=True), _tick_text(0.0, signed=True)
    ('20', '−20', '0')
    """
    text = f"{100 * value:+.3g}" if signed and abs(value) > 0.0001 else f"{100 * value:.3g}"
    return text.replace("-", "−")


def _band(scale: Scale, margin: float, *, rows: int) -> Iterator[str]:
    low, high = scale.at(-margin), scale.at(margin)
    height = ROW * rows + 18
    yield (
        f'<rect class="band" x="{low:g}" y="{TOP_OF_SIGNED - 12:g}" width="{round(high - low, 1):g}" '
        f'height="{height:g}"/>'
    )


def _zero_line(scale: Scale, *, rows: int) -> Iterator[str]:
    x = scale.at(0.0)
    yield _line("zero", x, TOP_OF_SIGNED - 12, x, TOP_OF_SIGNED + ROW * rows + 6)
    yield _text("side before", x - 10, 11, "← worse")
    yield _text("side", x + 10, 11, "better →")


def _row_y(index: int, top: float) -> float:
    """The middle of a row."""
    return top + ROW * (index + 0.5)


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:g}" x2="{x2:g}" y1="{y1:g}" y2="{y2:g}"/>'


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}</text>'


def _rows(title: str, body: Iterable[str], *, top: float, rows: int) -> Markup:
    return _svg(title, body, width=WIDTH, height=top + ROW * rows + FOOT)


def _svg(title: str, body: Iterable[str], *, width: float, height: float) -> Markup:
    name = escape(title)
    head = f'<figure class="plot"><svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{name}">'
    lines = [head, f"<title>{name}</title>", *body, "</svg></figure>"]
    return Markup("\n".join(lines))  # noqa: S704 - every text from outside is escaped above


def _spread(places: Sequence[float], room: float = 15.0) -> list[float]:
    """The places, moved down where labels would cover each other, and back up from below the chart.

    >>> _spread([20.0, 22.0, 100.0])
    [20.0, 35.0, 100.0]
    """
    order = sorted(range(len(places)), key=lambda at: places[at])
    moved = list(places)
    for above, at in pairwise(order):
        moved[at] = max(moved[at], moved[above] + room)
    over = max([0.0, *(place - CURVE_BOTTOM - 20 for place in moved)])
    return [place - over for place in moved]
