"""Option: the reply names the one right option among those displayed."""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar

from gnomon.benchmarks.questions.scorers.scorer import Scorer, Truth, refuse
from gnomon.core.errors import SpecError
from gnomon.core.score import Score
from gnomon.core.words import LETTER, closing
from gnomon.reading.characters import bare
from gnomon.reading.choices import read_choice
from gnomon_tools.core import python_source
from gnomon_tools.core.json_text import json_value

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MAX_OPTION = 4_000  # characters
NO_LABELS: Mapping[str, str] = {}
CARRIED = re.compile(  # a letter before a text: "A. left", "(A) left", "A: left", "A - left"; not "A.M."
    r"(?:(?:option|choice) )?[(\[（【]?([a-z]) ?"
    r"(?:[.．、:：)\]）】]+(?: |(?=\w\w|\d|[^\x00-\x7f])(?!\w\.))| [-–—] )(?=\S)",
    re.IGNORECASE,
)
BARE = re.compile(r"(?:option |choice )?[(\[（【]?([a-z])[.．、:：)\]）】]*", re.IGNORECASE)
INDEX = re.compile(r"\d{1,3}(?:\.0)?")


class OptionScorer(Scorer):
    """One letter; which is right depends on the order in which the options are displayed."""

    kind: ClassVar[str] = "option"

    def truth(self, answer: object) -> Truth:
        """For a choice the options count as well: see `choice`."""
        raise refuse(answer, "of use without options; add `options`, or columns A, B, C")

    def form(self, truth: Truth) -> str:  # noqa: ARG002 (the same for all)
        return closing(LETTER)

    def reply(self, truth: Truth) -> str:
        return str(truth.value)

    def score(self, truth: Truth, response: str) -> Score:
        reading = read_choice(response, truth.options)
        if reading.value is None:
            return reading.nothing()
        return Score(value=float(reading.value == truth.value), answer=reading.value, read_by=reading.read_by)


def choice(options: Mapping[str, str], letter: str) -> Truth:
    """The truth of a question whose options are displayed so, the right one under that letter."""
    return Truth(value=letter, text=f"{letter}. {options[letter]}", options=options)


def options_in(values: Mapping[str, Any]) -> dict[str, str]:
    """The options of a row by letter: of the list `options`, or of the columns A, B, C and so on.

    Letters that the texts carry themselves are taken off.

    >>> options_in({"options": ["left", "right"]}), options_in({"A": "left", "B": 2, "C": ""})
    ({'A': 'left', 'B': 'right'}, {'A': 'left', 'B': '2'})
    >>> options_in({"options": ["(A) left", "(B) right"]})
    {'A': 'left', 'B': 'right'}

    Raises:
        SpecError: they are no list of texts, some are empty or alike, or only some carry their letters.
    """
    written = _labels_and_texts(_written(values))[1]
    if isinstance(written, Mapping):
        written = {letter: text for letter, text in written.items() if text not in (None, "")}
        written = [written[letter] for letter in _lettered(written)]
    if written in (None, "", []):
        texts = _columns(values)
    elif isinstance(written, list | tuple):
        texts = [_text(option) for option in written]
    else:
        raise SpecError("is no list of texts", field="options")
    texts = _without_letters(texts)
    _check(texts)
    return dict(zip(LETTERS, texts, strict=False))


def labels_in(values: Mapping[str, Any]) -> dict[str, str]:
    """The letter of each label, of options `{text: […], label: […]}` or a list of `{label, text}`.

    >>> labels_in({"options": {"text": ["left", "right"], "label": ["1", "2"]}})
    {'1': 'A', '2': 'B'}

    Raises:
        SpecError: the labels are neither letters nor numbers in their order.
    """
    labels = [_text(label).upper() for label in _labels_and_texts(_written(values))[0]]
    if labels not in (list(LETTERS[: len(labels)]), [str(at) for at in range(1, len(labels) + 1)]):
        message = f"has the labels {', '.join(labels)[:80]}; allowed: A, B, C, … or 1, 2, 3, …"
        raise SpecError(message, field="options")
    return dict(zip(labels, LETTERS, strict=False))


def _written(values: Mapping[str, Any]) -> Any:
    written = values.get("options")
    if not isinstance(written, str) or not written.strip():
        return written
    parsed = json_value(written)
    if parsed is None and written.lstrip().startswith("["):
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            parsed = python_source.literal(written.strip())  # as pandas writes a list
    mark = next((mark for mark in "|;\n" if mark in written), None)
    if parsed is None and mark:
        parsed = [part.strip() for part in written.split(mark)]
    if parsed is None:
        message = 'is no list, such as ["left", "right"] or left; right; or use columns A, B, C'
        raise SpecError(message, field="options")
    return parsed


def _labels_and_texts(written: Any) -> tuple[list[Any], Any]:
    """Labels and texts apart; options without labels as they are."""
    if isinstance(written, list) and written and all(map(_has_label, written)):
        written = {name: [option[name] for option in written] for name in ("label", "text")}
    if not _has_label(written):
        return [], written
    labels, texts = written["label"], written["text"]
    if not isinstance(labels, list) or not isinstance(texts, list) or len(labels) != len(texts):
        raise SpecError("has not as many labels as texts", field="options")
    return labels, texts


