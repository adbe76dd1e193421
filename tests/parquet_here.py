"""Groups of Parquet files that tests have written, unpacked in the process that asks."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gnomon.benchmarks.questions import tables
from gnomon.media import clip_samples
from gnomon.parquet_file import read_group

READERS = (clip_samples, tables)  # modules that read such files


def read_group_here(path: Path, group: int) -> Any:
    """As `read_group` gives it; where something is wrong with the file, that says what."""
    try:
        return pq.ParquetFile(path).read_row_group(group)
    except (OSError, pa.ArrowException):
        return read_group(path, group)
