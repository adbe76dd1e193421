"""Reads Parquet files from outside in a process of bounded memory.

A cell of 31 KB may unpack to 1 GB: Arrow has no bound for what a page unpacks to, and the sizes that a file
tells need not be true. The process is `python -m gnomon.parquet_file`: the file is its standard input, an
Arrow stream its standard output.
"""

import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gnomon.core.errors import DataError
from gnomon.parent_death import die_with_parent
from gnomon_tools.core.regular_file import open_regular

MOST_UNPACKED = 256_000_000  # bytes of a row group, as its file tells and as it is in memory
MOST_MEMORY = 700_000_000  # bytes of data of the process
MOST_FOOTER = 16_000_000  # bytes of the list of row groups and columns
MOST_VALUES = 2_000_000  # of ROWS rows: a value of two bits becomes an object of 200 bytes
MOST_S = 120.0
ROWS = 250  # that are unpacked at a time
MOST_SAID = 10_000  # bytes of a fault
FAULT = 3  # exit code of a process that has said what is wrong


def row_counts(path: Path) -> list[int]:
    """How many rows each group of a Parquet file has.

    Raises:
        DataError: it cannot be read as Parquet.
    """
    try:
        with open_regular(path) as source:
            source.seek(-min(8, path.stat().st_size), os.SEEK_END)
            footer = int.from_bytes(source.read(4), "little")
            if footer > MOST_FOOTER:  # it is read whole
                raise OSError(f"its footer has {footer:,} bytes; allowed: {MOST_FOOTER:,}")
            source.seek(0)
            file = pq.ParquetFile(source)
            return [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path.name} cannot be read as Parquet: {error}", field="data") from None


def read_group(path: Path, group: int) -> Any:
    """A row group as an Arrow table.

    Raises:
        DataError: it cannot be read as Parquet, or unpacks to more than MOST_UNPACKED bytes.
    """
    with tempfile.TemporaryFile() as table:
        try:
            with open_regular(path) as source:
                ended = subprocess.run(  # noqa: S603 (our own module)
                    (sys.executable, "-P", "-m", "gnomon.parquet_file", str(group)),
                    stdin=source,
                    stdout=table,
                    stderr=subprocess.PIPE,
                    timeout=MOST_S,
                    check=False,
                    preexec_fn=die_with_parent(signal.SIGKILL),
                )
        except OSError as error:
            raise DataError(f"{path.name} cannot be read as Parquet: {error}", field="data") from None
        except subprocess.TimeoutExpired:
            raise DataError(f"{path.name} is not unpacked within {MOST_S:g} s", field="data") from None
        if ended.returncode == FAULT:
            said = ended.stderr[-MOST_SAID:].decode(errors="replace")
            raise DataError(f"{path.name} cannot be read as Parquet: {said}", field="data")
        if ended.returncode:
            raise DataError(f"{path.name}: {_too_large(group)}", field="data")
        table.seek(0)
        with pa.ipc.open_stream(table) as stream:
            return stream.read_all()


def _too_large(group: int) -> str:
    return f"row group {group} unpacks to more than {MOST_UNPACKED:,} bytes"


def _fault(said: str) -> int:
    sys.stderr.write(said)
    return FAULT


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type of a column without a dictionary, which holds each text once, however many rows name it."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _count(array: pa.Array) -> int:
    """How many values a column holds, those within lists and records among them.

    Raises:
        pa.ArrowInvalid: dictionaries are among them.
    """
    if isinstance(array, pa.DictionaryArray):
        raise pa.ArrowInvalid("a dictionary within a list or a record; allowed: plain texts there")
    if isinstance(array, pa.MapArray):
        parts = [array.keys, array.items]
    elif isinstance(array, pa.StructArray):
        parts = array.flatten()
    else:
        parts = [array.flatten()] if hasattr(array, "flatten") else []
    return len(array) + sum(map(_count, parts))


def main(group: int) -> int:
    """Unpack a row group of the file on standard input."""
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    unpacked = 0
    try:
        with pq.ParquetFile(os.fdopen(0, "rb"), pre_buffer=False) as file:
            if file.metadata.row_group(group).total_byte_size > MOST_UNPACKED:
                return _fault(_too_large(group))
            schema = pa.schema([field.with_type(_plain(field.type)) for field in file.schema_arrow])
            with pa.ipc.new_stream(os.fdopen(1, "wb"), schema) as sink:
                for packed in file.iter_batches(ROWS, row_groups=[group], use_threads=False):
                    batch = packed.cast(schema)
                    unpacked += batch.nbytes
                    if unpacked > MOST_UNPACKED:
                        return _fault(_too_large(group))
                    if (values := sum(map(_count, batch.columns))) > MOST_VALUES:
                        return _fault(f"{len(batch)} rows hold {values:,} values; allowed: {MOST_VALUES:,}")
                    sink.write_batch(batch)
    except (MemoryError, pa.ArrowMemoryError):
        return _fault(_too_large(group))
    except (OSError, pa.ArrowException) as error:
        return _fault(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
