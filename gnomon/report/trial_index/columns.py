"""Keeps a job's trials as arrays: about 100 bytes per trial, and each text once."""

import io
import json
import threading
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.core.score import Outcome
from gnomon.report.row_formats import escape_surrogates

FORMAT = "3"  # of a saved index: another one is built again
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
    "reply_state",
)
PLAN_COLUMNS = ("sample_id", "task", "cell", "cluster")  # of a planned trial that has not run
_INTEGERS = ("repeat",)
_COUNTS = ("tool_calls", "tool_errors")  # unknown of some outside agents: no integer can be NaN
_FRACTIONS = ("usd", "wall_s")
_BY_SAMPLE = ("task", "cell", "cluster")
_BY_TRIAL = (
    *("sample_id", "model", "arm", "outcome", "stop_reason", "answer", "flags", "tools_used", "reply_state"),
)
_NAMED = (*_BY_SAMPLE, *_BY_TRIAL)

Array = NDArray[Any]
Parts = tuple[
    dict[str, tuple[Any, ...]],
    dict[str, Array],
    dict[str, Array],
    "Mapping[str, Numbers] | None",
    "Mapping[str, Room] | None",
]


class Names(dict[Any, int]):
    """Values by number, after those that have one already: looking up a new value numbers it.

    `own` is what stands for a value that is looked up, such as what a JSON text holds: worked out once.
    """

    def __init__(self, numbers: Mapping[Any, int], own: Callable[[Any], Hashable]) -> None:
        super().__init__()
        self.new: dict[Hashable, int] = {}
        self._numbers, self._own = numbers, own

    def __missing__(self, looked_up: Any) -> int:
        value = self._own(looked_up)
        number = self._numbers.get(value)
        if number is None:
            number = self.new.setdefault(value, len(self._numbers) + len(self.new))
        self[looked_up] = number
        return number


class Numbers(Mapping[Any, int]):
    """The numbers of some values, from 0 on.

    The table behind it is shared with what `extended` makes, which has more of them; this one goes on to know
    its own alone. A job may have a million samples, and new ones with every look.
    """

    def __init__(self, table: dict[Any, int]) -> None:
        self._table, self._used, self._lock = table, len(table), threading.Lock()

    def __getitem__(self, value: Any) -> int:
        number = self._table[value]
        if number >= self._used:
            raise KeyError(value)
        return number

    def __len__(self) -> int:
        return self._used

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._table)[: self._used])  # a list first: others may add to the table meanwhile

    def extended(self, added: Mapping[Any, int]) -> "Numbers":
        """These and new values, numbered from the length on."""
        with self._lock:
            is_last = len(self._table) == self._used  # else it was extended before, as by another index
            table = self._table if is_last else {value: self._table[value] for value in self}
            table.update(added)
        extended = Numbers(table)
        extended._lock = self._lock if is_last else extended._lock
        return extended


