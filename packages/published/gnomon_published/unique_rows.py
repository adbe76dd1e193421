"""Reads the rows of a published file, each id once, and says what is wrong with the others."""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from gnomon.core.errors import DataError, SpecError
from gnomon.core.sample import DataFault


class Identified(Protocol):
    """A question that knows its id."""

    @property
    def sample_id(self) -> str: ...


Row = TypeVar("Row")
Q = TypeVar("Q", bound=Identified)


def unique_rows(
    rows: Iterable[Row],
    read: Callable[[Row], Q],
    *,
    name_of: Callable[[int, Row], str],
    repeats: str,
    faults_of: Callable[[Q], Iterable[DataFault]] = lambda _: (),
) -> tuple[list[Q], list[DataFault]]:
    """Every row that can be asked, in the order of the file, and what is wrong with rows.

    `name_of` names a row that cannot be read, `repeats` what two rows of one id have in common.
    """
    questions: dict[str, Q] = {}
    faults: list[DataFault] = []
    for number, row in enumerate(rows):
        try:
            question = read(row)
        except (DataError, SpecError) as error:
            faults.append(DataFault(sample_id=name_of(number, row), kind="malformed", detail=str(error)))
            continue
        if question.sample_id in questions:
            detail = f"row {number} repeats {repeats}; the first one counts"
            faults.append(DataFault(sample_id=question.sample_id, kind="duplicate", detail=detail))
            continue
        questions[question.sample_id] = question
        faults += faults_of(question)
    return list(questions.values()), faults
