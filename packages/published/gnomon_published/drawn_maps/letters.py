"""Writes on pictures as Pillow does, to the pixel, but renders each letter once.

FreeType fits and outlines a letter anew wherever it stands, which took a third of a map's time.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from PIL import Image, ImageDraw, ImageFont

from gnomon_tools.scene.scene import Point

HALO_PX = 2
FAR_PX = 1 << 20  # beyond every letter
LETTERS, PAIRS, WORDS = 4_096, 16_384, 8_192  # remembered; all words of 3,000 maps are 3,300, 3 MB


@lru_cache
def font_of(points: int) -> ImageFont.FreeTypeFont:
    """The font that all pictures are lettered in."""
    font = ImageFont.load_default(points)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow is built without FreeType, so pictures cannot be lettered")
    return font


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A rendered text: its ink, and where its parts lie from the point at which it is written.

    `box` is left, top, right and bottom, with the step after the last letter, at `width_px`.
    """

    mask: Image.Image
    corner_px: tuple[int, int]
    box_px: tuple[int, int, int, int]
    width_px: int


@lru_cache(WORDS)
def word_of(text: str, points: int, halo_px: int = 0) -> Word:
    """Render a text of one line, with a border of `halo_px` around each letter.

    >>> word_of("", 12).box_px
    (0, 0, 0, 0)
    """
    if not text:
        return Word(mask=Image.new("L", (1, 1)), corner_px=(0, 0), box_px=(0, 0, 0, 0), width_px=0)
    at_px, letters = 0, []
    west, north, east, south = FAR_PX, FAR_PX, -FAR_PX, -FAR_PX
    for letter, following in pairwise((*text, "")):
        mask, left, top, right, bottom = _letter(letter, points, halo_px)
        letters.append((mask, at_px + left, top))
        west, north = min(west, at_px + left), min(north, top)
        east, south = max(east, at_px + right), max(south, bottom)
        at_px += _step(letter, following, points)
    whole = Image.new("L", (east - west, south - north))
    for mask, left, top in letters:
        whole.paste(255, (left - west, top - north), mask)
    box_px = (min(west, 0), north, max(east, at_px), south)
    return Word(mask=whole, corner_px=(west, north), box_px=box_px, width_px=at_px)


@lru_cache(LETTERS)
def _letter(letter: str, points: int, halo_px: int) -> tuple[Image.Image, int, int, int, int]:
    """A letter's ink, and its left, top, right and bottom from where the letter stands."""
    left, top, right, bottom = map(int, font_of(points).getbbox(letter, stroke_width=halo_px))
    mask = Image.new("L", (right - left, bottom - top))
    ImageDraw.Draw(mask).text((-left, -top), letter, fill=255, font=font_of(points), stroke_width=halo_px)
    return mask, left, top, right, bottom


@lru_cache(PAIRS)
def _step(letter: str, following: str, points: int) -> int:
    """How far the next letter stands from a letter, in pixels."""
    font = font_of(points)
    return round(font.getlength(letter + following) - font.getlength(following))


def write(
    pen: ImageDraw.ImageDraw,
    at_px: Point,
    text: str,
    *,
    points: int,
    fill: str,
    halo: str | None = None,
    anchor: str = "la",
) -> None:
    """Write a text of one line at a point: of the text by default its left, on the level of its ascent.

    `halo` is the colour of a border around the letters; `anchor` as Pillow names it: l or m, then a, m or s.
    """
    word, (ascent, descent) = word_of(text, points), font_of(points).getmetrics()
    left = _pixel(at_px[0], half=32) - {"l": 0, "m": (word.width_px + 1) // 2}[anchor[0]]
    top = _pixel(at_px[1], half=31) - {"a": 0, "m": (ascent + descent) // 2, "s": ascent}[anchor[1]]
    borders = [(word_of(text, points, HALO_PX), halo)] if halo else []
    for drawn, colour in (*borders, (word, fill)):
        pen.bitmap((left + drawn.corner_px[0], top + drawn.corner_px[1]), drawn.mask, colour)


def _pixel(at_px: float, *, half: int) -> int:
    """The nearest pixel by way of 64ths, as FreeType finds it, whose y goes up: there half is nearer down."""
    return (round(at_px * 64) + half) // 64
