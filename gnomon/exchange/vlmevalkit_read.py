"""Reads results of VLMEvalKit (`…_result.xlsx` or `.tsv`) as rows: one question per line with its score.

Columns that are read: `index`, the score (`hit`, `score` or what `--scorer` names), `prediction`, and for
task and cluster what `--cell` (default `category`) and `--cluster` name.
"""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.exchange.row_file import finite
from gnomon.exchange.run import Ended
from gnomon.exchange.sheet import sheet_lines
from gnomon.large_cells import allow_large_cells

SCORES = ("hit", "score")
UNSCORED = "vlmevalkit:unscored"
Line = Mapping[str, str]


def read_results(
    path: Path,
    *,
    arm: str | None = None,
    scorer: str | None = None,
    cluster: str | None = None,
    cell: str | None = None,
) -> Iterator[Ended]:
    """A trial for each line; arm, model and benchmark are the file's name where nothing else says them.

    Raises:
        SpecError: a column is absent, or a score is no share; names the line and the column.
    """
    for number, line in _lines(path):
        if not line.get("index"):
            raise SpecError("index: needed", field=f"line {number}")
        column = scorer or next((name for name in SCORES if name in line), None)
        if column is None or column not in line:
            there = ", ".join(line)
            raise SpecError(
                f"no column {column or ' or '.join(SCORES)}; there are: {there}", field="--scorer"
            )
        group = line.get(cell or "category") or path.stem
        score = _score(line[column], column, number)
        is_missing = score is None
        row = Row(
            job_id="",
            trial_id="",
            benchmark="vlmevalkit",
            task=group,
            cell=group,
            sample_id=line["index"],
            cluster=line.get(cluster, "") if cluster else "",
            model="model",
            arm=(arm or path.stem)[:80],
            repeat=0,
            outcome=Outcome.INFRA_MISSING if is_missing else Outcome.SCORED,
            stop_reason=UNSCORED if is_missing else "answered",
            score=score,
            answer=line.get("prediction") or None,
        )
        yield row, None


def _score(text: str, column: str, number: int) -> float | None:
    if not text:
        return None
    try:
        share = finite(float(text))
    except ValueError:
        share = {"true": 1.0, "false": 0.0}.get(text.lower())
    if share is None:
        raise SpecError(f"{column}: {text[:80]!r}; allowed: a number in [0, 1]", field=f"line {number}")
    return share


def _lines(path: Path) -> Iterator[tuple[int, Line]]:
    if path.suffix == ".xlsx":
        yield from sheet_lines(path)
        return
    allow_large_cells()
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, line in enumerate(csv.DictReader(file, delimiter="\t"), start=2):
                yield number, {name: value or "" for name, value in line.items() if isinstance(name, str)}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SpecError(f"{path} cannot be read: {error}", field="FILE") from None
