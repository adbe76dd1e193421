"""Finds what a reply comes to where no label declares it, and tells whether it declines to answer."""

import re
from collections.abc import Iterator
from itertools import islice

from gnomon.reading.characters import at_word_start, holds_any
from gnomon.reading.declarations import FULL_STOP, MAX_TRIED, Declaration, Said, declares_nothing

_OFFERED = "(?:answer|option|choice)s?"
_FACTS = "(?:information|context|details|data)"
_ISNT = r"(?:not|(?:is|are|was|were|do|does|did|has|have|could|ca)n['’]t)"
_DECLINES = re.compile(
    rf"\b(?:(?:can ?|could ){_ISNT} be (?:determined|answered|calculated|known)\b|"
    rf"(?:can ?{_ISNT}|{_ISNT}|unable to|impossible to|not possible to) "
    r"(?:be determined|determine|answer|calculate|provide|give|say|tell)(?:[.!]| (?!by\b|from\b|which\b))|"
    rf"needs? (?:more|additional|further) {_FACTS}\b|"
    rf"(?:insufficient|not enough|lacks?(?: necessary)?) {_FACTS}\b|"
    rf"without (?:more|further|additional|any|this|that|specific) {_FACTS}\b|"
    rf"not (?:provide|include|contain|give|have)\b[^.\n]{{0,30}}\b{_FACTS}\b|"
    rf"(?:{_ISNT}|no|none)\b[^.\n]{{0,40}}\b(?:{_OFFERED}|listed|provided|available)\b|"
    rf"{_OFFERED}\b[^.\n]{{0,30}}\b{_ISNT}\b[^.\n]{{0,20}}\b(?:include|match)|"
    r"mistake in the (?:question|problem|options|choices)\b|not sure\b|unsure\b|unclear\b)|"
    r"选项(?:字母)?为无|不在选项|无法(?:确定|判断|回答)"
)
# One of these stands where `_DECLINES` finds something.
_DECLINING = (
    *("no ", "not", "none", "n't", "n’t", "unable", "unsure", "unclear", "impossible", "insufficient"),
    *("need", "lack", "without", "mistake", "选项", "无法"),
)
_STILL = re.compile(
    r"\b(?:but|however|still|nevertheless|so|therefore|thus|hence|guess|estimat\w+|assum\w+)\b"
)
_CONCLUDING = (
    "so|thus|hence|therefore|in total|in conclusion|as a result|consequently|altogether|"
    "因此|所以|したがって|따라서"
)
_CONCLUDES = re.compile(
    rf"(?:{at_word_start(_CONCLUDING)})"
    r"(?!\s(?:that|far|many|much|long)\b)(?:[,:]?\s|(?<=[此以て서]))"
)
_IS_SAID = re.compile(r"\b(?:is|are|was|were|be|equals)\b:?")
_HOLDS_VALUE = re.compile(r"\d|\b(?:north|south|east|west|noon|midnight)")
_QUALITIES = "new|final|right|exact|correct|resulting"
_QUALITY_WORDS, _CONCLUDING_WORDS = _QUALITIES.split("|"), _CONCLUDING.split("|")
_VALUE = re.compile(
    rf"(?:{at_word_start(_QUALITIES)})\s"
    r"(?:date|day|time|arrival time|value|number|distance|"
    r"length|angle|bearing|heading|direction|position|coordinates)(?:\s(?:of|for|to|in)\s[^\n.:;=,]{1,60}?)?"
    r"(?:\s(?:is|was|are|will be|would be)\b:?|\s?[:=])\s*"
    r"((?:(?:about|approximately|on|at|the)\s)?[*_$~≈(<\"']{0,3}[-+−]?(?:\d|north|south|east|west|noon|midnight|"
    r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[^\n]{0,200}?)(?=[.!]?(?:\n|$)|[.!]\s)"
)


def named_values(said: Said) -> tuple[Declaration, ...]:
    """Where a reply names a value as the exact, correct or resulting one."""
    lowered = said.lowered
    if not holds_any(lowered, _QUALITY_WORDS):
        return ()
    return tuple(
        Declaration("declared", match.start(), said.text[slice(*match.span(1))])
        for match in islice(_VALUE.finditer(lowered), MAX_TRIED)
        if not declares_nothing(lowered[max(0, match.start() - 160) : match.start()])
    )


def conclusion(said: Said) -> Iterator[Declaration]:
    """The value to which a reply comes at its end: "Therefore, the way is 12 m long. I hope this helps."."""
    lowered = said.lowered
    conclusions = list(_CONCLUDES.finditer(lowered)) if holds_any(lowered, _CONCLUDING_WORDS) else []
    if not conclusions:
        return
    last = conclusions[-1]
    sentence, *behind = FULL_STOP.split(said.text[last.end() :], maxsplit=1)
    holds_value = _HOLDS_VALUE.search(sentence.lower()) and not any(map(_HOLDS_VALUE.search, behind))
    if holds_value and not _DECLINES.search(sentence.lower()):
        yield Declaration("declared", last.start(), what_it_is(sentence))


def what_it_is(sentence: str) -> str:
    """What a sentence says that something is, where one part of it says so with a value; else the sentence.

    >>> what_it_is("The sum of 2 and 3 is 5."), what_it_is("It is 5 m, that is 16 ft.")
    (' 5.', 'It is 5 m, that is 16 ft.')
    """
    said = [part for part in _IS_SAID.split(sentence)[1:] if _HOLDS_VALUE.search(part.lower())]
    return said[0] if len(said) == 1 else sentence


def declines(lowered: str) -> bool:
    """Whether a reply says that it cannot answer, or that no answer on offer is right, and then offers none.

    It is in small letters.

    >>> declines("it is 5 m. this is not among the options."), declines("i cannot determine it, but: 5 m")
    (True, False)
    """
    if not holds_any(lowered, _DECLINING):
        return False
    ends = [match.end() for match in _DECLINES.finditer(lowered)]
    if not ends or _STILL.search(lowered, ends[-1]):
        return False
    _, *behind = FULL_STOP.split(lowered[ends[-1] :], maxsplit=1)
    return not any(map(_HOLDS_VALUE.search, behind))
