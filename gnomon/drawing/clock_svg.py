"""Draws the times of sketches as lanes under one clock, one lane a layer; steps share a lane.

The clock is drawn twice, for wide and for narrow pages, as letters keep their size and bars do not; the
style sheet shows the one that fits. A script moves the line `cursor` (hidden by `is-off`) by the SVG's data:
the second `data-start` is at the pixel `data-left`, `data-end` at `data-right`. Bars of the wide clock
carry `data-from` and `data-until` (seconds) and `data-says` (lane and label).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from gnomon.drawing.labels import LONGEST, text_width
from gnomon.drawing.layer import Layer
from gnomon.drawing.markup import number, tag
from gnomon_tools.core.sketch import Role, Span

WIDE, NARROW = 700.0, 360.0  # pixels
NAMES, RIGHT = 96.0, 10.0  # the column of names, and what is free at the right
LETTERS = 12.5
BASE_LINE = 4.4  # of letters below the middle of their row
HEAD, ROW, BAR, GAP = 20.0, 20.0, 13.0, 4.0  # heights of the ticks' texts, a row, a bar, between lanes
MOST_ROWS = 8  # of one lane, so that no bar meets a label; the last takes what is left, without labels
LEAST = 4.0  # pixels of a bar
AROUND = 0.05  # of the stretch, free before and after
FAR = 3.0  # a step's times that are further off than this many stretches of all other lanes do not count
STEPS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
DAY_S = 86400.0

FormatTime = Callable[[float], str]


def clock_range(layers: Sequence[Layer]) -> tuple[float, float] | None:
    """First and last second that a clock of these layers shows, with a little around; None without times."""
    lasting = _stretch([span for layer in layers if layer.look != "step" for span in layer.sketch.spans])
    steps = [span for layer in layers if layer.look == "step" for span in layer.sketch.spans]
    if lasting is not None:
        reach = FAR * max(lasting[1] - lasting[0], 1.0)
        low, high = lasting[0] - reach, lasting[1] + reach
        near = [span for span in steps if low <= span.start_s and span.end_s <= high]
        steps = [Span(start_s=lasting[0], end_s=lasting[1]), *near]
    stretch = _stretch(steps)
    if stretch is None:
        return None
    around = AROUND * (stretch[1] - stretch[0]) or 1.0
    return stretch[0] - around, stretch[1] + around


def _stretch(spans: Sequence[Span]) -> tuple[float, float] | None:
    finite = [span for span in spans if math.isfinite(span.start_s) and math.isfinite(span.end_s)]
    if not finite:
        return None
    starts = [span.start_s - (span.error_s or 0.0) for span in finite]
    ends = [span.end_s + (span.error_s or 0.0) for span in finite]
    return min(starts), max(ends)


def seconds_text(second: float) -> str:
    """Seconds as they are: what a clock shows unless it is passed another form.

    >>> seconds_text(12.50)
    '12.5 s'
    """
    return f"{round(second, 1):g} s"


def clock_svg(
    layers: Sequence[Layer],
    *,
    start_s: float,
    end_s: float,
    ident: str,
    title: str,
    format_time: FormatTime = seconds_text,
) -> Markup:
    """The lanes of those layers that have times, in a `<div class="drawing">`; nothing where none has.

    Times are seconds on the question's clock, from `start_s` to `end_s` (`clock_range`); `format_time` writes
    one as people read it. Of layers with the look `step`, which share a lane, one is to be on at a time.
    """
    with_times = [layer for layer in layers if layer.sketch.spans]
    if not with_times or not start_s < end_s:
        return Markup()
    steps = [layer for layer in with_times if layer.look == "step"]
    lanes = [[layer] for layer in with_times if layer.look != "step"]
    if steps:
        place = sum(layer.look != "step" for layer in with_times[: with_times.index(steps[0])])
        lanes.insert(place, steps)
    drawings = [
        _Clock(start_s=start_s, end_s=end_s, width=width, format_time=format_time).svg(
            lanes, ident=f"{ident}-{name}", title=title, css=f"clock {name}-clock"
        )
        for name, width in (("wide", WIDE), ("narrow", NARROW))
    ]
    return tag("div", *drawings, class_="drawing", id=ident)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bar:
    """Where a span is drawn: its ends, its row, and its label's text, pixel and anchor."""

    span: Span
    left: float
    right: float
    row: int
    text: str = ""
    text_x: float = 0.0
    anchor: str = "start"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clock:
    """A clock of one width, in pixels."""

    start_s: float
    end_s: float
    width: float
    format_time: FormatTime

    @property
    def right(self) -> float:
        return self.width - RIGHT

    def x(self, second: float) -> float:
        """The pixel of a second; what is off the clock is at its end."""
        share = (second - self.start_s) / (self.end_s - self.start_s)
        return NAMES + min(max(share, 0.0), 1.0) * (self.right - NAMES)

    def svg(self, lanes: Sequence[Sequence[Layer]], *, ident: str, title: str, css: str) -> Markup:
        top = HEAD
        ground: list[Markup] = []
        groups: list[Markup] = []
        for lane in lanes:
            bars = [self._bars(layer) for layer in lane]
            height = ROW * max(1 + max((bar.row for bar in row), default=0) for row in bars)
            ground.append(
                tag("rect", class_="lane", x=NAMES, y=top, width=self.right - NAMES, height=height, rx=3)
            )
            groups += [self._group(layer, row, top) for layer, row in zip(lane, bars, strict=True)]
            top += height + GAP
        cursor = tag("line", class_="cursor is-off", x1=NAMES, x2=NAMES, y1=HEAD - 4, y2=top - GAP)
        return tag(
            "svg",
            tag("title", title, id=f"{ident}-title"),
            *ground,
            *self._ticks(top - GAP),
            *groups,
            cursor,
            class_=css,
            id=ident,
            role="img",
            aria_labelledby=f"{ident}-title",
            viewBox=f"0 0 {number(self.width)} {number(top)}",
            font_size=f"{LETTERS:g}",
            data_start=f"{self.start_s:.3f}",
            data_end=f"{self.end_s:.3f}",
            data_left=f"{NAMES:g}",
            data_right=f"{self.right:g}",
            xmlns="http://www.w3.org/2000/svg",
        )

    def _ticks(self, bottom: float) -> list[Markup]:
        """Lines at round times, as many as their texts leave room for."""
        for step in (*STEPS_S, *(DAY_S * 2**n for n in range(40))):
            first, last = math.ceil(self.start_s / step), math.floor(self.end_s / step)
            if last - first > 40:
                continue
            seconds = [n * step for n in range(first, last + 1)]
            texts = _shorter([self.format_time(second) for second in seconds])
            widest = max((text_width(text) for text in texts), default=0.0) * LETTERS
            if step * (self.right - NAMES) / (self.end_s - self.start_s) >= widest + 14:
                break
        ticks = []
        for second, text in zip(seconds, texts, strict=True):
            x = self.x(second)
            half = text_width(text) * LETTERS / 2
            at = min(max(x, NAMES + half), self.width - half)
            ticks.append(tag("line", class_="tick", x1=x, x2=x, y1=HEAD - 4, y2=bottom))
            ticks.append(tag("text", text, class_="tick-text", x=at, y=HEAD - 7, text_anchor="middle"))
        return ticks

    def _group(self, layer: Layer, bars: Sequence[_Bar], top: float) -> Markup:
        sign = f"{layer.arm.sign} " if layer.arm else ""
        name = tag(
            "text",
            tag("title", layer.name),
            _cut(sign + layer.name, NAMES - 8),
            class_="lane-name",
            x=0,
            y=top + ROW / 2 + BASE_LINE,
        )
        errors = "".join(self._error(bar, top) for bar in bars)
        parts = [
            *(tag("g", *self._rects(layer, bars, role, top), class_=f"bar {role}") for role in _roles(bars)),
            *([tag("path", class_="error", d=errors)] if errors else []),
            *(self._text(bar, top) for bar in bars if bar.text),
        ]
        return tag("g", name, *parts, class_=layer.css, data_layer=layer.data_layer)

    def _rects(self, layer: Layer, bars: Sequence[_Bar], role: Role, top: float) -> list[Markup]:
        is_wide = self.width == WIDE
        return [
            tag(
                "rect",
                *([tag("title", self._exactly(bar.span))] if is_wide else []),
                x=bar.left,
                y=top + ROW * bar.row + (ROW - BAR) / 2,
                width=bar.right - bar.left,
                height=BAR,
                data_from=f"{bar.span.start_s:.3f}" if is_wide else None,
                data_until=f"{bar.span.end_s:.3f}" if is_wide else None,
                data_says=f"{layer.name}: {bar.span.label}" if is_wide else None,
            )
            for bar in bars
            if bar.span.role == role
        ]

    def _exactly(self, span: Span) -> str:
        """A span in words: its label, its times, how far off they may be."""
        times = " to ".join(self.format_time(second) for second in dict.fromkeys((span.start_s, span.end_s)))
        error = f" ±{span.error_s:.1f} s" if span.error_s else ""
        return f"{span.label} {times}{error}".strip()

    def _error(self, bar: _Bar, top: float) -> str:
        """Lines with caps from the bar's ends outwards, as the data of a path."""
        span = bar.span
        if not span.error_s:
            return ""
        low, high = self.x(span.start_s - span.error_s), self.x(span.end_s + span.error_s)
        middle = number(top + ROW * bar.row + ROW / 2)
        cap = "m0-3.5v7m0-3.5"
        ends = ((low, bar.left), (high, bar.right))
        return "".join(f"M{number(far)} {middle}{cap}H{number(near)}" for far, near in ends)

    def _text(self, bar: _Bar, top: float) -> Markup:
        anchor = None if bar.anchor == "start" else bar.anchor
        y = top + ROW * bar.row + ROW / 2 + BASE_LINE
        return tag("text", bar.text, x=bar.text_x, y=y, text_anchor=anchor)

    def _bars(self, layer: Layer) -> list[_Bar]:
        """The spans as bars, in rows, so that no bar covers a label and no label another."""
        rows: list[list[tuple[float, float]]] = [[] for _ in range(MOST_ROWS)]
        finite = [
            span for span in layer.sketch.spans if math.isfinite(span.start_s) and math.isfinite(span.end_s)
        ]
        bars = []
        for span in sorted(finite, key=lambda span: (span.start_s, span.end_s)):
            bar, covered = self._fitting(span, rows)
            rows[bar.row].append(covered)
            bars.append(bar)
        return bars

    def _fitting(
        self, span: Span, rows: Sequence[Sequence[tuple[float, float]]]
    ) -> tuple[_Bar, tuple[float, float]]:
        """The bar in the first row that has room for it and its label, and what both cover."""
        left, right = self.x(span.start_s), self.x(span.end_s)
        if right - left < LEAST:
            middle = min(max((left + right) / 2, NAMES + LEAST / 2), self.right - LEAST / 2)
            left, right = middle - LEAST / 2, middle + LEAST / 2
        error_s = span.error_s or 0.0
        low, high = min(left, self.x(span.start_s - error_s)), max(right, self.x(span.end_s + error_s))
        off = "◀ " if span.end_s < self.start_s else "▶ " if span.start_s > self.end_s else ""
        label = off + ("✕ " if span.role == "problem" else "") + " ".join(span.label.split())
        label = label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"
        shorter = label if off or span.role == "problem" else label.partition(" ")[0]
        for text in dict.fromkeys((label, shorter)):
            width = text_width(text) * LETTERS
            sides = [
                ((low, high + 4 + width), high + 4, "start"),
                ((low - 4 - width, high), low - 4, "end"),
            ]
            if right - left >= width + 8:
                sides.append(((low, high), (left + right) / 2, "middle"))
            for row, covered in enumerate(rows[:-1]):
                for (start, end), at, anchor in sides:
                    is_inside = start >= NAMES and end <= self.width - 2
                    if is_inside and all(end + 3 <= other[0] or start >= other[1] + 3 for other in covered):
                        bar = _Bar(
                            span=span, left=left, right=right, row=row, text=text, text_x=at, anchor=anchor
                        )
                        return bar, (start, end)
        free = (
            row
            for row, covered in enumerate(rows)
            if all(high + 3 <= other[0] or low >= other[1] + 3 for other in covered)
        )
        return _Bar(span=span, left=left, right=right, row=next(free, MOST_ROWS - 1)), (low, high)


def _roles(bars: Sequence[_Bar]) -> list[Role]:
    """The roles of bars, in the order in which they come first."""
    return list(dict.fromkeys(bar.span.role for bar in bars))


def _shorter(texts: list[str]) -> list[str]:
    """The times without fractions of a second, if these are zero in all of them.

    >>> _shorter(["12:00:30.000", "12:01:00.000"]), _shorter(["0.5", "1.0"])
    (['12:00:30', '12:01:00'], ['0.5', '1.0'])
    """
    if texts and all(text.rpartition(".")[2] in {"0", "00", "000"} and "." in text for text in texts):
        return [text.rpartition(".")[0] for text in texts]
    return texts


def _cut(text: str, width: float) -> str:
    """As much of a text as fits into so many pixels."""
    if text_width(text) * LETTERS <= width:
        return text
    while text and text_width(f"{text}…") * LETTERS > width:
        text = text[:-1]
    return f"{text}…"
