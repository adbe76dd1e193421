"""Places labels beside what they name so that they cover neither each other nor the marks.

Offsets are in units of the letters' size (em), so that a side holds for every size of letters.
Labels are placed for a narrow picture first, in which letters are larger beside everything else; what fits
there is shown always, and what fits only in a wide picture has the class `wide`.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from gnomon.drawing.markup import number, tag

Rect = tuple[float, float, float, float]  # left, top, right, bottom in units of the picture
Side = tuple[str, float, float]  # where the text is anchored, and its offset in em to the right and down
NARROW = 1.75  # how much larger letters are in a narrow picture; drawing.css has the same number
LONGEST = 40  # characters of a label
LINE = 15.0  # from one label to the next below it
ASCENT, DESCENT = 0.78, 0.24  # em above and below the letters' base line

# In order of preference.
SIDES: tuple[Side, ...] = (
    ("start", 0.65, 0.35),
    ("end", -0.65, 0.35),
    ("start", 0.45, -0.45),
    ("start", 0.45, 1.1),
    ("end", -0.45, -0.45),
    ("end", -0.45, 1.1),
    ("middle", 0.0, -0.65),
    ("middle", 0.0, 1.4),
)
FAR_SIDES: tuple[Side, ...] = (
    ("start", 1.2, -1.5),
    ("start", 1.2, 2.1),
    ("end", -1.2, -1.5),
    ("end", -1.2, 2.1),
)
BESIDE = (*SIDES, *FAR_SIDES)
CENTRE: tuple[Side, ...] = (("middle", 0.0, 0.35),)
AT_CORNER: tuple[Side, ...] = (("start", 0.0, -0.35), ("start", 0.35, 1.1), *SIDES)  # of an area, upper left
BOLD = 1.13  # how much wider bold letters are


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A text for the point `at`; the lower its `rank`, the sooner it is placed. `room` must hold it."""

    at: tuple[float, float]
    text: str
    css: str
    rank: int = 0
    size: float = 1.0  # of its letters, in em
    room: Rect | None = None
    sides: tuple[Side, ...] = BESIDE
    is_bold: bool = False

    @property
    def shown(self) -> str:
        text = " ".join(self.text.split())
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A label at its side; `is_wide` if only a wide picture has room for it."""

    wish: Wish
    side: Side
    is_wide: bool

    def rect(self, em: float) -> Rect:
        """What it covers where letters have the size `em`."""
        return _rect(self.wish, self.side, em)

    def svg(self) -> Markup:
        """The label as an element; its offset grows with the letters."""
        anchor, right, down = self.side
        return tag(
            "text",
            self.wish.shown,
            class_=self.wish.css + (" wide" if self.is_wide else ""),
            x=self.wish.at[0],
            y=self.wish.at[1],
            dx=f"{_em(right)}em" if right else None,
            dy=f"{_em(down)}em",
            text_anchor=None if anchor == "start" else anchor,
        )


def _em(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


@lru_cache(4096)
def text_width(text: str) -> float:
    """Estimated width in em of a text in a usual sans serif; errs on the wide side.

    >>> round(text_width("c12"), 2), text_width("東京")
    (1.8, 2.0)
    """
    widths = {"W": 1.0, "F": 1.0}
    return sum(
        widths.get(unicodedata.east_asian_width(letter), 0.32 if letter in "il.,:;'|! " else 0.6)
        for letter in text
    )


def _rect(wish: Wish, side: Side, em: float) -> Rect:
    anchor, right, down = side
    letter = em * wish.size
    width = text_width(wish.shown) * letter * (BOLD if wish.is_bold else 1.0)
    x, y = wish.at[0] + right * letter, wish.at[1] + down * letter
    left = x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
    return left, y - ASCENT * letter, left + width, y + DESCENT * letter


def overlaps(rects: NDArray[np.float64], rect: Rect) -> int:
    """How many of the rectangles (n × 4) a rectangle meets."""
    if not len(rects):
        return 0
    left, top, right, bottom = rect
    meets = (rects[:, 0] < right) & (rects[:, 2] > left) & (rects[:, 1] < bottom) & (rects[:, 3] > top)
    return int(meets.sum())


def _inside(rect: Rect, room: Rect) -> bool:
    return rect[0] >= room[0] and rect[1] >= room[1] and rect[2] <= room[2] and rect[3] <= room[3]


def _table(rects: Iterable[Rect]) -> NDArray[np.float64]:
    return np.asarray(list(rects), dtype=float).reshape(-1, 4)


def place(
    wishes: Sequence[Wish],
    *,
    view: Rect,
    em: float,
    taken: Sequence[Rect],
    placed: Sequence[Placed] = (),
    avoid: Sequence[Rect] = (),
) -> list[Placed]:
    """Place what fits into `view`, by rank. No label meets `taken` or a label `placed` before; labels meet as
    little of `avoid` as can be. `em` is the size of letters in a wide picture, in units of the picture.
    """
    left = sorted(
        (wish for wish in wishes if wish.shown and _inside((*wish.at, *wish.at), view)),
        key=lambda wish: wish.rank,
    )
    soft, sizes = _table(avoid), {False: em * NARROW, True: em}  # by whether the picture is wide
    hard = {
        is_wide: _table([*taken, *(label.rect(size) for label in placed if is_wide or not label.is_wide)])
        for is_wide, size in sizes.items()
    }
    fitting: list[Placed] = []
    for is_wide in (False, True):
        shown_in = {is_wide, True}
        still: list[Wish] = []
        for wish in left:
            tests = [(hard[width], sizes[width]) for width in shown_in]
            side = _side(wish, tests, view, soft)
            if side is None:
                still.append(wish)
                continue
            label = Placed(wish=wish, side=side, is_wide=is_wide)
            fitting.append(label)
            for width in shown_in:
                hard[width] = np.vstack([hard[width], label.rect(sizes[width])])
        left = still
    return fitting


def _side(
    wish: Wish, tests: Sequence[tuple[NDArray[np.float64], float]], view: Rect, soft: NDArray[np.float64]
) -> Side | None:
    """The first side on which the label is free at every size and meets nothing of `soft`, or the least."""
    best: Side | None = None
    fewest = 0
    for side in wish.sides:
        rects = [(hard, _rect(wish, side, em)) for hard, em in tests]
        if not all(
            _inside(rect, wish.room or view) and _inside(rect, view) and not overlaps(hard, rect)
            for hard, rect in rects
        ):
            continue
        hits = max(overlaps(soft, rect) for _, rect in rects)
        if hits and wish.sides is CENTRE:
            continue
        if best is None or hits < fewest:
            best, fewest = side, hits
        if not hits:
            break
    return best


def around(at: tuple[float, float], reach: float) -> Rect:
    """The square about a point.

    >>> around((1.0, 2.0), 1.0)
    (0.0, 1.0, 2.0, 3.0)
    """
    return at[0] - reach, at[1] - reach, at[0] + reach, at[1] + reach


def scaled(rect: Rect, by: float) -> Rect:
    """The rectangle so many times as large, about its middle.

    >>> scaled((0.0, 0.0, 2.0, 2.0), 2.0)
    (-1.0, -1.0, 3.0, 3.0)
    """
    left, top, right, bottom = rect
    x, y, wide, high = (
        (left + right) / 2,
        (top + bottom) / 2,
        by * (right - left) / 2,
        by * (bottom - top) / 2,
    )
    return x - wide, y - high, x + wide, y + high


def along(points: Sequence[tuple[float, float]], step: float) -> list[Rect]:
    """Small squares along a line, at most 400, which keep labels off it."""
    if len(points) < 2:
        return []
    line = np.asarray(points, dtype=float)
    lengths = np.hypot(*np.diff(line, axis=0).T)
    total = float(lengths.sum())
    at = np.linspace(0, total, int(min(400, max(2, total / step))))
    metres = np.concatenate([[0.0], np.cumsum(lengths)])
    xs, ys = np.interp(at, metres, line[:, 0]), np.interp(at, metres, line[:, 1])
    return [around((float(x), float(y)), step / 3) for x, y in zip(xs, ys, strict=True)]


def path_of(rings: Iterable[Sequence[tuple[float, float]]], *, is_closed: bool) -> str:
    """Lines or rings as the data of one path.

    >>> path_of([[(0.0, 0.0), (10.0, 0.0)]], is_closed=False)
    'M0 0 10 0'
    """
    end = "z" if is_closed else ""
    return "".join(
        "M" + " ".join(f"{number(x)} {number(y)}" for x, y in ring) + end for ring in rings if ring
    )


def apart(places: Sequence[float], *, lowest: float) -> list[float]:
    """The places, moved down where labels would cover each other, and all back up from below `lowest`.

    >>> apart([20.0, 22.0, 100.0], lowest=200.0)
    [20.0, 35.0, 100.0]
    """
    order = sorted(range(len(places)), key=lambda at: places[at])
    moved = list(places)
    for above, at in pairwise(order):
        moved[at] = max(moved[at], moved[above] + LINE)
    over = max([0.0, *(place - lowest for place in moved)])
    return [place - over for place in moved]
