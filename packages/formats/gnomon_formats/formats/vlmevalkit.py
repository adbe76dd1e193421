"""Writes questions for VLMEvalKit, and reads its results, as tables."""

from collections.abc import Iterator
from pathlib import Path

from gnomon.exchange.format import Format, Reading, Start
from gnomon.exchange.run import Ended
from gnomon_formats.vlmevalkit_read import read_results
from gnomon_formats.vlmevalkit_write import files


def _is_of(start: Start) -> bool:
    return start.ending in (".tsv", ".xlsx") or "index" in start.columns


def _read(path: Path, reading: Reading) -> Iterator[Ended]:
    return read_results(path, **reading.fields(), taken=reading.taken)


vlmevalkit = Format(
    name="vlmevalkit",
    about="the questions as a TSV of VLMEvalKit, with their pictures",
    files=files,
    media_type="text/tab-separated-values",
    is_single=True,
    needs_questions=True,
    is_of=_is_of,
    read=_read,
    reasons={
        "vlmevalkit:unscored": "without a score",
        "vlmevalkit:failed": "request of the model failed",
        "vlmevalkit:judge_failed": "request of the judge failed",
    },
)
