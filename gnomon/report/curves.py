"""Curves: where the points and bands of a small line chart lie, in the picture's own units."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from gnomon.report.section import Interval

LEFT, RIGHT, TOP, BOTTOM, WIDTH, HEIGHT = 56.0, 470.0, 16.0, 236.0, 720.0, 274.0
DASHES = ("", "7 4", "2 3", "9 3 2 3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A line to draw: points (x, y, interval of y)."""

    label: str
    points: Sequence[tuple[float, float, Interval]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A curve in place: `line` and `band` are SVG point lists, `dash` and `colour` tell it from others."""

    label: str
    line: str
    band: str
    dots: tuple[tuple[float, float], ...]
    colour: int
    dash: str
    label_y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Curves in place, with ticks (place, text) on both axes."""

    curves: tuple[Drawn, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    left: float = LEFT
    right: float = RIGHT
    top: float = TOP
    bottom: float = BOTTOM
    width: float = WIDTH
    height: float = HEIGHT


def chart(curves: Sequence[Curve], *, x_ticks: Sequence[tuple[float, str]]) -> Chart:
    """Lay out curves whose y lies in [0, 1]; x runs from the first tick to the last."""
    low, high = x_ticks[0][0], x_ticks[-1][0]

    def x(value: float) -> float:
        return round(LEFT + (value - low) / (high - low or 1.0) * (RIGHT - LEFT), 1)

    def y(value: float) -> float:
        return round(BOTTOM - min(max(value, 0.0), 1.0) * (BOTTOM - TOP), 1)

    ends = _spread([y(curve.points[-1][1]) for curve in curves])
    return Chart(
        curves=tuple(
            Drawn(
                label=curve.label,
                line=" ".join(f"{x(at)},{y(value)}" for at, value, _ in curve.points),
                band=" ".join(
                    [f"{x(at)},{y(ci[1])}" for at, _, ci in curve.points if ci]
                    + [f"{x(at)},{y(ci[0])}" for at, _, ci in reversed(curve.points) if ci]
                ),
                dots=tuple((x(at), y(value)) for at, value, _ in curve.points),
                colour=index % 6,
                dash=DASHES[index % len(DASHES)],
                label_y=label_y,
            )
            for index, (curve, label_y) in enumerate(zip(curves, ends, strict=True))
        ),
        x_ticks=tuple((x(at), text) for at, text in x_ticks),
        y_ticks=tuple((y(n / 4), f"{25 * n}") for n in range(5)),
    )


def _spread(places: Sequence[float], room: float = 15.0) -> list[float]:
    """The places, moved down where labels would cover each other, and back up from below the chart.

    >>> _spread([20.0, 22.0, 100.0])
    [20.0, 35.0, 100.0]
    """
    order = sorted(range(len(places)), key=lambda at: places[at])
    moved = list(places)
    for above, at in pairwise(order):
        moved[at] = max(moved[at], moved[above] + room)
    over = max([0.0, *(place - BOTTOM - 20 for place in moved)])
    return [place - over for place in moved]
