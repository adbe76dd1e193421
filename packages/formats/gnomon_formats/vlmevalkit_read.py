"""Reads results of VLMEvalKit (`…_result.xlsx` or `.tsv`) as rows: one question per line with its score.

Columns that are read: `index`, the score (`hit`, `score` or what `--scorer` names), `prediction`, `log`, and
for task and cluster what `--cell` (default `category`) and `--cluster` name.
"""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.exchange.format import Reading
from gnomon.exchange.imported_job import Ended
from gnomon.exchange.row_file import finite
from gnomon.exchange.xlsx_sheet import sheet_lines
from gnomon.large_cells import allow_large_cells
from gnomon_formats.failures import is_failure, is_judge_failure
from gnomon_formats.reply_states import state_of

BENCHMARK = "vlmevalkit"  # a file does not say which it is of; its name is of the model too
SCORES = ("hit", "score")
UNSCORED, FAILED, JUDGE_FAILED = "vlmevalkit:unscored", "vlmevalkit:failed", "vlmevalkit:judge_failed"
Line = Mapping[str, str]


def read_results(path: Path, reading: Reading) -> Iterator[Ended]:
    """A trial for each line; the arm is the file's name where nothing else says it. The name of the score's
    column is added to `taken`.

    Where the request of the model or of its judge failed, the trial is missing: what the file then has as the
    score is made up.

    Raises:
        SpecError: a column is absent, or a score is no share; names the line and the column.
    """
    for number, line in _lines(path):
        if not line.get("index"):
            raise SpecError("index: needed", field=f"line {number}")
        column = reading.scorer or next((name for name in SCORES if name in line), None)
        if column is None or column not in line:
            there = ", ".join(line)
            raise SpecError(
                f"no column {column or ' or '.join(SCORES)}; there are: {there}", field="--scorer"
            )
        reading.taken.add(column)
        group = (reading.cell.of(line) if reading.cell else line.get("category")) or BENCHMARK
        score, prediction, why = _score(line[column], column, number), line.get("prediction") or "", UNSCORED
        has_failed = is_failure(prediction)
        if has_failed:
            score, why = None, FAILED
        elif is_judge_failure(line.get("log") or ""):
            score, why = None, JUDGE_FAILED
        is_missing = score is None
        row = Row(
            job_id="",
            trial_id="",
            benchmark=BENCHMARK,
            task=group,
            cell=group,
            sample_id=line["index"],
            cluster=reading.cluster.of(line) if reading.cluster else "",
            model="model",
            arm=(reading.arm or path.stem)[:80],
            repeat=0,
            outcome=Outcome.INFRA_MISSING if is_missing else Outcome.SCORED,
            stop_reason=why if is_missing else "answered",
            score=score,
            answer=None if has_failed else prediction or None,
            error=prediction[:500] if has_failed else "",
            reply_state=state_of([{"kind": "reply", "text": prediction}], score=score, answer=None)
            if "prediction" in line
            else None,
        )
        yield row, None


def _score(text: str, column: str, number: int) -> float | None:
    if text.lower() in ("", "nan", "none"):
        return None
    try:  # a workbook shows shares as 50%
        share = finite(float(text[:-1]) / 100 if text.endswith("%") else float(text))
    except ValueError:
        share = {"true": 1.0, "false": 0.0}.get(text.lower())
    if share is None:
        allowed = "a number in [0, 1], or a share such as 50%"
        raise SpecError(f"{column}: {text[:80]!r}; allowed: {allowed}", field=f"line {number}")
    return share


def _lines(path: Path) -> Iterator[tuple[int, Line]]:
    if path.suffix == ".xlsx":
        yield from sheet_lines(path)
        return
    allow_large_cells()
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            delimiter = "," if path.suffix == ".csv" else "\t"
            for number, line in enumerate(csv.DictReader(file, delimiter=delimiter), start=2):
                yield number, {name: value or "" for name, value in line.items() if isinstance(name, str)}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SpecError(f"{path} cannot be read: {error}", field="FILE") from None
