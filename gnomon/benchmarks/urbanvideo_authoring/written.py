"""Written: a question as a model wrote it, if it keeps the form."""

import re
from dataclasses import dataclass

from gnomon.benchmarks.urbanvideo_bench.options import split_question

MAX_CHARS = 8000

_QUESTION = re.compile(r"^\W*Question\W*:\s*", re.IGNORECASE | re.MULTILINE)
_ANSWER = re.compile(r"^\W*Answer\W*:\W*([A-J])\b\W*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Question and options as one text, as published, and the right letter."""

    question: str
    answer: str


def read_written(response: str, *, options: int) -> Written | str:
    r"""What was written, or why it is no question of that many options.

    >>> read_written("Question: Where?\nChoices:\nA. Here\nB. There\nAnswer: B", options=2)
    Written(question='Where?\nChoices:\nA. Here\nB. There', answer='B')
    >>> read_written("Certainly!", options=2)
    'no line `Answer: X`'
    """
    answers = list(_ANSWER.finditer(response[:MAX_CHARS]))
    if not answers:
        return "no line `Answer: X`"
    body = response[: answers[-1].start()]
    starts = list(_QUESTION.finditer(body))
    asked, found = split_question(body[starts[-1].end() :] if starts else body)
    if not asked:
        return "no question before the options"
    if len(found) != options:
        return f"{len(found)} options, not {options}"
    if len({text.casefold() for text in found.values()}) < options or not all(found.values()):
        return "two options are the same, or one is empty"
    letter = answers[-1][1].upper()
    if letter not in found:
        return f"the answer {letter} is not among the options"
    lines = [asked, "Choices:", *(f"{name}. {text}" for name, text in found.items())]
    return Written(question="\n".join(lines), answer=letter)
