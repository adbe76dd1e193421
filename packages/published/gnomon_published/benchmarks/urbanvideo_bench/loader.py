"""Reads the published folder: `MCQ.parquet`, its sixteen tasks and options, and `videos/`."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnomon.core.errors import DataError
from gnomon.core.sample import DataFault
from gnomon.media.clip_folders import ClipFolders
from gnomon.media.clip_samples import ClipQuestion, read_rows
from gnomon_published.unique_rows import published_file, unique_rows

TASKS: tuple[str, ...] = (
    "Trajectory Captioning",
    "Sequence Recall",
    "Object Recall",
    "Scene Recall",
    "Start/End Position",
    "Proximity",
    "Duration",
    "Landmark Position",
    "Goal Detection",
    "Cognitive Map",
    "Causal",
    "Counterfactual",
    "Association",
    "Progress Evaluation",
    "High-level Planning",
    "Action Generation",
)


def _task_key(label: str) -> str:
    return re.sub(r"[^a-z0-9]", "", label.lower())


_BY_KEY = {_task_key(task): task for task in TASKS}


def task_of(label: str) -> str | None:
    """The task of a published label, whatever its case, spaces and dashes; None if it is not one of them.

    >>> task_of("high-level planning "), task_of("Cooking")
    ('High-level Planning', None)
    """
    return _BY_KEY.get(_task_key(label))


LETTERS = "ABCDEFGHIJ"

_MARKER = re.compile(r"\b(?:choices?|choose|options?)\s*[:：]", re.IGNORECASE)
_OPTION = re.compile(r"^[ \t]*([A-J])[ \t]*[.:：)、][ \t]*(.*?)[ \t]*$", re.MULTILINE)


def split_question(text: str) -> tuple[str, dict[str, str]]:
    r"""The question proper, and its options by letter; no options if the text lists fewer than two.

    They begin behind a marker (Choices, Choice, Choose, Options, Option, with a colon) where there is one,
    and their letters run on from A without a gap; a line without a letter belongs to the option above it.

    >>> split_question("Where is it?\nChoices:\nA. Left\nB. Right")
    ('Where is it?', {'A': 'Left', 'B': 'Right'})
    >>> split_question("Where is it?")
    ('Where is it?', {})
    """
    marker = None
    for marker in _MARKER.finditer(text):
        if _OPTION.search(text, marker.end()):
            break
    start = marker.end() if marker else 0
    run: list[re.Match[str]] = []
    for match in _OPTION.finditer(text, start):
        if len(run) < len(LETTERS) and match[1] == LETTERS[len(run)]:
            run.append(match)
    if len(run) < 2:
        return text.strip(), {}
    ends = [match.start() for match in run[1:]] + [len(text)]
    bodies = {
        match[1]: " ".join(text[match.start(2) : end].split()) for match, end in zip(run, ends, strict=True)
    }
    body = text[: marker.start() if marker else run[0].start()]
    return body.strip(), bodies


COLUMNS = ("Question_id", "video_id", "question_category", "question", "answer")


def find_layout(data: Path) -> tuple[Path, ClipFolders]:
    """The question file and the folders of clips, which may be absent.

    Raises:
        DataError: the question file is missing.
    """
    places = ("MCQ.parquet", "benchmark/MCQ.parquet", "dataset/MCQ.parquet")
    holds = "UrbanVideo-Bench questions; expected MCQ.parquet and videos/"
    file = published_file(data, *places, holds=holds)
    return file, ClipFolders(root=file.parent, beside=data)


def read_questions(file: Path) -> tuple[list[ClipQuestion], list[DataFault]]:
    """Every row that can be asked, in the order of the file, and what is wrong with rows.

    Rows without options can be asked unchanged, and are named as faults.
    """
    return unique_rows(
        read_rows(file),
        question_of,
        name_of=lambda number, row: sample_id_of(row) or f"row {number}",
        repeats="a Question_id",
        faults_of=_faults,
    )


def question_of(row: Mapping[str, Any]) -> ClipQuestion:
    """Read one row.

    Raises:
        DataError: a column is absent or empty, the answer is not a letter, or the category is unknown.
    """
    texts = {column: _text(row, column) for column in COLUMNS}
    for column, text in texts.items():
        if not text:
            raise DataError("absent or empty", field=column)
    gold = texts["answer"].strip().rstrip(".").upper()
    if len(gold) != 1 or gold not in LETTERS:
        raise DataError(f"{texts['answer']!r} is no letter of {LETTERS}", field="answer")
    task = task_of(texts["question_category"])
    if task is None:
        raise DataError(f"no task {texts['question_category']!r}", field="question_category")
    return ClipQuestion(
        sample_id=sample_id_of(row),
        task=task,
        clip=texts["video_id"],
        text=texts["question"],
        options=split_question(texts["question"])[1],
        gold=gold,
    )


def sample_id_of(row: Mapping[str, Any]) -> str:
    """The sample's id: that of the question."""
    return _text(row, "Question_id")


def _faults(question: ClipQuestion) -> list[DataFault]:
    if not question.options:
        detail = "no options can be read; guarded leaves it out"
        return [DataFault(sample_id=question.sample_id, kind="no_options", detail=detail)]
    if question.gold not in question.options:
        detail = f"the answer {question.gold} is not among the options {', '.join(question.options)}"
        return [DataFault(sample_id=question.sample_id, kind="gold_not_offered", detail=detail)]
    return []


def _text(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    return "" if value is None or isinstance(value, float | bool | list | dict) else str(value).strip("\0")
