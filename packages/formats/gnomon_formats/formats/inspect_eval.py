"""Writes logs of Inspect AI as `.eval` archives."""

from gnomon.exchange.format import Format
from gnomon_formats.inspect_archive import files

inspect_eval = Format(
    name="inspect-eval",
    about="a .eval log of Inspect AI per model and arm",
    files=files,
    needs_questions=True,
)
