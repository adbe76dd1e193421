"""Writes logs of Inspect AI as JSON documents; reads these and `.eval` archives."""

from gnomon.exchange.format import Format
from gnomon_formats.inspect_read import read_log
from gnomon_formats.inspect_write import files

inspect = Format(
    name="inspect",
    about="a .json log of Inspect AI per model and arm",
    files=files,
    needs_questions=True,
    is_of=lambda start: start.ending == ".eval" or b'"eval"' in start.document,
    read=read_log,
    reasons={
        "inspect:unscored": "unscored in the log",
        "inspect:error": "ended in an error",
        "inspect:invalidated": "invalidated in the log",
    },
)
