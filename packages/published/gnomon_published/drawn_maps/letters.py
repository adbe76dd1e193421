"""Writes on pictures, in the font that all of them have."""

from functools import lru_cache

from PIL import ImageDraw, ImageFont

from gnomon_tools.scene.scene import Point

HALO_PX = 2


@lru_cache
def font_of(points: int) -> ImageFont.FreeTypeFont:
    """The font that all pictures are lettered in."""
    font = ImageFont.load_default(points)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow is built without FreeType, so pictures cannot be lettered")
    return font


def box_px(text: str, points: int) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a text of one line, from the point at which it is written."""
    left, top, right, bottom = map(int, font_of(points).getbbox(text))
    return left, top, right, bottom


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

    `halo` is the colour of a border around the letters; `anchor` as Pillow names it.
    """
    width = HALO_PX if halo else 0
    pen.text(at_px, text, fill, font_of(points), anchor, stroke_width=width, stroke_fill=halo)
