"""Holds rows as columns, some thousand at a time, so that reading a million makes no object for each."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.core.row import COLUMNS, ROW_COLUMNS, Row

SIZE = 10_000  # rows of a batch
Places = NDArray[np.intp]
_MAPPINGS = tuple(column.name for column in ROW_COLUMNS if column.kind == "mapping")


@dataclass(frozen=True, slots=True, eq=False)
class Distinct(Sequence[Any]):
    """A column: its values in the order in which they first come, and by row the number of its value."""

    values: Sequence[Any]
    codes: Places

    @classmethod
    def of(cls, column: Sequence[Any]) -> "Distinct":
        """A column of hashable values."""
        number_of = defaultdict[Any, int](count().__next__)
        codes = np.fromiter(map(number_of.__getitem__, column), np.intp, len(column))
        return cls(list(number_of), codes)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, place: Any) -> Any:
        return self.values[self.codes[place]]

    @property
    def counts(self) -> Places:
        """By value, how many rows have it."""
        return np.bincount(self.codes, minlength=len(self.values))

    @property
    def firsts(self) -> Places:
        """By value, the first row that has it."""
        firsts = np.empty(len(self.values), np.intp)
        firsts[self.codes[::-1]] = np.arange(len(self.codes))[::-1]  # the first of several is written last
        return firsts

    def places(self, is_wanted: Callable[[Any], object]) -> Places:
        """The rows whose value is wanted."""
        wanted = [number for number, value in enumerate(self.values) if is_wanted(value)]
        if not wanted:
            return np.empty(0, np.intp)
        mask = np.zeros(len(self.values), np.bool_)
        mask[wanted] = True
        return np.flatnonzero(mask[self.codes])


class RowBatch:
    """Rows as columns. What several readers need of a column is worked out once.

    `columns` hold hashable values, by COLUMNS. `own` says what they stand for, by name of a column, such as
    the mapping in a JSON text; where it says nothing they stand for themselves.
    """

    def __init__(
        self, columns: Mapping[str, Sequence[Any]], own: Mapping[str, Callable[[Any], Any]] | None = None
    ) -> None:
        self.columns = columns
        self._own = own or {}
        self._distinct: dict[tuple[str, ...], Distinct] = {}
        self._numbers: dict[str, NDArray[np.float64]] = {}

    def __len__(self) -> int:
        return len(self.columns["trial_id"])

    def distinct(self, *names: str) -> Distinct:
        """The distinct values of a column; of several columns tuples of them."""
        if names not in self._distinct:
            self._distinct[names] = self._of_one(*names) if len(names) == 1 else self._of_many(names)
        return self._distinct[names]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column of numbers; NaN: None."""
        if name not in self._numbers:
            self._numbers[name] = np.array(self.columns[name], np.float64)
        return self._numbers[name]

    def rows(self, places: Places | None = None) -> Iterator[Row]:
        """The rows at these places, in their order; by default all."""
        if places is not None and not len(places):
            return
        owned = {name: self.distinct(name) for name in self._own}
        for place in range(len(self)) if places is None else places.tolist():
            values = {name: self.columns[name][place] for name in COLUMNS}
            for name, distinct in owned.items():
                values[name] = distinct.values[distinct.codes[place]]
            yield Row(**values)

    def _of_one(self, name: str) -> Distinct:
        alike = Distinct.of(self.columns[name])
        own = self._own.get(name)
        return alike if own is None else Distinct(list(map(own, alike.values)), alike.codes)

    def _of_many(self, names: tuple[str, ...]) -> Distinct:
        parts = [self.distinct(name) for name in names]
        keys, firsts = distinct_codes(*(part.codes for part in parts))
        values = [tuple(part.values[part.codes[first]] for part in parts) for first in firsts.tolist()]
        return Distinct(values, keys)


def distinct_codes(*codes: Places) -> tuple[Places, Places]:
    """Numbers of the distinct tuples of these codes, by place, in the order in which they first come, and the
    first place of each.
    """
    keys, most = np.zeros(len(codes[0]), np.intp), 1
    for column in codes:
        size = int(column.max(initial=0)) + 1
        if most * size > np.iinfo(np.intp).max:
            keys = np.unique(keys, return_inverse=True)[1]
            most = len(keys)
        keys, most = keys * size + column, most * size
    _, firsts, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    rank = np.empty(len(order), np.intp)
    rank[order] = np.arange(len(order))
    return rank[inverse], firsts[order]


def in_batches(rows: Iterable[Row] | Iterable[RowBatch], size: int = SIZE) -> Iterator[RowBatch]:
    """Batches as they are; rows that come one by one are put together."""
    gathered: list[Row] = []
    for row in rows:
        if isinstance(row, RowBatch):
            yield row
            continue
        gathered.append(row)
        if len(gathered) == size:
            yield batch_of(gathered)
            gathered = []
    if gathered:
        yield batch_of(gathered)


def batch_of(rows: Sequence[Row]) -> RowBatch:
    """The rows as one batch."""
    columns: dict[str, list[Hashable]] = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    own: dict[str, Callable[[Any], Any]] = {}
    for name in _MAPPINGS:  # no mapping can be looked up, but where it is
        held = {id(mapping): mapping for mapping in columns[name]}
        columns[name] = list(map(id, columns[name]))
        own[name] = held.__getitem__
    return RowBatch(columns, own)
