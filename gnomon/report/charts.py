"""Draws the report's charts as SVG: intervals in rows, steps in rows, and curves over an axis.

All have one idea of a chart. A `Scale` turns values into pixels and knows its round ticks; a `Layout` says
where rows have their labels and figures; colours are classes, to which report.css gives the colours for
light, dark and paper. Every chart is drawn twice, for wide and for narrow pages, as letters keep their size;
the style sheet shows the one that fits. Every drawing has a title for screen readers, and needs no script.
Texts from outside are escaped.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup, escape

from gnomon.drawing.arm_look import ArmLook, arm_look
from gnomon.drawing.labels import apart, text_width
from gnomon.report.section import Interval
from gnomon.report.text_formats import percent, points, points_brackets, short

TOP, TOP_OF_SIGNED, FOOT = 8.0, 30.0, 34.0
LETTERS, LINE = 12.5, 16.0  # pixels of a letter and of a line of text in a narrow chart
CURVE_TOP, CURVE_BOTTOM, SQUARE_TOP = 16.0, 236.0, 34.0
TICK_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
MAX_TICKS = 9
TOGETHER = 4  # curves that can be told apart in one chart: c0 to c3 in report.css
OUTLINES = {"square": "M-5-5h10v10h-10Z", "triangle": "M0-6.5L6 5H-6Z", "diamond": "M0-7L7 0L0 7L-7 0Z"}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where a chart has what, in pixels: its scale runs from `left` to `right`.

    `texts` counts the lines of text above a row's mark; 0: its label is left of the scale, its figures right.
    """

    width: float
    left: float
    right: float
    texts: int

    @property
    def row(self) -> float:
        return LINE * self.texts + 24.0 if self.texts else 26.0

    def scale(self, low: float, high: float) -> Scale:
        return Scale(low=low, high=high, start=self.left, end=self.right)

    def middle(self, index: int, top: float) -> float:
        return top + self.row * (index + 1) - (12.0 if self.texts else self.row / 2)

    def texts_of(self, index: int, top: float, label: str, note: str) -> Iterator[str]:
        """The label and the figures of a row."""
        y = self.middle(index, top)
        if not self.texts:
            yield _text("label", self.left - 11, y + 4, label)
            yield _text("value", self.right + 16, y + 4, note)
            return
        first = y - 12.0 - LINE * (self.texts - 1)
        yield _text("label above", 0, first, label)
        if self.texts > 1:
            yield _text("value", 0, first + LINE, note)
        else:
            yield _text("value right", self.width, first, note)


WIDE = Layout(width=900.0, left=245.0, right=660.0, texts=0)
CURVE_WIDE = Layout(width=720.0, left=56.0, right=470.0, texts=0)
PANEL_WIDTH, PANEL_HEIGHT = 280.0, 150.0  # of one of many small charts, with its title and its ticks
PANEL_TOP, PANEL_BOTTOM = 30.0, 120.0
NARROW_WIDTH = 350.0
HALF_TICK = 16.0  # half of “+100”, which stands below an end of the scale
SQUARE_WIDE = Layout(width=900.0, left=56.0, right=396.0, texts=0)


