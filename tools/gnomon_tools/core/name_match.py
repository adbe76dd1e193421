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


class SoughtName:
    """A name that many others are held against; `plain` is the name as `plain_name` has it."""

    def __init__(self, name: str) -> None:
        self.name, self.plain = name, plain_name(name)
        self._letters = SequenceMatcher(None, "", self.plain, autojunk=False)

    def likeness(self, other: str, *, least: float = 0.0) -> float:
        """As `likeness`, `other` being plain; 0 where their letters show that it is below `least`."""
        if not self.plain or not other:
            return 0.0
        if self.plain == other:
            return 1.0
        self._letters.set_seq1(other)
        is_compared = self._letters.real_quick_ratio() >= least and self._letters.quick_ratio() >= least
        ratio = SequenceMatcher(None, self.plain, other, autojunk=False).ratio() if is_compared else 0.0
        short, long = sorted((self.plain, other), key=len)
        if short in long and len(short) >= max(5, 0.4 * len(long)):
            ratio = max(ratio, 0.85)
        return min(ratio, 0.99)


def likeness(name: str, other: str) -> float:
    """How alike two names are, 0 to 1; 1 only where nothing but case, accents and punctuation differ.

    >>> likeness("Ateneum", "ATENEUM"), round(likeness("Ateneum", "Ateneumin museo"), 2)
    (1.0, 0.85)
    """
    return SoughtName(name).likeness(plain_name(other))
