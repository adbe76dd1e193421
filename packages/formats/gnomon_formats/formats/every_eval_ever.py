"""Reads and writes records and samples of Every Eval Ever."""

from collections.abc import Iterator
from pathlib import Path

from gnomon.exchange.format import Format, Reading, Start
from gnomon.exchange.run import Ended
from gnomon_formats.eee_read import read_records
from gnomon_formats.eee_write import files


def _is_of(start: Start) -> bool:
    return "evaluation_id" in start.fields or b'"evaluation_id"' in start.document


def _read(path: Path, reading: Reading) -> Iterator[Ended]:
    return read_records(path, **reading.fields())


every_eval_ever = Format(
    name="every-eval-ever",
    about="records and samples of Every Eval Ever, per model and arm",
    files=files,
    needs_questions=True,
    is_of=_is_of,
    read=_read,
)
