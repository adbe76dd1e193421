"""Forest plot: where the marks of an interval plot lie, in the picture's own units."""

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.report.section import Interval

LEFT, RIGHT, ROW, TOP, WIDTH = 225.0, 660.0, 26.0, 30.0, 900.0
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One row to draw: a value with its interval. `kind` names its colour."""

    label: str
    value: float | None
    interval: Interval
    note: str
    kind: str
    is_total: bool = False
    calm: float | None = None  # the value after pooling


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A mark in place; x None: nothing to draw."""

    mark: Mark
    y: float
    x: float | None
    x_low: float | None
    x_high: float | None
    x_calm: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A plot in place: lines, ticks (x, value), the margin's band and, where it is on the axis, zero."""

    lines: tuple[Line, ...]
    ticks: tuple[tuple[float, float], ...]
    zero_x: float | None
    band: tuple[float, float] | None
    width: float
    height: float
    bottom: float


def plot(
    marks: Sequence[Mark], *, limits: tuple[float, float] | None = None, margin: float | None = None
) -> Plot:
    """Lay out marks on one axis: `limits` if given, else symmetric about zero and wide enough for all."""
    reach = [abs(end) for mark in marks for end in (mark.interval or [mark.value or 0.0])]
    furthest = min(1.0, max([*reach, 2 * (margin or 0.05)]))
    low, high = limits or (-furthest, furthest)
    step = next((step for step in STEPS if (high - low) / step <= 9), STEPS[-1])

    def x(value: float | None) -> float | None:
        if value is None:
            return None
        return round(LEFT + (min(max(value, low), high) - low) / (high - low) * (RIGHT - LEFT), 1)

    lines = tuple(
        Line(
            mark=mark,
            y=TOP + ROW * (index + 0.5),
            x=x(mark.value),
            x_low=x(mark.interval[0]) if mark.interval else None,
            x_high=x(mark.interval[1]) if mark.interval else None,
            x_calm=x(mark.calm),
        )
        for index, mark in enumerate(marks)
    )
    bottom = TOP + ROW * len(marks)
    first, last = round(low / step + 0.499), round(high / step - 0.499)
    ticks = tuple((x(n * step) or LEFT, n * step) for n in range(first, last + 1))
    band = None if margin is None else (x(-margin) or LEFT, x(margin) or RIGHT)
    return Plot(
        lines=lines,
        ticks=ticks,
        zero_x=x(0.0) if low < 0 < high else None,
        band=band,
        width=WIDTH,
        height=bottom + 34,
        bottom=bottom,
    )
