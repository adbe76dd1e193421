"""Reads red camera ids such as `c071` by holding drawn letters against the picture.

A label is centred 80 px along the arrow, a little right and above. Letters are 11.12 px apart and are drawn
at quarter pixels, so each is kept in four variants, read off the published maps (`glyphs.png`: one row per
letter).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from PIL import Image

from gnomon_published.benchmarks.gtr_bench.map_reading.arrows import Arrow, Floats, Grid, towards

LETTERS = "0123456789c"
VARIANTS = 4
GLYPH_HEIGHT_PX, GLYPH_WIDTH_PX = 14, 13
PITCH_PX = 11.12
DISTANCE_PX = 80.0
SHIFT_PX = (1.15, -1.7)  # from there to the middle of the letters: right, down
SLACK_X_PX, SLACK_Y_PX = 2, 1  # how far the whole label may be off; each letter 1 px more
LENGTHS = (3, 4)  # letters of an id: c05, c071
SPILL_WEIGHT = 0.4
MARGIN_PX = 40


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelScores:
    """How well each letter fits each place of one arrow's label.

    By the label's length, an array (place, letter, shift down, shift right) of scores: 1 where the letter's
    ink is all there and no other, less where ink is missing or foreign.
    """

    by_length: dict[int, Floats]

    def of(self, camera_id: str) -> float:
        """The score of a whole id, in [-SPILL_WEIGHT, 1]; 0 for ids of another form."""
        places = self.by_length.get(len(camera_id))
        if places is None or any(letter not in LETTERS for letter in camera_id):
            return 0.0
        chosen = [places[place, LETTERS.index(letter)] for place, letter in enumerate(camera_id)]
        return float(np.mean(chosen, axis=0).max())

    def best(self) -> float:
        """The score of the id that fits best when nothing is known."""
        return max(
            float(((places[0, LETTERS.index("c")] + places[1:, :10].max(axis=1).sum(axis=0)) / length).max())
            for length, places in self.by_length.items()
        )


def label_scores(red: Grid, arrows: Sequence[Arrow]) -> list[LabelScores]:
    """Scores of the label that belongs to each arrow."""
    padded = np.pad(red, MARGIN_PX)
    return [
        LabelScores(by_length={length: _places(padded, arrow, length) for length in LENGTHS})
        for arrow in arrows
    ]


def label_centre_px(arrow: Arrow) -> tuple[float, float]:
    """Where the middle of the arrow's label is drawn."""
    right, down = towards(arrow.heading_deg)
    x_px, y_px = arrow.mast_px
    return (
        float(x_px + DISTANCE_PX * right + SHIFT_PX[0]),
        float(y_px + DISTANCE_PX * down + SHIFT_PX[1]),
    )


def _places(padded: Grid, arrow: Arrow, length: int) -> Floats:
    x_px, y_px = label_centre_px(arrow)
    top = round(y_px - (GLYPH_HEIGHT_PX - 1) / 2) - SLACK_Y_PX + MARGIN_PX
    reach = SLACK_X_PX + 1
    height, width = GLYPH_HEIGHT_PX + 2 * SLACK_Y_PX, GLYPH_WIDTH_PX + 2 * reach
    scores = []
    for place in range(length):
        left = round(x_px + (place - length / 2) * PITCH_PX - 1) - reach + MARGIN_PX
        window: Grid = np.zeros((height, width), dtype=np.float32)
        if 0 <= top <= padded.shape[0] - height and 0 <= left <= padded.shape[1] - width:
            window = padded[top : top + height, left : left + width]
        scores.append(_letters(window))
    return np.array(scores)


def _letters(window: Grid) -> Floats:
    """Scores (letter, shift down, shift right) of every letter in a window."""
    patches = sliding_window_view(window, (GLYPH_HEIGHT_PX, GLYPH_WIDTH_PX))
    glyphs = _glyphs()
    size = glyphs.sum(axis=(1, 2))
    covered = np.minimum(patches[:, :, None], glyphs).sum(axis=(3, 4))
    foreign = patches.sum(axis=(2, 3))[..., None] - covered
    scores = covered / size - SPILL_WEIGHT * np.minimum(foreign / size, 1)
    by_letter = scores.reshape(*scores.shape[:2], len(LETTERS), VARIANTS).max(axis=3)
    near = sliding_window_view(by_letter, 3, axis=1).max(axis=3)  # each letter may be a pixel aside
    moved: Floats = np.moveaxis(near, 2, 0)
    return moved


@cache
def _glyphs() -> NDArray[np.float32]:
    """The letters' ink, 0 to 1, shape (letter x variant, height, width)."""
    with files("gnomon_published.benchmarks.gtr_bench.map_reading").joinpath("glyphs.png").open("rb") as file:
        sheet = np.asarray(Image.open(file), dtype=np.float32) / np.float32(255)
    cells = sheet.reshape(len(LETTERS), GLYPH_HEIGHT_PX, VARIANTS, GLYPH_WIDTH_PX).swapaxes(1, 2)
    return cells.reshape(-1, GLYPH_HEIGHT_PX, GLYPH_WIDTH_PX).astype(np.float32)
