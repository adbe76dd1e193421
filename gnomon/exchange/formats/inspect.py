"""Writes logs of Inspect AI as JSON documents; reads these and `.eval` archives."""

from collections.abc import Iterator
from pathlib import Path

from gnomon.exchange.format import Format, Reading
from gnomon.exchange.inspect_log import read_log
from gnomon.exchange.inspect_write import files
from gnomon.exchange.run import Ended


def _read(path: Path, reading: Reading) -> Iterator[Ended]:
    return read_log(path, **reading.fields(), taken=reading.taken)


inspect = Format(
    name="inspect",
    about="a .json log of Inspect AI per model and arm",
    files=files,
    needs_questions=True,
    is_of=lambda start: start.ending == ".eval" or b'"eval"' in start.document,
    read=_read,
    reasons={
        "inspect:unscored": "unscored in the log",
        "inspect:error": "ended in an error",
        "inspect:invalidated": "invalidated in the log",
    },
)
