"""How an arm looks on every page and in every plot, by its place among the job's arms, from 0."""

from typing import NamedTuple

SIGNS = {"square": "■", "disc": "●", "triangle": "▲", "diamond": "◆"}
COLOURS = 4  # of the classes arm-1 to arm-4 in the style sheets


class ArmLook(NamedTuple):
    """An arm's class for its colour, its shape, and that shape as a letter."""

    css: str
    shape: str
    sign: str


def arm_look(place: int) -> ArmLook:
    """Sixteen arms differ by shape or colour; beyond them their names, which stand beside, tell them apart.

    >>> arm_look(0), arm_look(4)[:2]
    (ArmLook(css='arm-1', shape='square', sign='■'), ('arm-1', 'disc'))
    """
    shape, sign = list(SIGNS.items())[(place + place // COLOURS) % len(SIGNS)]
    return ArmLook(f"arm-{place % COLOURS + 1}", shape, sign)