def _has_label(option: object) -> bool:
    return isinstance(option, Mapping) and set(option) == {"label", "text"}


def _without_letters(texts: list[str]) -> list[str]:
    """The texts without the letters that they carry.

    Raises:
        SpecError: some carry one and others do not, or they come in another order.
    """
    matches = [CARRIED.match(text) for text in texts]
    carried = [match[1].upper() if match else "" for match in matches]
    letters = list(LETTERS[: len(texts)])
    if not set(carried) & set(letters):
        return texts  # as in "W. Heisenberg"
    if carried != letters:
        raise SpecError(
            f"carry the letters {', '.join(letter or 'none' for letter in carried)}; "
            f"allowed: all carry theirs in order ({', '.join(letters[:3])}, …), or none does",
            field="options",
        )
    return [text[match.end() :].strip() for text, match in zip(texts, matches, strict=True) if match]


def _lettered(written: Mapping[str, Any]) -> list[str]:
    letters = list(LETTERS[: len(written)])
    if sorted(written) != letters:
        raise SpecError(f"has the keys {', '.join(map(str, written))}; allowed: A, B, C, …", field="options")
    return letters


def _columns(values: Mapping[str, Any]) -> list[str]:
    """The texts of the columns A, B, C, …; those at the end may be empty, where others have more options."""
    used = [letter for letter in LETTERS if values.get(letter) not in (None, "")]
    if not used:
        return []
    return [_text(values.get(letter)) for letter in LETTERS[: LETTERS.index(used[-1]) + 1]]


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, str | int | float):
        raise SpecError(f"holds {type(value).__name__}; options are texts", field="options")
    return " ".join(str(value).split())


def _check(texts: list[str]) -> None:
    if not texts:
        return
    if len(texts) == 1:
        raise SpecError("has one entry; a choice needs two", field="options")
    if len(texts) > len(LETTERS):
        raise SpecError(f"has {len(texts)} entries; allowed: {len(LETTERS)}", field="options")
    for letter, text in zip(LETTERS, texts, strict=False):
        if not text:
            raise SpecError(f"option {letter} is empty", field="options")
        if len(text) > MAX_OPTION:
            raise SpecError(f"option {letter} has more than {MAX_OPTION:,} characters", field="options")
        same = LETTERS[texts.index(text)]
        if same != letter:
            raise SpecError(f"options {same} and {letter} are the same text {text[:60]!r}", field="options")


def right_letter(answer: object, options: Mapping[str, str], labels: Mapping[str, str] = NO_LABELS) -> str:
    """The letter of the right option: of its letter, its text or both, or its label, as the file gives it.

    >>> options = {"A": "left", "B": "right"}
    >>> right_letter("(b)", options), right_letter("Right", options), right_letter("B. right", options)
    ('B', 'B', 'B')

    Raises:
        SpecError: the answer is not among the options, or could be two of them. A number could be an index as
            well, from 0 or from 1: it is taken where it is a text and no such reading is another option.
    """
    written = " ".join(str(answer).split()) if isinstance(answer, str | int | float) else ""
    if isinstance(answer, bool):
        written = "yes" if answer else "no"
    readings = {**_by_letter(written, options), **_by_text(written, options)}
    indices = {} if labels else _by_index(written, options)
    if written.upper() in labels:
        readings["a label"] = labels[written.upper()]
    letters: list[str] = sorted({*readings.values(), *(indices.values() if readings else ())})
    if len(letters) == 1:
        return letters[0]
    shown, allowed = repr(str(answer)[:60]), ", ".join(options)
    if indices:
        named = ", ".join(f"{letter} as {reading[:80]}" for reading, letter in (readings | indices).items())
        message = f"{shown} could be {named}; write the right one's letter instead: {allowed}"
    elif letters:
        message = f"{shown} could be any of the options {', '.join(letters)}"
    else:
        message = f"{shown} is not among the options; allowed: {allowed}, or the text of one"
    raise SpecError(message, field="answer")


def _by_letter(text: str, options: Mapping[str, str]) -> dict[str, str]:
    """The option whose letter the text is, or which it names by letter and text."""
    alone = BARE.fullmatch(text)
    if alone is not None:
        letter = alone[1].upper()
        return {"its letter": letter} if letter in options else {}
    match = CARRIED.match(text)
    letter = match[1].upper() if match else ""
    if match and letter in options and bare(options[letter]) == bare(text[match.end() :]):
        return {"its letter and text": letter}
    return {}


def _by_text(text: str, options: Mapping[str, str]) -> dict[str, str]:
    """The options of that text; where none is it to the letter, those that are alike."""
    if not text:
        return {}
    exact = [letter for letter, option in options.items() if option == text]
    meant = bare(text)
    letters = exact or [letter for letter, option in options.items() if bare(option) == meant]
    return {f"the text {options[letter]!r}": letter for letter in letters}


def _by_index(text: str, options: Mapping[str, str]) -> dict[str, str]:
    if not INDEX.fullmatch(text):
        return {}
    number, letters = int(float(text)), list(options)
    starts = {"an index from 0": number, "an index from 1": number - 1}
    return {reading: letters[at] for reading, at in starts.items() if 0 <= at < len(letters)}
