"""Reads and writes agent trajectories, one ATIF document per trial."""

from gnomon.exchange.format import LINES, Format, Start
from gnomon_formats.atif_read import read_trajectories
from gnomon_formats.atif_write import files


def _is_of(start: Start) -> bool:
    return str(start.fields.get("schema_version")).startswith("ATIF-") or b'"ATIF-' in start.document


atif = Format(
    name="atif",
    about="trajectories.jsonl, one ATIF v1.7 document per trial",
    files=files,
    media_type=LINES,
    is_single=True,
    needs_questions=True,
    is_of=_is_of,
    read=read_trajectories,
    reasons={"atif:unscored": "without a score"},
)
