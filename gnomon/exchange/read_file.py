"""Reads a file of any format that `gnomon import` takes; which one it is, its ending and first lines say."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gnomon.core.errors import SpecError
from gnomon.exchange import json_lines, row_file
from gnomon.exchange.named_field import NamedField
from gnomon.exchange.run import Ended

ENDINGS = (".eval", ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".xlsx")
NOT_READ = {  # by a field of its first line: what a file of ours is that holds no rows
    "resourceSpans": "these are spans of OpenTelemetry, which are written and not read",
    "gnomon_cassette": "this is a cassette: an arm replays it, `cassette: {replay: FILE}`",
}
READ = (
    "read are logs of Inspect AI (.eval, .json), samples of lm-eval and lmms-eval (.jsonl with `doc_id`), "
    "results of VLMEvalKit (.tsv, .xlsx or .csv with `index`), ATIF trajectories (`schema_version`), samples "
    "of Every Eval Ever (`evaluation_id`), chat lines (`messages`), rows (`sample_id`, `arm`, `score`)"
)
START = 4_096  # bytes in which a document says what it is


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read: the arm's name, the score's, and those of the fields with cluster and cell.

    `taken` collects the names of the scores that were read.
    """

    arm: str | None = None
    scorer: str | None = None
    cluster: NamedField | None = None
    cell: NamedField | None = None
    taken: set[str] = field(default_factory=set)

    def fields(self) -> Mapping[str, Any]:
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

        return read_log(path, **reading.fields(), taken=reading.taken)
    if kind == "atif":
        from gnomon_formats.atif_read import read_trajectories

        return read_trajectories(path, **reading.fields())
    if kind == "every-eval-ever":
        from gnomon_formats.eee_read import read_records

        return read_records(path, **reading.fields())
    if kind == "chat":
        from gnomon_formats.chat_read import read_chats

        return _named_by_itself(read_chats(path, arm=reading.arm), reading)
    if kind == "vlmevalkit":
        from gnomon_formats.vlmevalkit_read import read_results

        return read_results(path, **reading.fields(), taken=reading.taken)
    if kind == "lm-eval":
        from gnomon_formats.lm_eval_read import read_samples

        return read_samples(path, **reading.fields(), taken=reading.taken)
    ended = ((replace(row, arm=reading.arm or row.arm), None) for row in row_file.iter_rows(path))
    return _named_by_itself(ended, reading)


def _named_by_itself(ended: Iterable[Ended], reading: Reading) -> Iterator[Ended]:
    """Trials of a format with fields of its own for cluster and cell: no others can be named."""
    for row, trace in ended:
        if reading.cluster:
            reading.cluster.of({"cluster": row.cluster})
        if reading.cell:
            reading.cell.of({"cell": row.cell})
        yield row, trace


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
        return _kind_of_header(path)
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
    for name, what in NOT_READ.items():
        if name in fields:
            raise SpecError(what, field="FILE")
    if "doc_id" in fields:
        return "lm-eval"
    if "messages" in fields:
        return "chat"
    if "sample_id" in fields:
        return "rows"
    raise _unknown(f"its first line has the fields {_listed(fields)}")


def _unknown(what: str) -> SpecError:
    return SpecError(f"{what}; {READ}", field="FILE")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(str(name)[:40] for name in list(names)[:12]) or "none"


def _kind_of_header(path: Path) -> str:
    """Rows, or a result of VLMEvalKit: by the columns of a CSV file."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            columns = next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SpecError(f"{path} cannot be read: {error}", field="FILE") from None
    if "sample_id" in columns or not columns:
        return "rows"
    if "index" in columns:
        return "vlmevalkit"
    raise _unknown(f"it has the columns {_listed(columns)}")


def _kind_of_start(path: Path) -> str:
    """The format of a whole document, by what it begins with: a log may be large."""
    try:
        with path.open("rb") as file:
            start = file.read(START)
    except OSError as error:
        raise SpecError(f"{path} cannot be read: {error.strerror}", field="FILE") from None
    if b'"ATIF-' in start:
        return "atif"
    if b'"evaluation_id"' in start:
        return "every-eval-ever"
    if b'"eval"' in start:
        return "inspect"
    if b'"results"' in start:
        raise _unknown("it holds totals, and scores of single samples are needed (`--log_samples`)")
    raise _unknown("it begins as none of them does")
