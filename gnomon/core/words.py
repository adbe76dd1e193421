"""Holds the versions of the words, and words the closing sentence of a guarded prompt as each of them.

Version 1 asked for the answer "in as few words as possible, on a last line": real models then call few
tools natively, or none. Version 2 was chosen by trials with real models (docs/wording.md). Version 3 has
the same prompts; its agents name tools before the question, also where calls are forbidden, all tell of
limits, and schemas are short. In version 4 the example of the agent `code` calls a function of the arm. In
version 5 no guarded prompt asks for JSON and no other text. In version 6 that example names the arguments,
the last line of `code` asks for a call, a tool's schema has at most 250 tokens, and texts are cut at no colon
inside quotes. Since version 7 a model that makes the same call again is asked to answer, not only to use the
result. Since version 8 native schemas have an object of its own for each kind of location. A job keeps the
version that it began with: loaders write the latest, and a trial puts back the words of before (`reworded`,
`asking_for_json_only`).
"""

import re
from collections.abc import Callable, Mapping
from typing import Literal

WordsVersion = Literal[1, 2, 3, 4, 5, 6, 7, 8]
FIRST_WORDS: WordsVersion = 1  # of jobs that do not say
TOOLS_FIRST: WordsVersion = 3  # from here on tools that are told of in words stand before the question
CALL_SHOWN: WordsVersion = 4  # from here on the example of Python that an agent gives calls a tool
JSON_ENDS: WordsVersion = 5  # from here on a guarded prompt asks for JSON at the end, and not for it alone
CALL_NAMED: WordsVersion = 6  # from here on that example names arguments, and a last line asks for a call
BOUNDED: WordsVersion = 6  # from here on schemas of our own tools have a bound
ANSWER_ASKED: WordsVersion = 7  # from here on who makes the same call again is asked to answer
KINDS_APART: WordsVersion = 8  # from here on native schemas have an object for each kind of location
LATEST_WORDS: WordsVersion = 8

Closing = Literal["first_words", "last_line", "end_json", "when_json"]
LETTER, TEXT, NUMBER = "<letter>", "<text>", "<number>"
_CLOSING = re.compile(
    r"^End your last message with a line of the form `Answer: ([^`]+)`(?:: (.+))?\.$", re.MULTILINE
)
JSON_CLOSING = "End your last message with that JSON object."
JSON_ONLY = "Return the JSON object only: no explanation, no comment, no other text."  # as published
_IN_TAGS = "between <answer> and </answer>, and nothing else there."
_TAGGED = re.compile(rf"^End your last message with the final answer \((.+)\) {_IN_TAGS}$", re.MULTILINE)


def closing(form: str, what: str = "") -> str:
    """The sentence that asks for an answer: its form, and in words what it is where the form does not say.

    >>> closing("<number> m")
    'End your last message with a line of the form `Answer: <number> m`.'
    """
    behind = f": {what}" if what else ""
    return f"End your last message with a line of the form `Answer: {form}`{behind}."


def tagged_closing(what: str) -> str:
    """The sentence that asks for an answer in tags, where a benchmark's own form is that."""
    return f"End your last message with the final answer ({what}) {_IN_TAGS}"


def asking_for_json_only(text: str) -> str:
    """The text as jobs of words before `JSON_ENDS` have it."""
    return f"{text.removesuffix(JSON_CLOSING)}{JSON_ONLY}" if text.endswith(JSON_CLOSING) else text


def reworded(text: str, wording: Closing) -> str:
    """The text with its closing sentence in another wording; without one, as it is."""
    matches = list(_CLOSING.finditer(text))
    if not matches:
        return (
            _TAGGED.sub(rf"Put the final answer (\1) {_IN_TAGS}", text) if wording == "first_words" else text
        )
    start, end = matches[-1].span()
    return f"{text[:start]}{_CLOSINGS[wording](matches[-1][1], matches[-1][2] or '')}{text[end:]}"


def _first(form: str, what: str) -> str:
    """Version 1, to the letter: replies that are kept, and seals, are of these prompts."""
    if form == LETTER:
        return "Answer with the letter of one option only."
    if form == TEXT:
        return "Answer in as few words as possible, on a last line of the form `Answer: <text>`."
    if what.startswith("one of "):
        return f"Answer with one line: Option: <{what.removeprefix('one of ')}>; Reason: <why>"
    if form.startswith(NUMBER):
        unit = form.removeprefix(NUMBER).lstrip()
        return f"Answer with one number{f' in {unit}' if unit else ''}, on a last line `Answer: {form}`."
    return f"Answer with {what or 'one interval'}, on a last line of the form `Answer: {form}`."


def _last_line(form: str, what: str) -> str:
    behind = f": {what}" if what else ""
    return f"Give your answer on a last line of the form `Answer: {form}`{behind}."


def _end_json(form: str, what: str) -> str:
    return f"End your last message with one JSON object{_in_json(form, what)}."


def _when_json(form: str, what: str) -> str:
    return f"When you have the answer, end with one JSON object{_in_json(form, what)}."


def _in_json(form: str, what: str) -> str:
    value = form if form[0] == "[" or form == NUMBER else f'"{form}"'
    return f' ({what}): {{"answer": {value}}}' if what else f': {{"answer": {value}}}'


_CLOSINGS: Mapping[Closing, Callable[[str, str], str]] = {
    "first_words": _first,
    "last_line": _last_line,
    "end_json": _end_json,
    "when_json": _when_json,
}
