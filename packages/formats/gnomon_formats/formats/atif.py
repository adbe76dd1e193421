"""Reads and writes agent trajectories, one ATIF document per trial."""

from collections.abc import Iterator
from pathlib import Path

from gnomon.exchange.format import LINES, Format, Reading, Start
from gnomon.exchange.run import Ended
from gnomon_formats.atif_read import read_trajectories
from gnomon_formats.atif_write import files


def _is_of(start: Start) -> bool:
    return str(start.fields.get("schema_version")).startswith("ATIF-") or b'"ATIF-' in start.document


def _read(path: Path, reading: Reading) -> Iterator[Ended]:
    return read_trajectories(path, **reading.fields())


atif = Format(
    name="atif",
    about="trajectories.jsonl, one ATIF v1.7 document per trial",
    files=files,
    media_type=LINES,
    is_single=True,
    needs_questions=True,
    is_of=_is_of,
    read=_read,
    reasons={"atif:unscored": "without a score"},
)
