"""Reads a guide: its sentences, and the claims in each, in English and Japanese."""

import re
from collections.abc import Collection

from gnomon_trips.itinerary.claims_ja import claims_in_japanese
from gnomon_trips.itinerary.hours import minutes_of
from gnomon_trips.itinerary.reasons import CLOCK, NAME, Claim, Sort, claims_in, minutes_in

HIRAGANA = re.compile(r"[\u3041-\u309f]")
_END_JA = re.compile(r"(?<=[。！？!?])\s*")
_END = re.compile(r"(?<=[.!?])\s+(?=[\"'“(]?[A-Z0-9])")
_SHORT = re.compile(r"(?:\b(?:St|Mt|Dr|Mr|Mrs|Ms|No|ca|approx|e\.g|i\.e)|\b[A-Z])\.$")
"""What ends with a stop and ends no sentence."""
_ARRIVES = re.compile(
    rf"\b(?:arriv\w+|begins?|starts?|be there)(?: there)?(?: at| by| around)? {CLOCK}", re.IGNORECASE
)
_LEAVES = re.compile(rf"\b(?:leav\w+|ends?|move on)(?: at| by| around)? {CLOCK}", re.IGNORECASE)
_NEXT = re.compile(
    rf"\b(?:next(?: comes| is|:)?|then(?: comes)?|continue to|go on to|on to) (?-i:{NAME})", re.IGNORECASE
)
_AFTER = re.compile(rf"\b(?:after|coming from) (?-i:{NAME})", re.IGNORECASE)

_TIMES: tuple[tuple[re.Pattern[str], Sort], ...] = ((_ARRIVES, "arrives"), (_LEAVES, "leaves"))
_NEIGHBOURS: tuple[tuple[re.Pattern[str], Sort], ...] = ((_NEXT, "next"), (_AFTER, "after"))


def is_japanese(text: str) -> bool:
    """Whether a text is Japanese; a text with only its names in kanji is not."""
    return bool(HIRAGANA.search(text))


def sentences(text: str) -> list[str]:
    """The sentences of a text.

    >>> sentences("St. Mary's is near. It opens at 10.")
    ["St. Mary's is near.", 'It opens at 10.']
    >>> sentences("次は浅草寺です。徒歩5分。")
    ['次は浅草寺です。', '徒歩5分。']
    """
    parts = [part for part in (_END_JA if is_japanese(text) else _END).split(text.strip()) if part.strip()]
    joined: list[str] = []
    for part in parts:
        if joined and _SHORT.search(joined[-1]):
            joined[-1] += f" {part}"
        else:
            joined.append(part.strip())
    return joined


def guide_claims(sentence: str, names: Collection[str]) -> list[Claim]:
    """The claims in a sentence; in Japanese, places are known by these names alone.

    >>> [(claim.sort, claim.value) for claim in guide_claims("You arrive at 10:30.", [])]
    [('arrives', 630.0)]
    >>> [(claim.sort, claim.name) for claim in guide_claims("浅草寺から徒歩5分です。", ["浅草寺"])]
    [('minutes', '浅草寺')]
    """
    if is_japanese(sentence):
        return claims_in_japanese(sentence, names)
    claims: list[Claim] = []
    rest = sentence
    for pattern, sort in _TIMES:
        claims += [
            Claim(sort=sort, words=match[0], value=minutes_in(match[1])) for match in pattern.finditer(rest)
        ]
        rest = pattern.sub(lambda match: " " * len(match[0]), rest)
    for pattern, sort in _NEIGHBOURS:
        claims += [Claim(sort=sort, words=m[0], name=m[1].strip(" .,")) for m in pattern.finditer(rest)]
    return [*claims, *claims_in(rest)]


def clock_of_number(claim: Claim) -> int | None:
    """The minutes of a bare number that is written as a time of day; None where it is none."""
    match = re.fullmatch(r"(\d{1,2}):(\d\d)", claim.words.strip("., "))
    return minutes_of(f"{int(match[1]):02d}:{match[2]}") if match else None
