"""Close: names that are nearly the one asked for, as a misspelling would make them."""

from collections.abc import Collection, Iterator
from difflib import SequenceMatcher

from tools.gazetteer.areas import areas
from tools.gazetteer.place import Hit, Kind
from tools.gazetteer.spelling import Spelling

ENOUGH = 0.8  # of difflib's ratio
WORTH = 0.7  # of a whole name's score


def close_names(asked: Spelling, kinds: Collection[Kind]) -> Iterator[Hit]:
    """Areas and stations whose name begins alike and is nearly as long."""
    matcher = SequenceMatcher(a="", b=asked.stem, autojunk=False)
    for key, places in areas().named.items():
        if key[:1] != asked.stem[:1] or abs(len(key) - len(asked.stem)) > 2:
            continue
        matcher.set_seq1(key)
        if matcher.quick_ratio() < ENOUGH or (ratio := matcher.ratio()) < ENOUGH:
            continue
        for place in places:
            if place.kind in kinds and place.kind in asked.kinds:
                yield Hit(place=place, score=round(ratio * WORTH, 3))
