"""Keeps a job's trials as arrays: about 100 bytes per trial, and each text once."""

import io
import json
import zlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gnomon.core.score import Outcome
from gnomon.report.row_formats import escape_surrogates

FORMAT = "1"  # of a saved index: another one is built again
ANSWER_CHARS = 200  # of an answer that are kept and searched
# The columns of the table `results` that an index is built from, in this order, as they are stored: flags and
# tools_used are JSON text.
STORED_COLUMNS = (
    "seq",
    "trial_id",
    "sample_id",
    "task",
    "cell",
    "cluster",
    "model",
    "arm",
    "repeat",
    "outcome",
    "stop_reason",
    "score",
    "answer",
    "flags",
    "tools_used",
    "tool_calls",
    "tool_errors",
    "usd",
    "wall_s",
)
PLAN_COLUMNS = ("sample_id", "task", "cell", "cluster")  # of a planned trial that has not run
_INTEGERS = ("repeat", "tool_calls", "tool_errors")
_FRACTIONS = ("usd", "wall_s")
_BY_SAMPLE = ("task", "cell", "cluster")
_BY_TRIAL = ("sample_id", "model", "arm", "outcome", "stop_reason", "answer", "flags", "tools_used")
_NAMED = (*_BY_SAMPLE, *_BY_TRIAL)

Array = NDArray[Any]
Key = TypeVar("Key", bound=Hashable)


class Names(dict[Any, int]):
    """Values by number, in the order in which they came: looking up a new one numbers it."""

    def __init__(self, values: Iterable[Hashable] = ()) -> None:
        super().__init__((value, number) for number, value in enumerate(values))

    def __missing__(self, value: Hashable) -> int:
        self[value] = number = len(self)
        return number


class _Parsed(dict[str, int]):
    """The number of what a JSON text holds, by the text: each text is read once."""

    def __init__(self, names: Names, parse: Callable[[str], Hashable]) -> None:
        super().__init__()
        self._names, self._parse = names, parse

    def __missing__(self, text: str) -> int:
        self[text] = number = self._names[self._parse(text)]
        return number


class TrialColumns:
    """Arrays by trial in order of `seq`, arrays by sample, and the values that their numbers stand for.

    It never changes: `extended` makes another one that shares what it can, so readers need no lock.
    """

    def __init__(
        self,
        values: Mapping[str, tuple[Any, ...]],
        by_trial: Mapping[str, Array],
        by_sample: Mapping[str, Array],
    ) -> None:
        self.values, self.by_trial, self.by_sample = values, by_trial, by_sample

    @classmethod
    def empty(cls, models: Iterable[str] = (), arms: Iterable[str] = ()) -> "TrialColumns":
        """No trials yet, of a job with these models and arms; others may follow."""
        values = {**dict.fromkeys(_NAMED, ()), "model": tuple(models), "arm": tuple(arms)}
        integers = dict.fromkeys((*_BY_TRIAL, *_INTEGERS), np.empty(0, np.int32))
        fractions = dict.fromkeys(("score", *_FRACTIONS), np.empty(0, np.float64))
        ids = {"seq": np.empty(0, np.int64), "trial_id": np.empty(0, "S1")}
        return cls(values, integers | fractions | ids, dict.fromkeys(_BY_SAMPLE, np.empty(0, np.int32)))

    @property
    def size(self) -> int:
        """How many trials there are."""
        return len(self.by_trial["seq"])

    @property
    def last_seq(self) -> int:
        """The number of the newest trial; 0 before the first."""
        return int(self.by_trial["seq"][-1]) if self.size else 0

    def size_until(self, seq: int) -> int:
        """How many trials there are up to this number."""
        return int(np.searchsorted(self.by_trial["seq"], seq, side="right"))

    @property
    def nbytes(self) -> int:
        """Bytes in memory, about."""
        arrays = sum(array.nbytes for array in (*self.by_trial.values(), *self.by_sample.values()))
        texts = (text for values in self.values.values() for text in values)
        return arrays + sum(64 + len(text or "") for text in texts)

    def _extension(
        self, rows: Sequence[Sequence[Any]], unrun: Sequence[Sequence[str]]
    ) -> tuple[dict[str, tuple[Any, ...]], dict[str, Array], dict[str, Array]]:
        names = {name: Names(values) for name, values in self.values.items()}
        stored = dict(zip(STORED_COLUMNS, zip(*rows, strict=True), strict=True)) if rows else {}
        by_trial = dict(self.by_trial)
        if stored:
            new = _numbered(stored, names) | _figures(stored)
            by_trial = {name: np.concatenate([array, new[name]]) for name, array in self.by_trial.items()}
        described = [stored[name] for name in PLAN_COLUMNS] if stored else [()] * len(PLAN_COLUMNS)
        planned = list(zip(*unrun, strict=True)) or [()] * len(PLAN_COLUMNS)
        samples, *columns = ((*ended, *waiting) for ended, waiting in zip(described, planned, strict=True))
        before = len(self.values["sample_id"])
        codes = _codes(names["sample_id"], samples)
        first = np.zeros(len(names["sample_id"]), np.intp)
        first[codes[::-1]] = np.arange(len(codes))[::-1]  # the first of several is written last
        by_sample = {
            name: np.concatenate(
                [self.by_sample[name], _codes(names[name], [column[at] for at in first[before:]])]
            )
            for name, column in zip(_BY_SAMPLE, columns, strict=True)
        }
        return {name: tuple(numbers) for name, numbers in names.items()}, by_trial, by_sample

    def to_bytes(self) -> bytes:
        """The columns in one piece, compressed; `from_bytes` reads them."""
        file = io.BytesIO()
        texts = np.frombuffer(json.dumps(self.values).encode(), np.uint8)
        arrays = {f"trial_{name}": array for name, array in self.by_trial.items()}
        arrays |= {f"sample_{name}": array for name, array in self.by_sample.items()}
        np.savez(file, allow_pickle=False, values=texts, **arrays)
        return zlib.compress(file.getvalue(), level=1)