def _narrow(texts: Iterable[tuple[str, str]]) -> Layout:
    """The layout for narrow pages: label and figures of a row share a line where all of them fit."""
    widest = max((text_width(label) + text_width(note) for label, note in texts), default=0.0)
    lines = 1 if widest * LETTERS + 12 <= NARROW_WIDTH else 2
    return Layout(width=NARROW_WIDTH, left=HALF_TICK, right=NARROW_WIDTH - HALF_TICK, texts=lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A row of a forest plot: a value with its interval. `kind` names its colour; `arm`, the place of an arm
    among the job's from 0, its shape and its colour.
    """

    label: str
    value: float | None
    interval: Interval
    note: str
    kind: str
    is_total: bool = False
    pooled: float | None = None  # the value after partial pooling
    margin: Interval = None  # in force for it, where that is not the plot's own
    arm: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A row of a waterfall: from the arm before to this one."""

    label: str
    start: float
    end: float
    diff: float
    interval: Interval
    may_claim: bool = True  # whether an interval clear of zero shows an effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A line with its band: points (x, y, interval of y), y a share."""

    label: str
    points: Sequence[tuple[float, float, Interval]]
    arm: int | None = None  # its place among the job's arms, from 0


def share_plot(marks: Sequence[Mark], *, title: str) -> Markup:
    """Shares with their intervals, one a row, on the scale from 0 to 100 percent."""

    def draw(layout: Layout) -> Drawing:
        scale = layout.scale(0.0, 1.0)
        body = [
            *_ticks(scale, layout, top=TOP, rows=len(marks), signed=False),
            *_marks(marks, scale, layout, TOP),
        ]
        return _rows(body, layout, top=TOP, rows=len(marks))

    return _figure(title, draw, _narrow((mark.label, mark.note) for mark in marks))


def difference_plot(marks: Sequence[Mark], *, title: str, margin: float) -> Markup:
    """Differences with their intervals, one a row, about zero; the margin is a band, each row's own if it
    has one.

    The scale is symmetric, and as wide as the furthest end of an interval.
    """
    ends = [abs(end) for mark in marks for end in (mark.interval or [mark.value or 0.0])]
    furthest = min(1.0, max([*ends, 2 * (margin or 0.05)]))
    rows = len(marks)

    def draw(layout: Layout) -> Drawing:
        scale = layout.scale(-furthest, furthest)
        body = [
            *_bands(marks, scale, layout, margin),
            *_ticks(scale, layout, top=TOP_OF_SIGNED, rows=rows, signed=True),
            *_zero_line(scale, layout, rows=rows),
            *_marks(marks, scale, layout, TOP_OF_SIGNED),
        ]
        return _rows(body, layout, top=TOP_OF_SIGNED, rows=rows)

    return _figure(title, draw, _narrow((mark.label, mark.note) for mark in marks))


def waterfall_plot(
    first: str, last: str, steps: Sequence[Step], *, title: str, arms: Sequence[str] = ()
) -> Markup:
    """One bar a step, on the scale from 0 to 100 percent, between the arms `first` and `last`.

    A step is coloured where its interval is clear of zero, the two arms as their place among `arms` says.
    """
    rows = len(steps) + 2
    start, end = steps[0].start, steps[-1].end
    labels = [short(first), *(f"→ {short(step.label, 25)}" for step in steps), short(last)]
    notes = [
        f"{percent(start)} %",
        *(points(step.diff) + points_brackets(step.interval) for step in steps),
        f"{percent(end)} %",
    ]
    kinds = [_arm_kind(first, arms), *map(_step_kind, steps), _arm_kind(last, arms)]
    stretches = [(0.0, start), *((step.start, step.end) for step in steps), (0.0, end)]

    def draw(layout: Layout) -> Drawing:
        scale = layout.scale(0.0, 1.0)
        body = [*_ticks(scale, layout, top=TOP, rows=rows, signed=False)]
        for index, (low, high) in enumerate(stretches):
            y = layout.middle(index, TOP)
            if 0 < index < rows - 1:
                body.append(_line("grid", scale.at(low), y - layout.row + 6, scale.at(low), y))
            body.append(f'<g class="{kinds[index]}">')
            body += layout.texts_of(index, TOP, labels[index], notes[index])
            body.append(_bar(scale, y, low, high))
            body.append("</g>")
        return _rows(body, layout, top=TOP, rows=rows)

    return _figure(title, draw, _narrow(zip(labels, notes, strict=True)))


def _step_kind(step: Step) -> str:
    is_clear = step.interval and step.may_claim and (step.interval[0] > 0 or step.interval[1] < 0)
    return ("helps" if step.diff > 0 else "hurts") if is_clear else "undecided"


def _arm_kind(name: str, arms: Sequence[str]) -> str:
    return f"arm {arm_look(arms.index(name)).css} total" if name in arms else "arm total"


def curve_plot(curves: Sequence[Curve], *, title: str, x_title: str) -> Markup:
    """Curves of shares over whole numbers, each with its band; lines differ by dash as well as by colour.

    More of them than can be told apart have a chart each. Nothing is drawn of a curve without points.
    """
    curves = [curve for curve in curves if curve.points]
    if not 0 < len(curves) <= TOGETHER:
        return curve_panels(curves, title=title, x_title=x_title)
    xs = sorted({x for curve in curves for x, _, _ in curve.points})

    def draw(layout: Layout) -> Drawing:
        x_scale = layout.scale(xs[0], xs[-1])
        y_scale = Scale(low=0.0, high=1.0, start=CURVE_BOTTOM, end=CURVE_TOP)
        body: list[str] = []
        for value in y_scale.ticks():
            y = y_scale.at(value)
            body.append(_line("grid", layout.left, y, layout.right, y))
            body.append(_text("tick", layout.left - 18, y + 4, _tick_text(value, signed=False)))
        body += _apart_ticks(x_scale, {x: f"{x:.4g}" for x in xs}, CURVE_BOTTOM + 18)
        body.append(_text("tick", (layout.left + layout.right) / 2, CURVE_BOTTOM + FOOT, x_title))
        label_ys = (
            [CURVE_BOTTOM + FOOT + 22 + 18 * index for index in range(len(curves))]
            if layout.texts
            else apart([y_scale.at(curve.points[-1][1]) for curve in curves], lowest=CURVE_BOTTOM + 20)
        )
        for index, (curve, label_y) in enumerate(zip(curves, label_ys, strict=True)):
            body += _curve(curve, index, x_scale, y_scale, layout, label_y)
        height = CURVE_BOTTOM + 38 + (18 * len(curves) + 10 if layout.texts else 0)
        return Drawing(body=body, width=layout.width, height=height)

    narrow = Layout(width=NARROW_WIDTH, left=36.0, right=NARROW_WIDTH - 18.0, texts=1)
    return _figure(title, draw, narrow, CURVE_WIDE)


def paired_plot(dots: Sequence[tuple[float, float, int]], *, title: str, names: tuple[str, str]) -> Markup:
    """Shares against shares, about the line of equal ones; a dot's area grows with its questions."""

    def draw(layout: Layout) -> Drawing:
        x_scale = layout.scale(0.0, 1.0)
        bottom = SQUARE_TOP + layout.right - layout.left
        y_scale = Scale(low=0.0, high=1.0, start=bottom, end=SQUARE_TOP)
        body = [_text("above", 0, SQUARE_TOP - 14, f"↑ {short(names[1], 40)}")]
        for value in x_scale.ticks():
            x, y = x_scale.at(value), y_scale.at(value)
            body += [_line("grid", layout.left, y, layout.right, y), _line("grid", x, SQUARE_TOP, x, bottom)]
            for at in ((layout.left - 18, y + 4), (x, bottom + 18)):
                body.append(_text("tick", *at, _tick_text(value, signed=False)))
        body.append(_line("zero", layout.left, bottom, layout.right, SQUARE_TOP))
        body.append(_text("label", layout.right, bottom + FOOT + 2, f"{short(names[0], 40)} →"))
        circle = '<circle class="dot {}" cx="{:g}" cy="{:g}" r="{:.3g}"/>'.format
        for x, y, n in dots:
            kind = "helps" if y > x else "hurts" if y < x else "undecided"
            body.append(circle(kind, x_scale.at(x), y_scale.at(y), min(2.2 * n**0.5, 12.0)))
        return Drawing(body=body, width=layout.width, height=bottom + FOOT + 10)

    narrow = Layout(width=NARROW_WIDTH, left=36.0, right=NARROW_WIDTH - 14.0, texts=1)
    return _figure(title, draw, narrow, SQUARE_WIDE)


def curve_panels(
    curves: Sequence[Curve], *, title: str, x_title: str, names: Mapping[float, str] | None = None
) -> Markup:
    """A small chart for each of many curves, with its band; the others are thin lines behind it.

    `names` are those of points that stand for no numbers. All charts have the same scales. Nothing is drawn
    of a curve without points.
    """
    curves = [curve for curve in curves if curve.points]
    if not curves:
        return Markup("")
    xs = sorted({x for curve in curves for x, _, _ in curve.points})

    def draw(layout: Layout) -> Drawing:
        columns = max(1, int(layout.width // PANEL_WIDTH))
        width = layout.width / columns
        body: list[str] = []
        for index, curve in enumerate(curves):
            row, column = divmod(index, columns)
            x_scale = Scale(low=xs[0], high=xs[-1], start=40.0, end=width - 28.0)
            body.append(f'<g transform="translate({column * width:g} {row * PANEL_HEIGHT:g})">')
            body += _panel(curve, curves, x_scale, {x: names[x] if names else f"{x:g}" for x in xs})
            body.append("</g>")
        rows = -(-len(curves) // columns)
        body.append(_text("tick", layout.width / 2, rows * PANEL_HEIGHT + 10, x_title))
        return Drawing(body=body, width=layout.width, height=rows * PANEL_HEIGHT + 18)

    return _figure(title, draw, Layout(width=NARROW_WIDTH, left=0.0, right=NARROW_WIDTH, texts=1))


def _panel(
    curve: Curve, curves: Sequence[Curve], x_scale: Scale, ticks: Mapping[float, str]
) -> Iterator[str]:
    y_scale = Scale(low=0.0, high=1.0, start=PANEL_BOTTOM, end=PANEL_TOP)
    look = _look(curve.arm)
    name = f"{look.sign} {short(curve.label, 32)}".lstrip()
    yield f"<title>{escape(curve.label)}</title>{_text('above', 0, PANEL_TOP - 12, name)}"
    for value in (0.0, 0.5, 1.0):
        y = y_scale.at(value)
        yield _line("grid", x_scale.start, y, x_scale.end, y)
        yield _text("tick", x_scale.start - 18, y + 4, _tick_text(value, signed=False))
    yield from _apart_ticks(x_scale, ticks, PANEL_BOTTOM + 16)
    for behind in curves:
        yield _polyline("behind", [(x_scale.at(x), y_scale.at(y)) for x, y, _ in behind.points])
    points = [(x_scale.at(x), y_scale.at(y)) for x, y, _ in curve.points]
    yield f'<g class="curve {look.css or "c0"}">{_area(curve, x_scale, y_scale)}{_polyline("line", points)}'
    yield from (_dot(x, y, look.shape, 0.7) for x, y in points)
    yield "</g>"


def _curve(
    curve: Curve, index: int, x_scale: Scale, y_scale: Scale, layout: Layout, label_y: float
) -> Iterator[str]:
    line = [(x_scale.at(x), y_scale.at(y)) for x, y, _ in curve.points]
    dash, look = DASHES[index], _look(curve.arm)
    yield f'<g class="curve {look.css or f"c{index}"}">'
    yield _area(curve, x_scale, y_scale)
    yield _polyline("line", line, f' stroke-dasharray="{dash}"')
    yield from (_dot(x, y, look.shape, 0.8) for x, y in line)
    label = f"{look.sign} {curve.label}".lstrip()
    if layout.texts:
        yield f'<path class="line" d="M{layout.left:g} {label_y - 4:g}h34" stroke-dasharray="{dash}"/>'
        yield _text("value", layout.left + 42, label_y, label)
    else:
        yield _text("value", layout.right + 10, label_y + 4, label)
    yield "</g>"


def _area(curve: Curve, x_scale: Scale, y_scale: Scale) -> str:
    upper = [(x_scale.at(x), y_scale.at(ends[1])) for x, _, ends in curve.points if ends]
    lower = [(x_scale.at(x), y_scale.at(ends[0])) for x, _, ends in curve.points if ends]
    return f'<polygon class="area" points="{_pairs([*upper, *reversed(lower)])}"/>'


def _polyline(kind: str, points: Sequence[tuple[float, float]], dash: str = "") -> str:
    return f'<polyline class="{kind}" points="{_pairs(points)}"{dash}/>'


def _pairs(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def _marks(marks: Sequence[Mark], scale: Scale, layout: Layout, top: float) -> Iterator[str]:
    for index, mark in enumerate(marks):
        y = layout.middle(index, top)
        look = _look(mark.arm)
        css = " ".join(filter(None, (escape(mark.kind), look.css, "total" if mark.is_total else "")))
        yield f'<g class="{css}">'
        yield from layout.texts_of(index, top, f"{look.sign} {mark.label}".lstrip(), mark.note)
        if mark.interval:
            low, high = (scale.at(end) for end in mark.interval)
            yield _line("whisker", low, y, high, y)
            yield from (_line("whisker", end, y - 4, end, y + 4) for end in (low, high))
        if mark.pooled is not None:
            yield f'<circle class="pooled" cx="{scale.at(mark.pooled):g}" cy="{y:g}" r="7"/>'
        if mark.value is not None:
            shape = "diamond" if mark.is_total and mark.arm is None else look.shape
            yield _dot(scale.at(mark.value), y, shape)
        yield "</g>"


def _look(arm: int | None) -> ArmLook:
    """How an arm looks; a disc without one."""
    return ArmLook("", "disc", "") if arm is None else arm_look(arm)


def _dot(x: float, y: float, shape: str, size: float = 1.0) -> str:
    if shape == "disc":
        return f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="{5.2 * size:g}"/>'
    return f'<path class="dot" d="{OUTLINES[shape]}" transform="translate({x:g} {y:g}) scale({size:g})"/>'


def _bar(scale: Scale, y: float, start: float, end: float) -> str:
    low, high = scale.at(min(start, end)), scale.at(max(start, end))
    width = round(max(high - low, 1.5), 1)  # a step of nothing is seen too
    return f'<rect class="bar" x="{low:g}" y="{y - 9:g}" width="{width:g}" height="18"/>'


def _ticks(scale: Scale, layout: Layout, *, top: float, rows: int, signed: bool) -> Iterator[str]:
    bottom = top + layout.row * rows
    ticks = scale.ticks()
    most = 9 if not layout.texts else 5 if signed else 6
    every = -(-len(ticks) // most)
    for value in ticks:
        if len(ticks) > 1 and round(value / (ticks[1] - ticks[0])) % every:
            continue
        x = scale.at(value)
        yield _line("grid", x, top - 4 if not signed else top - 12, x, bottom + 6)
        text = _tick_text(value, signed=signed)
        half = text_width(text) * 5.5
        at = min(max(x, half), layout.width - half) if layout.texts else x
        yield _text("tick", round(at, 1), bottom + 22, text)


def _apart_ticks(scale: Scale, ticks: Mapping[float, str], y: float) -> Iterator[str]:
    """Ticks without those that would cover the one before."""
    free_from = 0.0
    for x, text in ticks.items():
        half = text_width(text) * 5.5
        if scale.at(x) - half >= free_from:
            free_from = scale.at(x) + half + 4
            yield _text("tick", scale.at(x), y, text)


def _tick_text(value: float, *, signed: bool) -> str:
    """A tick in percent or in points.

    >>> _tick_text(0.2, signed=False), _tick_text(-0.2, signed=True), _tick_text(0.0, signed=True)
    ('20', '−20', '0')
    """
    text = f"{100 * value:+.3g}" if signed and abs(value) > 0.0001 else f"{100 * value:.3g}"
    return text.replace("-", "−")


def _bands(marks: Sequence[Mark], scale: Scale, layout: Layout, margin: float) -> Iterator[str]:
    """One band over all rows of the same margin that follow each other."""
    end = 0
    for (low, high), alike in groupby(tuple(mark.margin or (-margin, margin)) for mark in marks):
        start, end = end, end + len(list(alike))
        top = TOP_OF_SIGNED + layout.row * start - (12 if start == 0 else 0)
        bottom = TOP_OF_SIGNED + layout.row * end + (6 if end == len(marks) else 0)
        x, right = scale.at(low), scale.at(high)
        yield (
            f'<rect class="band" x="{x:g}" y="{top:g}" width="{round(right - x, 1):g}" '
            f'height="{bottom - top:g}"/>'
        )


def _zero_line(scale: Scale, layout: Layout, *, rows: int) -> Iterator[str]:
    x = scale.at(0.0)
    yield _line("zero", x, TOP_OF_SIGNED - 12, x, TOP_OF_SIGNED + layout.row * rows + 6)
    yield _text("side before", x - 10, 11, "← worse")
    yield _text("side", x + 10, 11, "better →")


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:g}" x2="{x2:g}" y1="{y1:g}" y2="{y2:g}"/>'


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}</text>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The elements of one SVG, and its size."""

    body: Sequence[str]
    width: float
    height: float


def _rows(body: Sequence[str], layout: Layout, *, top: float, rows: int) -> Drawing:
    return Drawing(body=body, width=layout.width, height=top + layout.row * rows + FOOT)


def _figure(title: str, draw: Callable[[Layout], Drawing], narrow: Layout, wide: Layout = WIDE) -> Markup:
    """A chart, drawn for wide and for narrow pages."""
    name = escape(title)
    lines = ['<figure class="plot">']
    for css, layout in (("at-wide", wide), ("at-narrow", narrow)):
        drawing = draw(layout)
        lines.append(
            f'<svg class="{css}" viewBox="0 0 {drawing.width:g} {drawing.height:g}" role="img" '
            f'aria-label="{name}">'
        )
        lines += [f"<title>{name}</title>", *drawing.body, "</svg>"]
    lines.append("</figure>")
    return Markup("\n".join(lines))  # noqa: S704 - every text from outside is escaped above
