"""Ink: what of a map picture is red or black, pixel by pixel."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Grid = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ink:
    """Arrays of the picture's shape (rows, columns).

    `red` is how much of a pixel pure red covers, 0 to 1: (R - max(G, B)) / 255 gives that on any grey ground.
    `black` is true where the pixel is nearly black, `solid` where it is black or pure red.
    """

    red: Grid
    black: NDArray[np.bool_]
    solid: NDArray[np.bool_]


def ink_of(picture: Image.Image) -> Ink:
    """The ink of a picture.

    >>> ink = ink_of(Image.new("RGB", (2, 1), (255, 127, 127)))
    >>> float(ink.red[0, 0].round(2)), bool(ink.solid.any())
    (0.5, False)
    """
    pixels = np.asarray(picture.convert("RGB"))
    red, cold = pixels[..., 0], np.maximum(pixels[..., 1], pixels[..., 2])
    covered: Grid = np.where(red > cold, red - cold, 0).astype(np.float32) / np.float32(255)
    return Ink(red=covered, black=np.maximum(red, cold) < 64, solid=cold < 100)
