"""Tells whether two spellings mean the same place."""

import re
import unicodedata
from difflib import SequenceMatcher

GOOD_NAME = 0.7
"""VIR-Bench counts two names as one above this ratio."""


def plain_name(name: str) -> str:
    """A name without case, accents, punctuation and doubled spaces.

    >>> plain_name("  Café  Ekberg (1852)"), plain_name("Temppeliaukion-kirkko")
    ('cafe ekberg 1852', 'temppeliaukion kirkko')
    """
    bare = unicodedata.normalize("NFKD", name).casefold()
    if not bare.isascii():
        bare = "".join(letter for letter in bare if not unicodedata.combining(letter))
    return " ".join(re.findall(r"\w+", bare))


def likeness(name: str, other: str) -> float:
    """How alike two names are, 0 to 1; 1 only where nothing but case, accents and punctuation differ.

    >>> likeness("Ateneum", "ATENEUM"), round(likeness("Ateneum", "Ateneumin museo"), 2)
    (1.0, 0.85)
    """
    return plain_likeness(plain_name(name), plain_name(other))


def plain_likeness(first: str, second: str, *, least: float = 0.0) -> float:
    """The likeness of plain names; those whose letters show that they are less alike than `least` are not
    compared further, and are 0.
    """
    if not first or not second:
        return 0.0
    if first == second:
        return 1.0
    letters = SequenceMatcher(None, first, second, autojunk=False)
    ratio = letters.ratio() if letters.quick_ratio() >= least else 0.0
    short, long = sorted((first, second), key=len)
    if short in long and len(short) >= max(5, 0.4 * len(long)):
        ratio = max(ratio, 0.85)
    return min(ratio, 0.99)
