"""Reads a file of any format that `gnomon import` takes; which one it is, its ending and first lines say."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gnomon.core.errors import SpecError
from gnomon.exchange import json_lines, row_file
from gnomon.exchange.run import Ended

ENDINGS = (".eval", ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".xlsx")
NOT_READ = {  # by a field of its first line: what a file of ours is that holds no rows
    "resourceSpans": "these are spans of OpenTelemetry, which are written and not read",
    "gnomon_cassette": "this is a cassette: an arm replays it, `cassette: {replay: FILE}`",
}
START = 4_096  # bytes in which a document says what it is


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read: the arm's name, and names of fields where a format has several."""

    arm: str | None = None
    scorer: str | None = None
    cluster: str | None = None
    cell: str | None = None

    def fields(self) -> Mapping[str, str | None]:
        """As the readers take them."""
        return {"arm": self.arm, "scorer": self.scorer, "cluster": self.cluster, "cell": self.cell}


def read_file(path: Path, reading: Reading, *, kind: str | None = None) -> Iterator[Ended]:
    """The trials of a file, one at a time; `kind` names its format, else it is found.

    Raises:
        SpecError: it is of no format that is read here, or breaks its rules; names the line and the field.
    """
    kind = kind or kind_of(path)
    if kind == "inspect":
        from gnomon.exchange.inspect_log import read_log

        return read_log(path, **reading.fields())
    if kind == "atif":
        from gnomon.exchange.atif_read import read_trajectories

        return read_trajectories(path, **reading.fields())
    if kind == "every-eval-ever":
        from gnomon.exchange.eee_read import read_records

        return read_records(path, **reading.fields())
    if kind == "chat":
        from gnomon.exchange.chat_read import read_chats

        return read_chats(path, arm=reading.arm)
    if kind == "vlmevalkit":
        from gnomon.exchange.vlmevalkit_read import read_results

        return read_results(path, **reading.fields())
    return ((replace(row, arm=reading.arm or row.arm), None) for row in row_file.iter_rows(path))


def kind_of(path: Path) -> str:
    """The format of a file.

    Raises:
        SpecError: its ending is none of those that are read, or it holds no trials.
    """
    if path.suffix == ".eval":
        return "inspect"
    if path.suffix in (".tsv", ".xlsx"):
        return "vlmevalkit"
    if path.suffix == ".csv":
        return "rows"
    if path.suffix in row_file.ENDINGS:
        first = next(json_lines.lines(path), (0, None))[1]
        return _kind_of_fields(first) if isinstance(first, Mapping) else "rows"
    if path.suffix == ".json":
        return _kind_of_start(path)
    allowed = ", ".join(ENDINGS)
    raise SpecError(
        f"{path.name!r} is neither a log nor a row file; allowed endings: {allowed}", field="FILE"
    )


def _kind_of_fields(fields: Mapping[str, object]) -> str:
    if str(fields.get("schema_version")).startswith("ATIF-"):
        return "atif"
    if "evaluation_id" in fields:
        return "every-eval-ever"
    for field, what in NOT_READ.items():
        if field in fields:
            raise SpecError(what, field="FILE")
    return "chat" if "messages" in fields else "rows"


def _kind_of_start(path: Path) -> str:
    """The format of a whole document, by what it begins with: a log may be large."""
    try:
        with path.open("rb") as file:
            start = file.read(START)
    except OSError as error:
        raise SpecError(f"{path} cannot be read: {error.strerror}", field="FILE") from None
    if b'"ATIF-' in start:
        return "atif"
    return "every-eval-ever" if b'"evaluation_id"' in start else "inspect"
