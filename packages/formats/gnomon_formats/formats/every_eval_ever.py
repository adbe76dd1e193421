"""Reads and writes records and samples of Every Eval Ever."""

from gnomon.exchange.format import Format, Start
from gnomon_formats.eee_read import read_records
from gnomon_formats.eee_write import files


def _is_of(start: Start) -> bool:
    return "evaluation_id" in start.fields or b'"evaluation_id"' in start.document


every_eval_ever = Format(
    name="every-eval-ever",
    about="records and samples of Every Eval Ever, per model and arm",
    files=files,
    needs_questions=True,
    is_of=_is_of,
    read=read_records,
)
