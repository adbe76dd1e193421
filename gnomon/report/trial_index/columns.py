"""Keeps a job's trials as one Arrow batch: each column an array, each text once."""

import json
import re
import string
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gnomon.core.score import Outcome
from gnomon.report.row_formats import escape_surrogates

Array = NDArray[Any]
NUMBER = re.compile("[0-9]+")
ANSWER_CHARS = 200  # of an answer that are kept and searched
TEXT = pa.dictionary(pa.int32(), pa.string())
PLAN_COLUMNS = ("sample_id", "task", "cell", "cluster")  # of a planned trial that has not run
# Of the columns of the table `results` that an index is built from, in this order. As they are stored, flags
# and tools_used are JSON text; here they are the JSON text of a sorted list.
TRIALS = pa.schema(
    [
        ("seq", pa.int64()),
        ("trial_id", pa.string()),
        *((name, TEXT) for name in (*PLAN_COLUMNS, "model", "arm")),
        ("repeat", pa.int32()),
        ("outcome", TEXT),
        ("stop_reason", TEXT),
        ("score", pa.float64()),
        *((name, TEXT) for name in ("answer", "flags", "tools_used")),
        ("tool_calls", pa.int32()),
        ("tool_errors", pa.int32()),
        ("usd", pa.float64()),
        ("wall_s", pa.float64()),
        ("reply_state", TEXT),
    ]
)
STORED_COLUMNS = tuple(TRIALS.names)
PLANNED = pa.schema([(name, TEXT) for name in PLAN_COLUMNS])


def trials_of(rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Rows of the table `results` as STORED_COLUMNS; a trial that is missing has no score."""
    stored = dict(zip(STORED_COLUMNS, zip(*rows, strict=True), strict=True))
    columns = {
        name: [read(value) for value in stored[name]] if (read := _READ.get(name)) else list(values)
        for name, values in stored.items()
    }
    columns["score"] = [
        None if outcome == Outcome.INFRA_MISSING else score
        for outcome, score in zip(stored["outcome"], stored["score"], strict=True)
    ]
    return pa.table(columns, schema=TRIALS)


def planned_of(samples: Sequence[Sequence[str]]) -> pa.Table:
    """Planned trials without a result, given as PLAN_COLUMNS."""
    columns = list(zip(*samples, strict=True)) or [()] * len(PLAN_COLUMNS)
    return pa.table(dict(zip(PLAN_COLUMNS, map(list, columns), strict=True)), schema=PLANNED)


def joined(tables: Iterable[pa.Table]) -> pa.RecordBatch:
    """The rows of all tables as one batch, in which each text has one number."""
    whole = pa.concat_tables(tables).unify_dictionaries()
    columns = [column.combine_chunks() for column in whole.columns]
    return pa.RecordBatch.from_arrays(columns, schema=whole.schema)


def written(*batches: pa.RecordBatch) -> bytes:
    """The batches one after another, compressed; `read_batches` reads them."""
    sink = pa.BufferOutputStream()
    for batch in batches:
        with pa.ipc.new_stream(
            sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
        ) as stream:
            stream.write_batch(batch)
    body: bytes = sink.getvalue().to_pybytes()
    return body


def read_batches(body: bytes) -> list[pa.RecordBatch]:
    """What `written` wrote."""
    source, batches = pa.BufferReader(body), []
    while source.tell() < len(body):
        batches.append(joined([pa.ipc.open_stream(source).read_all()]))
    return batches


def codes(column: pa.DictionaryArray, of: Sequence[str]) -> Array:
    """By row, the place of its text among these."""
    place = {text: at for at, text in enumerate(of)}
    numbers = np.array([place[text] for text in column.dictionary.to_pylist()], np.intp)
    by_row: Array = numbers[column.indices.to_numpy()]
    return by_row


def numbers(column: pa.Array) -> Array:
    """A column of numbers; NaN: null."""
    values: Array = column.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return values


def natural_key(name: str) -> tuple[str, str, int, str]:
    """What an id is sorted by: `q2` comes before `q10`, and `s2-1` before `s10-1`."""
    stem = name.rstrip(string.digits)
    return NUMBER.sub(lambda run: run[0].zfill(20), stem), stem, len(name), name


def natural_order(ids: pa.Array) -> Array:
    """The places of ids in the order of `natural_key`, asked only for what precedes their last numbers."""
    stems = pc.utf8_rtrim(ids, string.digits).dictionary_encode()
    distinct = stems.dictionary.to_pylist()
    ranks = np.argsort(sorted(range(len(distinct)), key=lambda at: natural_key(distinct[at])))
    by = {"stem": ranks[stems.indices.to_numpy()], "length": pc.utf8_length(ids), "id": ids}
    order: Array = pc.sort_indices(pa.table(by), [(name, "ascending") for name in by]).to_numpy()
    return order.astype(np.intp)


def names_in(text: str) -> tuple[str, ...]:
    """The texts of a JSON list, or the keys of an object, sorted.

    >>> names_in('["late", "clipped"]'), names_in('{"lookup": {"calls": 2}}')
    (('clipped', 'late'), ('lookup',))
    """
    return tuple(sorted({escape_surrogates(name) for name in json.loads(text)}))


@lru_cache(1_000)
def _names_text(text: str) -> str:
    return text if text in ("[]", "{}") else json.dumps(names_in(text))


def _answer(text: str | None) -> str | None:
    return None if text is None else escape_surrogates(text[:ANSWER_CHARS])


_READ: dict[str, Callable[[Any], Any]] = {
    "stop_reason": escape_surrogates,
    "answer": _answer,
    "flags": _names_text,
    "tools_used": _names_text,
    "reply_state": lambda state: state or "",
}