def read_columns(
    body: bytes,
) -> tuple[dict[str, tuple[Any, ...]], dict[str, Array], dict[str, Array]]:
    """Values, arrays by trial and arrays by sample, as `TrialColumns.to_bytes` wrote them."""
    with np.load(io.BytesIO(zlib.decompress(body)), allow_pickle=False) as arrays:
        values = json.loads(arrays["values"].tobytes())
        by_trial = {name[6:]: arrays[name] for name in arrays.files if name.startswith("trial_")}
        by_sample = {name[7:]: arrays[name] for name in arrays.files if name.startswith("sample_")}
    sets = {name: tuple(map(tuple, values[name])) for name in ("flags", "tools_used")}
    return {name: tuple(texts) for name, texts in values.items()} | sets, by_trial, by_sample


def _numbered(stored: Mapping[str, Sequence[Any]], names: Mapping[str, Names]) -> dict[str, Array]:
    """The columns whose values are numbered."""
    plain = ("sample_id", "model", "arm", "outcome")
    codes = {name: _codes(names[name], stored[name]) for name in plain}
    codes["stop_reason"] = _codes(names["stop_reason"], map(escape_surrogates, stored["stop_reason"]))
    shortened = (answer and escape_surrogates(answer[:ANSWER_CHARS]) for answer in stored["answer"])
    codes["answer"] = _codes(names["answer"], shortened)
    for name in ("flags", "tools_used"):
        codes[name] = _codes(_Parsed(names[name], _texts_in), stored[name])
    return codes


def _figures(stored: Mapping[str, Sequence[Any]]) -> dict[str, Array]:
    """The columns that are numbers, and the trials' ids."""
    columns: dict[str, Array] = {name: np.array(stored[name], np.int32) for name in _INTEGERS}
    columns |= {name: np.array(stored[name], np.float64) for name in _FRACTIONS}  # None becomes NaN
    scores = np.array(stored["score"], np.float64)
    scores[np.array(stored["outcome"]) == Outcome.INFRA_MISSING.value] = np.nan
    columns["score"] = scores
    columns["seq"] = np.array(stored["seq"], np.int64)
    columns["trial_id"] = np.array([trial_id.encode() for trial_id in stored["trial_id"]])
    return columns


def _codes(numbers: dict[Any, int], values: Iterable[Any]) -> Array:
    return np.fromiter(map(numbers.__getitem__, values), np.int32)


def _texts_in(text: str) -> tuple[str, ...]:
    """The texts of a JSON list, or the keys of an object, sorted.

    >>> _texts_in('["late", "clipped"]'), _texts_in('{"lookup": {"calls": 2}}')
    (('clipped', 'late'), ('lookup',))
    """
    return tuple(sorted({escape_surrogates(name) for name in json.loads(text)}))
