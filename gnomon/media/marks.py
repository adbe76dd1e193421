"""Marks: boxes and corner labels, drawn where a protocol draws them."""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

RED = (255, 0, 0)
BOX_WIDTH_PX = 3
LABEL_MARGIN_PX = 8
LABEL_SIZE_PX = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What to draw on one frame: a red box (x, y, width, height in pixels), lines in a black corner panel."""

    index: int
    box: tuple[float, float, float, float] | None = None
    label: tuple[str, ...] = ()


def draw_box(image: Image.Image, box: Sequence[float], *, width_px: int = BOX_WIDTH_PX) -> None:
    """Draw a red box on the picture; one that lies outside leaves it as it is."""
    x, y, width, height = box
    corners = (x, y, x + max(width, 0), y + max(height, 0))
    ImageDraw.Draw(image).rectangle(corners, outline=RED, width=width_px)


def draw_label(image: Image.Image, lines: Sequence[str], *, size_px: int = LABEL_SIZE_PX) -> None:
    """Write white lines on a black panel in the upper left corner."""
    draw, at, text = ImageDraw.Draw(image), (LABEL_MARGIN_PX, LABEL_MARGIN_PX), "\n".join(lines)
    left, top, right, bottom = draw.multiline_textbbox(at, text, font_size=size_px)
    draw.rectangle((0, 0, right + left, bottom + top), fill=(0, 0, 0))
    draw.multiline_text(at, text, fill=(255, 255, 255), font_size=size_px)
