"""Words the closing sentence of a guarded prompt, in each version and in each wording that was tried.

Version 1 asked for the answer "on a last line": real models then call few tools natively, or none. Version 2
was chosen by trials with real models (docs/wording.md). A job keeps the version that it began with: loaders
write version 2, and a trial puts back the words of another (`reworded`).
"""

import re
from collections.abc import Callable, Mapping
from typing import Literal

WordsVersion = Literal[1, 2]
FIRST_WORDS: WordsVersion = 1  # of jobs that do not say
LATEST_WORDS: WordsVersion = 2

Closing = Literal["first_words", "last_line", "end_line", "end_json"]
_IN_TAGS = "<answer> and </answer>, and nothing else there."
_TAGGED = re.compile(rf"^When you have the final answer \((.+)\), put it between {_IN_TAGS}$", re.MULTILINE)
LETTER, TEXT, NUMBER = '"<letter>"', '"<text>"', "<number>"
OPTION = "the option"
_CLOSING = re.compile(
    r'^When you have (.+?), end with a line of JSON of the form \{"answer": (.+)\}\.$', re.MULTILINE
)


def closing(what: str, form: str) -> str:
    """The sentence that asks for an answer: what it is in words, and its form in JSON.

    >>> closing("the number in m", NUMBER)
    'When you have the number in m, end with a line of JSON of the form {"answer": <number>}.'
    """
    return f'When you have {what}, end with a line of JSON of the form {{"answer": {form}}}.'


def tagged_closing(what: str) -> str:
    """The sentence that asks for an answer in tags, where a benchmark's own form is that."""
    return f"When you have the final answer ({what}), put it between {_IN_TAGS}"


def reworded(text: str, wording: Closing) -> str:
    """The text with its closing sentence in another wording; without one, as it is.

    >>> reworded(closing("the number in m", NUMBER), "first_words")
    'Answer with one number in m, on a last line `Answer: <number> m`.'
    >>> reworded(closing("the answer", TEXT), "end_line")
    'End your last message with a line of the form `Answer: <text>`.'
    """
    matches = list(_CLOSING.finditer(text))
    if not matches:
        first = rf"Put the final answer (\1) between {_IN_TAGS}"
        return _TAGGED.sub(first, text) if wording == "first_words" else text
    start, end = matches[-1].span()
    return f"{text[:start]}{_CLOSINGS[wording](matches[-1][1], matches[-1][2])}{text[end:]}"


def _first(what: str, form: str) -> str:
    """Version 1, to the letter: replies that are kept, and seals, are of these prompts."""
    if what == OPTION:
        return f"Answer with one line: Option: {_bare(form)}; Reason: <why>"
    if form == LETTER:
        return "Answer with the letter of one option only."
    if form == TEXT:
        return "Answer in as few words as possible, on a last line of the form `Answer: <text>`."
    if form == NUMBER:
        unit = what.removeprefix("the number").removeprefix(" in ")
        if not unit:
            return "Answer with one number, on a last line `Answer: <number>`."
        return f"Answer with one number in {unit}, on a last line `Answer: <number> {unit}`."
    what = "one interval" if what == "the interval" else what
    return f"Answer with {what}, on a last line of the form `Answer: {_bare(form)}`."


def _last_line(what: str, form: str) -> str:
    return f"Give {what} on a last line of the form `Answer: {_bare(form)}`."


def _end_line(_: str, form: str) -> str:
    return f"End your last message with a line of the form `Answer: {_bare(form)}`."


def _end_json(_: str, form: str) -> str:
    return f'End your last message with one JSON object: {{"answer": {form}}}.'


def _bare(form: str) -> str:
    """A form of JSON as it is written without JSON."""
    return form[1:-1] if form.startswith('"') else form


_CLOSINGS: Mapping[Closing, Callable[[str, str], str]] = {
    "first_words": _first,
    "last_line": _last_line,
    "end_line": _end_line,
    "end_json": _end_json,
}
