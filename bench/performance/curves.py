"""Draws how costs grow with a job, as a small SVG with two logarithmic axes."""

import math
from collections.abc import Mapping, Sequence
from html import escape

from bench.performance.plot import framed

WIDTH, HEIGHT, LEFT, TOP, BETWEEN = 250, 220, 60, 60, 130
COLOURS = ("#1a8a5a", "#c8502a", "#3a6ea5")
Points = Sequence[tuple[float, float]]


def curves(panels: Mapping[str, Mapping[str, Points]], *, title: str) -> str:
    """One panel for each unit, one line for each series; dashed: ten times the cost for ten times as many."""
    parts = [_panel(unit, series, at) for at, (unit, series) in enumerate(panels.items())]
    width = LEFT + len(panels) * (WIDTH + BETWEEN)
    return framed(
        [line for part in parts for line in part], title=title, width=width, height=TOP + HEIGHT + 40
    )


def _panel(unit: str, series: Mapping[str, Points], at: int) -> list[str]:
    left = LEFT + at * (WIDTH + BETWEEN)
    points = [point for line in series.values() for point in line]
    xs, ys = _decades([x for x, _ in points]), _decades([y for _, y in points])

    def place(x: float, y: float) -> str:
        return f"{left + WIDTH * _share(x, xs):.1f} {TOP + HEIGHT * (1 - _share(y, ys)):.1f}"

    lines = [f'<text x="{left - 40}" y="{TOP - 10}" font-weight="bold">{escape(unit)}</text>']
    for x in _powers(xs):
        lines.append(f'<path d="M{place(x, ys[0])}L{place(x, ys[1])}" stroke="#ddd"/>')
        lines.append(_label(place(x, ys[0]), f"{x:,.0f}", dx=0, dy=18, anchor="middle"))
    for y in _powers(ys):
        lines.append(f'<path d="M{place(xs[0], y)}L{place(xs[1], y)}" stroke="#ddd"/>')
        lines.append(_label(place(xs[0], y), f"{y:g}", dx=-6, dy=4, anchor="end"))
    for colour, (name, line) in zip(COLOURS, series.items(), strict=False):
        last_x, last_y = line[-1]
        start_y = last_y * line[0][0] / last_x
        if start_y >= ys[0]:
            ends = f"M{place(line[0][0], start_y)}L{place(last_x, last_y)}"
            lines.append(f'<path d="{ends}" stroke="{colour}" stroke-dasharray="3 4" fill="none"/>')
        drawn = "L".join(place(x, y) for x, y in line)
        lines.append(f'<path d="M{drawn}" stroke="{colour}" stroke-width="2" fill="none"/>')
        lines.append(_label(place(last_x, last_y), name, dx=6, dy=4, anchor="start"))
    return lines


def _label(place: str, text: str, *, dx: float, dy: float, anchor: str) -> str:
    x, y = (float(part) for part in place.split())
    return f'<text x="{x + dx:.1f}" y="{y + dy:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """The powers of ten around the values, at least one decade.

    >>> _decades([20.0, 300.0]), _decades([1.0])
    ((10.0, 1000.0), (1.0, 10.0))
    """
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return 10.0**low, 10.0 ** max(high, low + 1)


def _powers(ends: tuple[float, float]) -> list[float]:
    low, high = (round(math.log10(end)) for end in ends)
    return [10.0**power for power in range(low, high + 1)]


def _share(value: float, ends: tuple[float, float]) -> float:
    return math.log(value / ends[0]) / math.log(ends[1] / ends[0])
