"""Drops the questions that every model answers without looking (UrbanVideo-Bench, section 3.2.3)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gnomon.core.benchmark import BENCHMARKS, HasQuestionFile
from gnomon.core.errors import DataError, SpecError
from gnomon.media.clip_samples import read_rows
from gnomon.whole_file import require_new_folder
from gnomon_analyses.reviews.rows import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Which questions go, and which stay; `unasked` were not answered by every model and stay."""

    dropped: frozenset[str]
    kept: frozenset[str]
    unasked: frozenset[str]
    models: tuple[str, ...]


def judged(rows: Sequence[Row]) -> Verdict:
    """A question goes if every model was right in every trial; one missing trial keeps it.

    Raises:
        DataError: the rows are not those of one benchmark.
    """
    if len({row["benchmark"] for row in rows}) != 1:
        raise DataError("rows of several benchmarks; filter one at a time")
    models = tuple(sorted({row["model"] for row in rows}))
    by_sample: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_sample[row["sample_id"]].append(row)
    unasked, dropped = set(), set()
    for sample_id, sample_rows in by_sample.items():
        if {row["model"] for row in sample_rows if row["score"] is not None} < set(models):
            unasked.add(sample_id)
        elif all(row["score"] == 1.0 for row in sample_rows):
            dropped.add(sample_id)
    return Verdict(
        dropped=frozenset(dropped),
        kept=frozenset(by_sample) - dropped,
        unasked=frozenset(unasked),
        models=models,
    )


def write_filtered(verdict: Verdict, *, benchmark: str, data: Path, out: Path) -> int:
    """Write the published file without the dropped rows, the clips linked; how many rows are left.

    Raises:
        SpecError: `out` is not new or empty, or the benchmark has no such file.
        DataError: the file is absent or broken.
    """
    files = {
        plugin.name: plugin.question_file for plugin in BENCHMARKS if isinstance(plugin, HasQuestionFile)
    }
    if benchmark not in files:
        raise SpecError(f"no filter for {benchmark!r}; there is one for: {', '.join(files)}", field="ROWS")
    require_new_folder(out)
    file = files[benchmark]
    rows = read_rows(data / file.name)
    kept = [row for row in rows if file.id_of(row) not in verdict.dropped]
    out.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(kept), out / file.name)
    if (data / file.clips).is_dir():
        (out / file.clips).symlink_to((data / file.clips).resolve(), target_is_directory=True)
    return len(kept)
