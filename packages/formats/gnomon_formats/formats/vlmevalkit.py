"""Writes questions for VLMEvalKit, and reads its results, as tables."""

from gnomon.exchange.format import Format, Start
from gnomon_formats.vlmevalkit_read import read_results
from gnomon_formats.vlmevalkit_write import files


def _is_of(start: Start) -> bool:
    return start.ending in (".tsv", ".xlsx") or "index" in start.columns


vlmevalkit = Format(
    name="vlmevalkit",
    about="the questions as a TSV of VLMEvalKit, with their pictures",
    files=files,
    media_type="text/tab-separated-values",
    is_single=True,
    needs_questions=True,
    is_of=_is_of,
    read=read_results,
    reasons={
        "vlmevalkit:unscored": "without a score",
        "vlmevalkit:failed": "request of the model failed",
        "vlmevalkit:judge_failed": "request of the judge failed",
    },
)
