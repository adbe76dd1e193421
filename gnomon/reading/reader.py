"""Reads one answer out of a reply: the first declaration that holds one of the asked kind, by rank."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from gnomon.core.score import Score
from gnomon.reading.conclusions import conclusion, declines, named_values, what_it_is
from gnomon.reading.declarations import (
    MAX_TRIED,
    AnswerForm,
    Declaration,
    Said,
    declarations_in,
    labels_in,
    what_is_said,
)
from gnomon.reading.units import unit_of

V = TypeVar("V")

SEVERAL = "several_answers"
AMBIGUOUS = "ambiguous"  # its language leaves open what a mark or a letter means
MAX_BARE = 40  # characters of a line that is nothing but a value
# What a line begins with, or holds, that reckons and does not answer.
_STEP = re.compile(
    r"\W*(?:step|part|leg|segment|first)\b|\W*\d+[.)]\s|[-*•]\s|.*[^\W\d_]\s?=|.*[+×]", re.IGNORECASE
)
_FIRST_SENTENCE = re.compile(
    r"\S+(?: \S+){0,2}?"
    r"(?=\.\s+\W?(?!(?:Or|And|Then|Next|Plus|Also|No|Nope|Actually|Rather|Alternatively|Maybe|Perhaps)\b)[A-Z])"
)
_BOLD = re.compile(r"\*\*(?=[^*\n]*\d)([^*\n:]{1,60})\*\*(?!\s?:)")
# What makes a value in bold letters one end of a range, or a bound.
_OPENS = re.compile(
    r"(?:\b(?:between|from|than|least|most|over|under|up to|not|until|before|after|by)|[-–—~/<>≤≥]|"
    r"\d[^\s.]{0,4}(?:\s[^\s\d]{1,8})?\s(?:to|or|and))\s?$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\s?(?:[-–—~/]|to|or|and|bis|oder|ou|до|или)\s?\*{0,2}\d", re.IGNORECASE)
_UNIT_LINE = re.compile(r"\n\W*[Uu]nits?\W{1,6}([^\W\d_]\S{0,15})")
_WORD = re.compile(r"\s{0,2}\(?([^\W\d_][\w/²³]{0,15}|[°%])")
# A line that gives a value a name; steps, and what is said about an answer, are none.
_LABELLED = re.compile(
    r"[\s*_>•-]*(?!(?i:step|reason|expla|why|confid|note|justif|rational|evidence|analysis|calc|assum|unit))"
    r"([^\W\d_][^\n:.\d]{0,30}):"
)
_TOTAL = re.compile(r"total|sum|result|final|overall|answer", re.IGNORECASE)
_TAKES_BACK = re.compile(
    r"\b(?:wait|correction|scratch that|on second thoughts?|my mistake|let me (?:re\w+|check))\b"
)


@dataclass(frozen=True, slots=True)
class Unclear:
    """Why a text holds no single answer; `flag` is what a score then carries."""

    flag: str = SEVERAL


class Reading(NamedTuple, Generic[V]):
    """What was read: the answer and the rule, or None with the flags that say why."""

    value: V | None = None
    read_by: str = ""
    flags: tuple[str, ...] = ("no_answer",)

    def nothing(self, **metrics: float | str | None) -> Score:
        """The score of a reply that gives no answer."""
        return Score(value=0.0, metrics=metrics, flags=self.flags)


def read_answer(
    reply: str,
    parse: Callable[[Declaration], V | Unclear | None],
    *,
    asked: AnswerForm = "line",
    undeclared: Callable[[Said], Iterator[Declaration]] | None = None,
    known: Callable[[Said], tuple[Declaration, ...]] | None = None,
) -> Reading[V]:
    """The answer of a reply, as `parse` makes one of a declaration: None where it holds none of the kind.

    Where nothing declares an answer, `undeclared` names the places that may be one. `known` finds
    declarations that only this kind of answer has. Several answers in one declaration are none.

    >>> from gnomon.reading.quantities import read_number
    >>> read_number("Answer: 5 m. It took 3 s.", "m").read_by
    'asked_form'
    >>> read_number("It is 5 or 6.").flags
    ('no_answer', 'several_answers')
    """
    said = what_is_said(reply)
    flag = ""
    declared = declarations_in(said, asked, known)
    for is_declared, places in ((True, declared), (False, (undeclared or bare_values)(said))):
        for declaration in places:
            answer = parse(declaration)
            if isinstance(answer, Unclear):
                if answer.flag == AMBIGUOUS or (is_declared and answer.flag == SEVERAL):
                    return Reading(flags=("no_answer", answer.flag))
                flag = flag or answer.flag
            elif answer is not None:
                return Reading(answer, declaration.rule, ())
    return Reading(flags=("no_answer", flag) if flag else ("no_answer",))


def read_value(
    reply: str,
    parse: Callable[[str], V | Unclear | None],
) -> Reading[V]:
    """The value of a reply, as `parse` makes one of a text.

    Of a declaration that holds several, the first sentence counts where it is nothing but a value, and the
    next one neither takes it back nor adds to it: "Answer: 12 m. The wall is 5 m."
    """
    return read_answer(reply, partial(_value_of, parse), undeclared=objects_and_values, known=named_values)


def _value_of(parse: Callable[[str], V | Unclear | None], declaration: Declaration) -> V | Unclear | None:
    text = declaration.text
    if len(declaration.block) > len(text) and (unit := _UNIT_LINE.search(declaration.block)):
        text = f"{text} {unit[1]}" if text[-1:].isdigit() else text
    answer = parse(text)
    if isinstance(answer, Unclear) and declaration.rule in ("asked_form", "declared"):
        first = None if _STEP.match(text) or _TAKES_BACK.search(text.lower()) else _FIRST_SENTENCE.match(text)
        first = first or (None if _TAKES_BACK.search(text.lower()) else _BOLD.match(text))
        alone = parse(first[0]) if first else None
        answer = answer if alone is None else alone
    elif isinstance(answer, Unclear) and declaration.rule in ("whole", "last_line"):
        alone = parse(what_it_is(text))
        answer = answer if alone is None else alone
    return answer


def bare_values(said: Said) -> Iterator[Declaration]:
    """Where a value may stand that nothing declares: alone, on the first or last line, or nowhere else."""
    lines = said.lines
    if declines(said.lowered):
        return
    yield from conclusion(said)
    if len(lines) == 1:
        yield Declaration("whole", 0, lines[0])
        yield from _emphasised(said.text)
    elif labels := _labels(lines):
        if _TOTAL.search(labels[-1]):
            yield Declaration("last_line", 0, lines[-1])
        yield Declaration("only_mention", 0, said.text)
    elif lines:
        if (
            len(lines[0]) <= MAX_BARE
            and not _STEP.match(lines[0])
            and not _TAKES_BACK.search(said.text.lower())
        ):
            yield Declaration("leading", 0, lines[0])
        yield from _emphasised(said.text)
        yield Declaration("last_line", 0, lines[-1])
        yield Declaration("only_mention", 0, said.text)


def _labels(lines: list[str]) -> list[str]:
    """The names that lines give their values, as "Start: 13:10" and "End: 14:30", if each has its own."""
    labels = [match[1] for match in map(_LABELLED.match, lines) if match]
    return labels if len(set(labels)) == len(lines) else []


def _emphasised(text: str) -> Iterator[Declaration]:
    """The only value in bold letters; headings are none."""
    places = list(islice(_BOLD.finditer(text), MAX_TRIED)) if "**" in text else []
    values = {place[1].strip(" .") + _unit_behind(text, place.end()) for place in places}
    if len(values) == 1 and not any(
        _OPENS.search(text, max(0, place.start() - 20), place.start()) or _GOES_ON.match(text, place.end())
        for place in places
    ):
        yield Declaration("only_mention", 0, values.pop())


def _unit_behind(text: str, end: int) -> str:
    """The unit that follows there, of a value whose number alone is in bold letters."""
    word = _WORD.match(text, end)
    return f" {word[1]}" if word and unit_of(word[1]) else ""


def objects_and_values(said: Said) -> Iterator[Declaration]:
    """JSON objects as a whole, for answers that may be one, then the places of values."""
    for at, fields in reversed(said.objects):
        yield Declaration("json", at, json.dumps(fields))
    yield from bare_values(said)


def last_line(said: Said) -> Iterator[Declaration]:
    """The last line, which is the whole reply where there is no other."""
    lines = said.lines
    if lines and not labels_in(lines[-1]):  # a label that declares nothing is no answer either
        yield Declaration("last_line" if len(lines) > 1 else "whole", 0, lines[-1])
