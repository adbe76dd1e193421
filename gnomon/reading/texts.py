"""Reads short texts and lists of them."""

import json
import re
from collections.abc import Iterator
from typing import Any

from gnomon.reading.characters import without_marks
from gnomon.reading.declarations import AnswerForm, Declaration, Said
from gnomon.reading.reader import Reading, last_line, read_answer
from gnomon_tools.core.json_text import json_value

_PARTS = re.compile(
    r"\s*(?:;|→|-{1,2}>|=>|⇒|➔|➜|➡|⟶|\||\n|\s[<>&]\s|"
    r"(?<=\S)\s+(?=\d{1,2}[.)]\s))\s*"
)
_DASHES = re.compile(r"\s[-–—]\s|(?<=\b[A-Z])[\s-](?=[A-Z]\b)")
_THEN = (
    "(?:then|next|finally|lastly|dann|danach|schließlich|zuletzt|luego|después|finalmente|puis|ensuite|enfin|"
    "depois|por fim|poi|infine|затем|потом)"
)
_AND = r"(?:and|und|et|y|e|и)"
_COMMAS = re.compile(rf"\s*[,，、]\s*(?:{_AND}\s+)?(?:{_THEN}\s+)?")
_AND_THEN = re.compile(r",?\s(?:followed by|and then)\s")
_HEAD = re.compile(r"[^,;:\n]{1,60}:\s(?=[^:\n]*,[^:\n]*$)")
_LAST_AND = re.compile(rf"\s{_AND}\s(?:{_THEN}\s)?")
_OPENING = re.compile(
    r"(?:the\s)?(?:correct\s|right\s|final\s)?(?:order|sequence|ranking|route|path)(?:\s?:|\s(?:is|was):?)\s*|"
    r"(?:it|they|one|the (?:route|path|order|sequence|target|person|car))\s"
    r"(?:goes|go|went|runs|is|was|visits|visited)\s"
    rf"(?:from\s|first\s)?(?=[^,]{{1,40}},\s(?:(?:and)\s)?{_THEN}\s)|"
    rf"(?:first|zuerst|primero|d['’]abord|primeiro|сначала),?\s(?=.*,\s(?:(?:and|und|y|et|e|и)\s)?{_THEN}\s)",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"[^.,;:!?→>|\n]{1,40}")
_NUMBERED = re.compile(
    r"^\s*(?:\*\*)?(?:[-*•]|\(?\d{1,3}[.)]|step \d{1,3}:|\|?\s*\d{1,3}\s*\||[a-z]\)|"
    r"(?:first|second|third|fourth|fifth|last)(?:ly)?:)\s+",
    re.IGNORECASE,
)
_NO_LIST = re.compile(
    r"\b(?:(?:do|can)(?: ?not|n['’]t)|unable to)\s(?:know|tell|say|determine)\b", re.IGNORECASE
)
_PLACEHOLDER = re.compile(r"<[a-z ]{1,30}>|…|\.\.\.")
_SENTENCE_END = re.compile(
    r"(?<!\bSt)(?<!\bDr)(?<!\bMr)(?<!\bMt)(?<!\b[A-Z])(?<!\bMrs)[.!?](?=\s+[A-Z])|。(?=.)"
)


def read_text(reply: str, *, asked: AnswerForm = "line") -> Reading[str]:
    r"""The text that a reply gives: what it declares, else its last line.

    >>> read_text("It flows north.\nAnswer: **the Aura**").value, read_text("So the answer is Oslo.").value
    ('the Aura', 'Oslo.')
    """

    def parse(declaration: Declaration) -> str | None:
        text = without_marks(declaration.text)
        if declaration.rule == "declared":
            text = _SENTENCE_END.split(text, maxsplit=1)[0]
        return None if not text or _PLACEHOLDER.fullmatch(text) else text

    return read_answer(reply, parse, asked=asked, undeclared=last_line)


def read_entries(reply: str) -> Reading[tuple[str, ...]]:
    r"""The list that a reply gives: what it declares, else a JSON list, numbered lines, or its last line.

    >>> read_entries('Answer: ["b", "a"]').value, read_entries("It is:\n1. b\n2. a").value
    (('b', 'a'), ('b', 'a'))
    """

    def parse(declaration: Declaration) -> tuple[str, ...] | None:
        text = declaration.text if _is_whole(declaration) else declaration.block
        if text.lstrip().startswith("["):
            value = _list_at(text)
            if value is not None:
                entries = texts_of(value)
                return None if entries and all(map(_PLACEHOLDER.fullmatch, entries)) else entries
        entries = entries_in(without_marks(text))
        return None if not entries or all(map(_PLACEHOLDER.fullmatch, entries)) else entries

    return read_answer(reply, parse, undeclared=_lists)


def _is_whole(declaration: Declaration) -> bool:
    """Whether the line of a declaration is all of its list, and no first entry of several lines."""
    text = declaration.text.lstrip()
    opens = text.startswith("[") and "]" not in text
    return not declaration.block or not (opens or _NUMBERED.match(text))


def _list_at(text: str) -> list[Any] | None:
    try:
        value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _lists(said: Said) -> Iterator[Declaration]:
    at = said.text.rfind("[")
    if at >= 0 and _list_at(said.text[at:]) is not None:
        yield Declaration("whole" if at == 0 else "last_line", at, said.text[at:])
    numbered = [line for line in said.lines if _NUMBERED.match(line)]
    if len(numbered) > 1:
        is_whole = len(numbered) == len(said.lines)
        entries = (_NUMBERED.sub("", line).rstrip("| ") for line in numbered)
        yield Declaration("whole" if is_whole else "last_line", 0, "\n".join(entries))
    elif len(said.lines) > 1 and all(map(_ENTRY.fullmatch, said.lines)):
        yield Declaration("whole", 0, "\n".join(said.lines))
    if not (said.lines and _NO_LIST.search(said.lines[-1])):
        yield from last_line(said)


def entries_in(text: str) -> tuple[str, ...]:
    """The entries of a text: of a JSON list, or parted by semicolons, arrows or lines, else by commas.

    Behind a comma the last "and" parts two entries, if it is the only one.

    >>> entries_in('["a", "b"]'), entries_in("a → b"), entries_in("1. a, b and c"), entries_in("a, b, and c")
    (('a', 'b'), ('a', 'b'), ('a', 'b', 'c'), ('a', 'b', 'c'))
    """
    if text.lstrip().startswith("["):
        value = json_value(text)
        if isinstance(value, list):
            return texts_of(value)
    text = text.strip()
    if " then " in text or " followed by " in text:
        text = _AND_THEN.sub(", ", text)
    match = _OPENING.match(text) or _HEAD.match(text)
    parts = _PARTS.split(text[match.end() :] if match else text)
    if len(parts) == 1:
        parts = _COMMAS.split(parts[0])
        if len(parts) > 1 and not any(map(_LAST_AND.search, parts[:-1])):
            parts[-1:] = _LAST_AND.split(parts[-1])
    if len(parts) == 1:
        parts = _DASHES.split(parts[0])
    return tuple(_NUMBERED.sub("", part).strip() for part in parts if part.strip())


def texts_of(answer: object) -> tuple[str, ...]:
    """The texts of an answer: of a list each, also of one that is written as JSON in a column of text."""
    if isinstance(answer, str) and answer.lstrip().startswith("["):
        value = json_value(answer)
        answer = value if isinstance(value, list) else answer
    entries: list[Any] = answer if isinstance(answer, list) else [answer]
    texts = [_text(entry) for entry in entries]
    return tuple(texts) if all(texts) else ()


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).strip() if isinstance(value, str | int | float) else ""
