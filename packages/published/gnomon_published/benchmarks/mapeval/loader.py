"""Reads the published `dataset.json`: questions, options, keys, classes, and which questions are kin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gnomon.core.errors import SpecError
from gnomon.core.sample import DataFault
from gnomon.core.shared_clusters import clusters_by_shared
from gnomon_published.map_record.context import ContextReading, read_context
from gnomon_published.map_record.names import is_same_name
from gnomon_published.map_record.record import MapNames
from gnomon_published.unique_rows import json_rows, unique_rows
from gnomon_tools.core.name_match import plain_name

FILE = "dataset.json"
UNANSWERABLE = "unanswerable"
TASKS: tuple[str, ...] = ("poi", "nearby", "routing", "trip", UNANSWERABLE)
MAX_OPTIONS = 20
# Ten times the longest published text of each kind; names are matched in time that grows with the square.
MAX_CHARS = {"id": 200, "question": 10_000, "answer.options": 2_000, "context": 100_000}


@dataclass(frozen=True, kw_only=True)
class MapQuestion:
    """A question with its options as published; `correct` is the index of the right one, None where the
    evidence does not answer it.
    """

    sample_id: str
    task: str
    text: str
    options: tuple[str, ...]
    correct: int | None
    context: str

    @cached_property
    def evidence(self) -> ContextReading:
        return read_context(self.context)


def read_questions(file: Path) -> tuple[list[MapQuestion], list[DataFault]]:
    """Every question that can be asked, in the order of the file, and what is wrong with rows.

    Raises:
        DataError: the file is no JSON list.
    """
    return unique_rows(json_rows(file), question_of, name_of=_name_of, repeats="the id")


def _name_of(number: int, row: object) -> str:
    name = str(row.get("id", f"row {number}")) if isinstance(row, Mapping) else f"row {number}"
    return name[: MAX_CHARS["id"]].encode(errors="backslashreplace").decode()


def names_of(question: MapQuestion) -> MapNames:
    """Which names of the record the question says, at least two thirds of the words of each, and which it
    offers as answers: all its options, where one is a name of the record.

    A name that several options hold, as one stop of several orders, is said: it tells none from the others.
    """
    options = [option.strip() for option in question.options if option.strip()]
    said, offered, record = [], False, question.evidence.record
    for name in (*record.place_names(), *(route.via for route in record.routes)):
        if any(is_same_name(name, option) for option in options):
            offered = True
            continue
        holding = sum(plain_name(name) in plain_name(option) for option in options)
        if holding > 1 or _says(question.text, name):
            said.append(name)
    return MapNames(said=tuple(said), offered=tuple(options) if offered else ())


def _says(text: str, name: str) -> bool:
    words, written = plain_name(name).split(), set(plain_name(text).split())
    return bool(words) and 3 * sum(word in written for word in words) >= 2 * len(words)


def question_of(row: object) -> MapQuestion:
    """Read one published row.

    Raises:
        SpecError: names the field that is absent or of another type.
    """
    if not isinstance(row, Mapping):
        raise SpecError("is no object", field="row")
    options, correct = answer_of(row)
    if not any(option.strip() for option in options):
        raise SpecError("has empty texts alone", field="answer.options")
    if correct is not None and not options[correct].strip():
        raise SpecError("names an empty option", field="answer.correct")
    text, context = row.get("question"), row.get("context")
    if not isinstance(text, str) or not text.strip():
        raise SpecError("is missing or empty", field="question")
    if not isinstance(context, str):
        raise SpecError("is missing or no text", field="context")
    if row.get("id") in (None, ""):
        raise SpecError("is missing", field="id")
    for field, written in (("id", str(row["id"])), ("question", text), ("context", context)):
        _check_text(written, field=field)
    label = row.get("classification")
    task = UNANSWERABLE if correct is None or label is None else str(label)
    if task not in TASKS:
        raise SpecError(f"{task!r} is none of {', '.join(TASKS)}", field="classification")
    return MapQuestion(
        sample_id=str(row["id"]), task=task, text=text, options=options, correct=correct, context=context
    )


def answer_of(row: Mapping[str, Any]) -> tuple[tuple[str, ...], int | None]:
    """The options of a row and the index of the right one, None for −1.

    Raises:
        SpecError: names the field that is absent or of another type.
    """
    answer = row.get("answer")
    if not isinstance(answer, Mapping):
        raise SpecError("is missing or no object", field="answer")
    options, correct = answer.get("options"), answer.get("correct")
    is_list = isinstance(options, Sequence) and not isinstance(options, str)
    if not is_list or not options or not all(isinstance(text, str) for text in options):
        raise SpecError("is no list of texts", field="answer.options")
    if len(options) > MAX_OPTIONS:
        raise SpecError(f"has more than {MAX_OPTIONS} texts", field="answer.options")
    for option in options:
        _check_text(option, field="answer.options")
    if not isinstance(correct, int) or isinstance(correct, bool) or not -1 <= correct < len(options):
        raise SpecError(f"{correct!r} is no index of an option, nor -1", field="answer.correct")
    return tuple(options), None if correct < 0 else correct


def _check_text(text: str, *, field: str) -> None:
    if len(text) > MAX_CHARS[field]:
        message = f"has {len(text):,} characters; at most {MAX_CHARS[field]:,} are read"
        raise SpecError(message, field=field)
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise SpecError("holds what no database can hold: a NUL or a lone surrogate", field=field)


def clusters_of(questions: Sequence[MapQuestion]) -> dict[str, str]:
    """The cluster of each question: those whose evidence is about a common place are kin, also by way of
    others.
    """
    return clusters_by_shared({question.sample_id: _places_of(question) for question in questions}, "places")


def _places_of(question: MapQuestion) -> set[str]:
    """The places that the evidence is about: not those that it only lists around one."""
    record = question.evidence.record
    names = {place.name for place in record.places}
    names |= {listed.around for listed in record.nearby}
    names |= {name for leg in record.legs for name in (leg.start, leg.end)}
    names |= {name for route in record.routes for name in (route.start, route.end)}
    return {plain_name(name) for name in names if plain_name(name)}
