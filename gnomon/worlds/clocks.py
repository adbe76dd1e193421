"""Clocks of cameras that are off by a number of seconds which the question tells."""

from collections.abc import Collection, Mapping
from random import Random

OFF_S = 15.0  # at most, either way
STEP_S = 0.1


def draw_clocks(rng: Random, cameras: Collection[str]) -> Mapping[str, float]:
    """By camera how many seconds its clock is ahead of the place's."""
    steps = round(OFF_S / STEP_S)
    return {camera: rng.randint(-steps, steps) / round(1 / STEP_S) for camera in sorted(cameras)}


def told(clocks_s: Mapping[str, float]) -> str:
    """The sentences that tell them, of all cameras of the place, so that none is singled out.

    >>> told({"c01": 2.5, "c02": -0.3}).split(". ")[0]
    'The clocks are off, in seconds ahead of the true time: c01 +2.5, c02 -0.3'
    """
    each = ", ".join(f"{camera} {ahead_s:+.1f}" for camera, ahead_s in sorted(clocks_s.items()))
    return (
        f"The clocks are off, in seconds ahead of the true time: {each}. Clips and the times that "
        "name a clip go by the clock of their camera; options and answers go by the true time."
    )
