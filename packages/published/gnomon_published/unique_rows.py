"""Finds a published file and reads its rows, each id once, and says what is wrong with the others."""

import json
from collections.abc import Callable, Iterable
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from gnomon.core.errors import DataError, SpecError
from gnomon.core.sample import DataFault
from gnomon_tools.core.regular_file import read_regular

Row = TypeVar("Row")
Q = TypeVar("Q")


def published_file(data: Path, *places: str, holds: str) -> Path:
    """The first of these files that a published folder has; `holds` says what is in it.

    Raises:
        DataError: it has none of them.
    """
    for place in places:
        if (data / place).is_file():
            return data / place
    raise DataError(f"{data} holds no {holds}", field="data")


def json_rows(file: Path) -> list[Any]:
    """The entries of a file that is one JSON list.

    Raises:
        DataError: it cannot be read, or is no list.
    """
    try:
        rows = json.loads(read_regular(file))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{file} cannot be read: {error}", field="data") from None
    if not isinstance(rows, list):
        raise DataError(f"{file} is no list of questions", field="data")
    return rows


def unique_rows(
    rows: Iterable[Row],
    read: Callable[[Row], Q],
    *,
    name_of: Callable[[int, Row], str],
    repeats: str,
    faults_of: Callable[[Q], Iterable[DataFault]] = lambda _: (),
    id_of: Callable[[Q], str] = attrgetter("sample_id"),
    place_of: Callable[[int, Row], str] = lambda number, _: f"row {number}",
) -> tuple[list[Q], list[DataFault]]:
    """Every row that can be asked, in the order of the file, and what is wrong with rows.

    `name_of` names a row that cannot be read, `repeats` what two rows of one id have in common, and
    `place_of` where the second is. Whatever `read` makes of a row that is wrong, the others are read.
    """
    questions: dict[str, Q] = {}
    faults: list[DataFault] = []
    for number, row in enumerate(rows):
        try:
            question = read(row)
        except (DataError, SpecError, ValueError, RecursionError) as error:
            faults.append(DataFault(sample_id=name_of(number, row), kind="malformed", detail=str(error)))
            continue
        sample_id = id_of(question)
        if sample_id in questions:
            detail = f"{place_of(number, row)} repeats {repeats}; the first one counts"
            faults.append(DataFault(sample_id=sample_id, kind="duplicate", detail=detail))
            continue
        questions[sample_id] = question
        faults += faults_of(question)
    return list(questions.values()), faults