class Room:
    """An array with room behind it: what is appended moves nothing that is there, until the room is full."""

    def __init__(self, array: Array) -> None:
        self._buffer, self._used, self._lock = array, len(array), threading.Lock()

    def appended(self, size: int, new: Array) -> "tuple[Room, Array]":
        """The first `size` values with the new ones behind them, and the room that they are in.

        It is another room where something was already appended to those, as by another index.
        """
        with self._lock:
            fits = size + len(new) <= len(self._buffer) and np.can_cast(new.dtype, self._buffer.dtype)
            if self._used == size and fits:
                self._buffer[size : size + len(new)] = new
                self._used = size + len(new)
                return self, self._buffer[: self._used]
        kind = np.promote_types(self._buffer.dtype, new.dtype)  # ids may be longer
        buffer = np.empty(size + len(new) + (size + len(new)) // 4, kind)
        buffer[:size], buffer[size : size + len(new)] = self._buffer[:size], new
        room = Room(buffer)
        room._used = size + len(new)
        return room, buffer[: room._used]


class TrialColumns:
    """Arrays by trial in order of `seq`, arrays by sample, and the values that their numbers stand for.

    It never changes: `extended` makes another one that shares what it can, so readers need no lock.
    """

    def __init__(
        self,
        values: Mapping[str, tuple[Any, ...]],
        by_trial: Mapping[str, Array],
        by_sample: Mapping[str, Array],
        numbers: Mapping[str, Numbers] | None = None,
        rooms: Mapping[str, Room] | None = None,
    ) -> None:
        self._rooms = rooms or {name: Room(array) for name, array in by_trial.items()}
        self.values, self.by_trial, self.by_sample = values, by_trial, by_sample
        self.numbers = numbers or {  # of the values, by name and value
            name: Numbers({value: number for number, value in enumerate(texts)})
            for name, texts in values.items()
        }

    @classmethod
    def empty(cls, models: Iterable[str] = (), arms: Iterable[str] = ()) -> "TrialColumns":
        """No trials yet, of a job with these models and arms; others may follow."""
        values = {**dict.fromkeys(_NAMED, ()), "model": tuple(models), "arm": tuple(arms)}
        integers = dict.fromkeys((*_BY_TRIAL, *_INTEGERS), np.empty(0, np.int32))
        fractions = dict.fromkeys(("score", *_FRACTIONS), np.empty(0, np.float64))
        fractions |= dict.fromkeys(_COUNTS, np.empty(0, np.float32))
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

    def _extension(self, rows: Sequence[Sequence[Any]], unrun: Sequence[Sequence[str]]) -> "Parts":
        stored = dict(zip(STORED_COLUMNS, zip(*rows, strict=True), strict=True)) if rows else {}
        names = {name: Names(self.numbers[name], _OWN.get(name, _itself)) for name in _NAMED}
        by_trial, rooms = dict(self.by_trial), dict(self._rooms)
        if stored:
            for name, new in _arrays(stored, names).items():
                rooms[name], by_trial[name] = rooms[name].appended(self.size, new)
        described = [stored[name] for name in PLAN_COLUMNS] if stored else [()] * len(PLAN_COLUMNS)
        planned = list(zip(*unrun, strict=True)) or [()] * len(PLAN_COLUMNS)
        samples, *columns = ((*ended, *waiting) for ended, waiting in zip(described, planned, strict=True))
        codes = _codes(names["sample_id"], samples)
        before = len(self.values["sample_id"])
        first = np.zeros(before + len(names["sample_id"].new), np.intp)
        first[codes[::-1]] = np.arange(len(codes))[::-1]  # the first of several is written last
        by_sample = {
            name: np.concatenate(
                [self.by_sample[name], _codes(names[name], [column[at] for at in first[before:]])]
            )
            for name, column in zip(_BY_SAMPLE, columns, strict=True)
        }
        values, numbers = dict(self.values), dict(self.numbers)
        for name in _NAMED:
            if added := names[name].new:  # else both stay the same objects
                values[name], numbers[name] = (*values[name], *added), numbers[name].extended(added)
        return values, by_trial, by_sample, numbers, rooms

    def written(self, order: Array) -> bytes:
        """The columns, and the order of the samples by id, compressed; `read_columns` reads them."""
        file = io.BytesIO()
        texts = np.frombuffer(json.dumps(self.values).encode(), np.uint8)
        arrays = {f"trial_{name}": array for name, array in self.by_trial.items()}
        arrays |= {f"sample_{name}": array for name, array in self.by_sample.items()}
        np.savez(file, allow_pickle=False, values=texts, order=order, **arrays)
        return zlib.compress(file.getvalue(), level=1)


def read_columns(body: bytes) -> tuple[Parts, Array]:
    """What `TrialColumns.written` wrote: values, arrays by trial and by sample, and the order of samples."""
    with np.load(io.BytesIO(zlib.decompress(body)), allow_pickle=False) as arrays:
        values, order = json.loads(arrays["values"].tobytes()), arrays["order"]
        by_trial = {name[6:]: arrays[name] for name in arrays.files if name.startswith("trial_")}
        by_sample = {name[7:]: arrays[name] for name in arrays.files if name.startswith("sample_")}
    sets = {name: tuple(map(tuple, values[name])) for name in ("flags", "tools_used")}
    texts_by_name = {name: tuple(texts) for name, texts in values.items()} | sets
    return (texts_by_name, by_trial, by_sample, None, None), order


def _arrays(stored: Mapping[str, Sequence[Any]], names: Mapping[str, Names]) -> dict[str, Array]:
    """The columns of new trials as arrays."""
    answers = [
        answer if answer is None or len(answer) <= ANSWER_CHARS else answer[:ANSWER_CHARS]
        for answer in stored["answer"]
    ]
    arrays = {name: _codes(names[name], stored[name] if name != "answer" else answers) for name in _BY_TRIAL}
    arrays |= {name: np.array(stored[name], np.int32) for name in _INTEGERS}
    arrays |= {
        name: np.array(stored[name], np.float64) for name in ("score", *_FRACTIONS)
    }  # None becomes NaN
    arrays |= {name: np.array(stored[name], np.float32) for name in _COUNTS}
    arrays["score"][arrays["outcome"] == names["outcome"][Outcome.INFRA_MISSING.value]] = np.nan
    arrays["seq"] = np.array(stored["seq"], np.int64)
    arrays["trial_id"] = np.array(stored["trial_id"], np.bytes_)  # ASCII, as every id is
    return arrays


def _codes(numbers: dict[Any, int], values: Iterable[Any]) -> Array:
    return np.fromiter(map(numbers.__getitem__, values), np.int32)


def _itself(value: Hashable) -> Hashable:
    return value


def _escaped(text: str | None) -> str | None:
    return None if text is None else escape_surrogates(text)


def _texts_in(text: str) -> tuple[str, ...]:
    """The texts of a JSON list, or the keys of an object, sorted.

    >>> _texts_in('["late", "clipped"]'), _texts_in('{"lookup": {"calls": 2}}')
    (('clipped', 'late'), ('lookup',))
    """
    return tuple(sorted({escape_surrogates(name) for name in json.loads(text)}))


_OWN = {"stop_reason": _escaped, "answer": _escaped, "flags": _texts_in, "tools_used": _texts_in}
