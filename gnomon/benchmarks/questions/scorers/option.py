"""Option: the reply names the one right option among those displayed."""

from collections.abc import Mapping
from typing import Any, ClassVar

from gnomon.benchmarks.questions.scorers.scorer import Scorer, Truth, refuse
from gnomon.core.errors import SpecError
from gnomon.core.score import Score
from gnomon.reading.characters import bare
from gnomon.reading.choices import read_choice
from gnomon.reading.texts import as_json

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MAX_OPTION = 4_000  # characters


class OptionScorer(Scorer):
    """One letter; which is right depends on the order in which the options are displayed."""

    kind: ClassVar[str] = "option"

    def truth(self, answer: object) -> Truth:
        """For a choice the options count as well: see `choice`."""
        raise refuse(answer, "of use without options; add `options`, or columns A, B, C")

    def form(self, truth: Truth) -> str:  # noqa: ARG002 (the same for all)
        return "Answer with the letter of one option only."

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

    >>> options_in({"options": ["left", "right"]}), options_in({"A": "left", "B": 2, "C": ""})
    ({'A': 'left', 'B': 'right'}, {'A': 'left', 'B': '2'})

    Raises:
        SpecError: they are no list of texts, or some are empty or alike.
    """
    written = values.get("options")
    if isinstance(written, str) and written.strip():
        written = as_json(written)
        if written is None:
            raise SpecError(
                'is no JSON list, such as ["left", "right"]; or use columns A, B, C', field="options"
            )
    if isinstance(written, Mapping):
        written = {letter: text for letter, text in written.items() if text not in (None, "")}
        written = [written[letter] for letter in _lettered(written)]
    if written in (None, "", []):
        texts = _columns(values)
    elif isinstance(written, list | tuple):
        texts = [_text(option) for option in written]
    else:
        raise SpecError("is no list of texts", field="options")
    _check(texts)
    return dict(zip(LETTERS, texts, strict=False))


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


def right_letter(answer: object, options: Mapping[str, str]) -> str:
    """The letter of the right option: of its letter or of its text, as the file gives it.

    >>> options = {"A": "left", "B": "right"}
    >>> right_letter("b", options), right_letter("Right", options)
    ('B', 'B')

    Raises:
        SpecError: the answer is not among the options, or could be two of them.
    """
    written = " ".join(str(answer).split()) if isinstance(answer, str | int | float) else ""
    if isinstance(answer, bool):
        written = "yes" if answer else "no"
    by_letter = [written.upper()] if written.upper() in options and len(written) == 1 else []
    exact = [letter for letter, text in options.items() if text == written]
    by_text = exact or [letter for letter, text in options.items() if bare(text) == bare(written)]
    letters = sorted({*by_letter, *by_text}) if written else []
    if len(letters) == 1:
        return letters[0]
    if letters:
        raise SpecError(f"{written!r} could be any of the options {', '.join(letters)}", field="answer")
    allowed = f"allowed: {', '.join(options)}, or the text of one"
    raise SpecError(f"{str(answer)[:60]!r} is not among the options; {allowed}", field="answer")
