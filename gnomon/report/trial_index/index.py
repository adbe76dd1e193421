"""Counts, pages and compares the trials of one job."""

import base64
import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from gnomon.core.errors import SpecError
from gnomon.report.trial_index.columns import (
    PLANNED,
    TRIALS,
    Array,
    joined,
    natural_key,
    numbers,
    planned_of,
    read_batches,
    trials_of,
    written,
)
from gnomon.report.trial_index.entries import (
    ArmResult,
    GridRow,
    Listed,
    Neighbours,
    PairEntry,
    TrialEntry,
)
from gnomon.report.trial_index.filters import CHANGES, FACETS, TrialFilter
from gnomon.report.trial_index.trials import JobTrials

PAGE = 100
_SORTED_BY = {  # columns of the trials' sorts
    "seq": "seq",
    "score": "score",
    "calls": "tool_calls",
    "cost": "usd",
    "time": "wall_s",
}
_PAIRS_SORTED_BY = {  # columns, and the side that they are taken from
    "baseline_score": ("score", 0),
    "variant_score": ("score", 1),
    "variant_calls": ("tool_calls", 1),
    "variant_cost": ("usd", 1),
    "variant_time": ("wall_s", 1),
}
TRIAL_SORTS = (*_SORTED_BY, "sample")
PAIR_SORTS = ("sample", "difference", *_PAIRS_SORTED_BY)
ByPlace = dict[tuple[int, int, int], list[TrialEntry]]  # by model, arm and sample


class TrialIndex(JobTrials):
    """Lists of a job's trials, and of its samples by model.

    Lists are paged by opaque cursors; sorts are named in TRIAL_SORTS and PAIR_SORTS, with `-` before the name
    for the other direction. What has no value comes last in both directions.
    """

    @classmethod
    def empty(cls, models: Iterable[str] = (), arms: Iterable[str] = ()) -> "TrialIndex":
        """No trials yet, of a job with these models and arms; others may follow."""
        return cls(joined([TRIALS.empty_table()]), joined([PLANNED.empty_table()]), models, arms)

    @classmethod
    def from_bytes(cls, body: bytes) -> "TrialIndex":
        trials, planned, models, arms = read_batches(body)
        return cls(trials, planned, *(batch.column("name").to_pylist() for batch in (models, arms)))

    def to_bytes(self) -> bytes:
        """The index in one piece, compressed; `from_bytes` reads it."""
        names = (
            pa.record_batch({"name": pa.array(names, pa.string())}) for names in (self.models, self.arms)
        )
        return written(self.rows, self.planned, *names)

    def extended(
        self, batches: Iterable[Sequence[Sequence[Any]]], unrun: Sequence[Sequence[str]] = ()
    ) -> "TrialIndex":
        """An index of these trials and later ones, given as STORED_COLUMNS in order of `seq`.

        `unrun` are planned trials without a result, as PLAN_COLUMNS: their samples are listed among pairs.
        """
        later = [trials_of(rows) for rows in batches if rows]
        if not (later or unrun):
            return self
        trials = joined([pa.Table.from_batches([self.rows]), *later])
        planned = joined([pa.Table.from_batches([self.planned]), planned_of(unrun)])
        return TrialIndex(trials, planned, self.models, self.arms)

    def unknown(self, filters: TrialFilter) -> list[tuple[str, str]]:
        """The filter's parameters that this job has no value for, which is why nothing matches them."""
        absent = [
            (facet, value)
            for facet in FACETS
            for value in filters.values(facet)
            if value not in (CHANGES if facet == "changed" else self.values_of(facet))
        ]
        arms = [(name, getattr(filters, name)) for name in ("baseline", "variant")]
        return absent + [(name, arm) for name, arm in arms if arm and arm not in self.arms]

    def facets(self, filters: TrialFilter) -> dict[str, dict[str, int]]:
        """By facet, how many trials each value would leave, most first; `changed` counts samples by model.

        A facet's own choice does not narrow its counts; a chosen value is listed even if it leaves none.
        """
        matching, counts = self.matching(filters), {}
        for facet in FACETS:
            chosen = filters.values(facet)
            if facet == "changed":
                left = self.changes_left(filters)
            else:
                left = self.counted(facet, self.matching(filters, without=facet) if chosen else matching)
            by_value = {**dict.fromkeys(chosen, 0), **left}
            counts[facet] = dict(sorted(by_value.items(), key=lambda item: (-item[1], item[0])))
        return counts

    def count(self, filters: TrialFilter) -> int:
        return int(np.count_nonzero(self.matching(filters)))

    def trials(
        self, filters: TrialFilter, sort: str = "seq", after: str | None = None, limit: int = PAGE
    ) -> Listed[TrialEntry]:
        """A page of the trials that match.

        Raises:
            SpecError: the sort or the cursor is unknown.
        """
        key, ties = self._trial_key(sort), self.seq
        rows = np.flatnonzero(self.matching(filters))
        shown, is_last = _page(rows, key, ties, self._start(sort, after, of_pairs=False), limit)
        entries = self._entries(shown)
        following = None
        if not is_last:
            following = _cursor(sort, key[shown[-1]], entries[-1].sample_id, ties[shown[-1]])
        return Listed(items=tuple(entries), total=len(rows), next_cursor=following)

    def pairs(
        self, filters: TrialFilter, sort: str = "sample", after: str | None = None, limit: int = PAGE
    ) -> Listed[PairEntry]:
        """A page of samples by model under the arms `baseline` and `variant` of the filter.

        A pair matches if one of its trials does; a sample without trials, if the filter asks for nothing that
        only a trial has.

        Raises:
            SpecError: the sort or the cursor is unknown, or one of the arms.
        """
        sides = self.arms_of(filters)
        places, total, following = self._pair_page(filters, sort, after, limit)
        trials = self._trials_by_place(places, sides)
        entries = [self._pair_entry(model, sample, sides, trials) for model, sample in places]
        return Listed(items=tuple(entries), total=total, next_cursor=following)

    def grid(
        self, filters: TrialFilter, sort: str = "sample", after: str | None = None, limit: int = PAGE
    ) -> Listed[GridRow]:
        """The same page with every arm's results.

        Raises:
            SpecError: the sort or the cursor is unknown, or an arm that it needs.
        """
        places, total, following = self._pair_page(filters, sort, after, limit)
        arms = range(len(self.arms))
        trials = self._trials_by_place(places, arms)
        rows = [
            GridRow(
                model=self.models[model],
                results=tuple(self._arm_result(model, arm, sample, trials) for arm in arms),
                **self._described_as(sample),
            )
            for model, sample in places
        ]
        return Listed(items=tuple(rows), total=total, next_cursor=following)

    def _pair_page(
        self, filters: TrialFilter, sort: str, after: str | None, limit: int
    ) -> tuple[list[tuple[int, int]], int, str | None]:
        """Models and samples of a page, how many there are in all, and where the list goes on."""
        sides = self.arms_of(filters) if "sample" not in sort else (0, 0)
        key, ties = self._pair_key(sort, *sides), self._pair_ties()
        places = np.flatnonzero(self.matching_pairs(filters))
        shown, is_last = _page(places, key, ties, self._start(sort, after, of_pairs=True), limit)
        models, samples = (part.tolist() for part in np.divmod(shown, max(len(self.sample_ids), 1)))
        following = None
        if not is_last:
            following = _cursor(sort, key[shown[-1]], self.sample_ids[samples[-1]], models[-1])
        return list(zip(models, samples, strict=True)), len(places), following

    def neighbours(self, filters: TrialFilter, sort: str, sample_id: str) -> Neighbours:
        """The samples before and after this one in the list of trials or pairs that this sort is of.

        Raises:
            SpecError: the sort is unknown.
        """
        if sort.removeprefix("-") in _SORTED_BY:
            key, ties, places = self._trial_key(sort), self.seq, np.flatnonzero(self.matching(filters))
            samples = self.sample_of
        else:
            sides = self.arms_of(filters) if "sample" not in sort else (0, 0)
            key, ties = self._pair_key(sort, *sides), self._pair_ties()
            places, samples = np.flatnonzero(self.matching_pairs(filters)), np.arange(len(key))
            samples %= max(len(self.sample_ids), 1)
        listed = samples[_sorted(places, key, ties)]
        listed = listed[np.sort(np.unique(listed, return_index=True)[1])]  # each at its first place
        at = np.flatnonzero(listed == self.place_of.get(sample_id, -1)).tolist()
        if not at:
            return Neighbours(previous=None, next=None, position=0, total=len(listed))
        names = {
            place: self.sample_ids[listed[place]]
            for place in (at[0] - 1, at[0] + 1)
            if 0 <= place < len(listed)
        }
        return Neighbours(
            previous=names.get(at[0] - 1), next=names.get(at[0] + 1), position=at[0] + 1, total=len(listed)
        )

    # Order.

    def _trial_key(self, sort: str) -> Array:
        """By trial, what is sorted by: ascending, without a value last."""
        name = _named(sort, TRIAL_SORTS)
        if name == "sample":
            return _ascending(sort, self.sample_ranks[self.sample_of].astype(np.float64))
        return _ascending(sort, numbers(self.rows.column(_SORTED_BY[name])))

    def _pair_key(self, sort: str, *sides: int) -> Array:
        """By model and sample, flat, what is sorted by."""
        name = _named(sort, PAIR_SORTS)
        if name == "sample":
            return _ascending(sort, np.tile(self.sample_ranks.astype(np.float64), len(self.models)))
        if name == "difference":
            scores = self.means("score")
            return _ascending(sort, (scores[:, sides[1]] - scores[:, sides[0]]).ravel())
        column, side = _PAIRS_SORTED_BY[name]
        return _ascending(sort, self.means(column)[:, sides[side]].ravel())

    def _pair_ties(self) -> Array:
        """By model and sample, flat: sample by sample, models in their order."""
        models = np.arange(len(self.models))[:, None]
        return (self.sample_ranks * len(self.models) + models).ravel()

    def _start(self, sort: str, after: str | None, *, of_pairs: bool) -> tuple[float, int] | None:
        """Key and tie after which the list goes on; None at its start.

        Raises:
            SpecError: the cursor is not one of this list.
        """
        if not after:
            return None
        try:
            padded = after + "=" * (-len(after) % 4)
            own_sort, key, sample_id, tie = json.loads(base64.urlsafe_b64decode(padded.encode()))
            if own_sort != sort:
                raise ValueError(own_sort)
            key, tie = float(key), int(tie)
            sort_key = natural_key(str(sample_id))
            rank = bisect_left(self.sample_order, sort_key, key=lambda at: natural_key(self.sample_ids[at]))
        except (ValueError, TypeError, OverflowError, RecursionError):
            message = f"{after[:100]!r} is no cursor of this list; pass on next_cursor as it came"
            raise SpecError(message, field="after") from None
        if sort.removeprefix("-") == "sample":
            key = float(-rank if sort.startswith("-") else rank)
        return key, rank * len(self.models) + tie if of_pairs else tie

    # What is handed out.

    def _trials_by_place(self, pairs: Sequence[tuple[int, int]], arms: Iterable[int]) -> ByPlace:
        """The trials of these pairs of model and sample under these arms, those of one place by repeat."""
        is_wanted = np.zeros((len(self.models), len(self.sample_ids)), np.bool_)
        is_wanted[tuple(np.array(pairs, np.intp).reshape(-1, 2).T)] = True
        rows = np.flatnonzero(is_wanted[self.model_of, self.sample_of] & np.isin(self.arm_of, list(arms)))
        by_place: ByPlace = {}
        places = zip(
            self.model_of[rows].tolist(),
            self.arm_of[rows].tolist(),
            self.sample_of[rows].tolist(),
            strict=True,
        )
        for place, entry in zip(places, self._entries(rows), strict=True):
            by_place.setdefault(place, []).append(entry)
        return {place: sorted(entries, key=lambda entry: entry.repeat) for place, entries in by_place.items()}

    def _arm_result(self, model: int, arm: int, sample: int, trials: ByPlace) -> ArmResult:
        at = model, arm, sample
        return ArmResult(
            arm=self.arms[arm],
            score=_number(self.means("score")[at]),
            tool_calls=_number(self.means("tool_calls")[at]),
            trials=tuple(trials.get(at, ())),
        )

    def _pair_entry(self, model: int, sample: int, sides: tuple[int, int], trials: ByPlace) -> PairEntry:
        first, second = (self._arm_result(model, arm, sample, trials) for arm in sides)
        return PairEntry(
            model=self.models[model],
            **self._described_as(sample),
            baseline=first,
            variant=second,
            difference=None if first.score is None or second.score is None else second.score - first.score,
            changed=CHANGES[self.kinds(*sides)[model, sample]],
        )

    def _described_as(self, sample: int) -> dict[str, str]:
        return {name: self.samples.column(name)[sample].as_py() for name in self.samples.schema.names}

    def _entries(self, rows: Array) -> list[TrialEntry]:
        return [
            TrialEntry(
                flags=tuple(json.loads(trial.pop("flags"))),
                tools=tuple(json.loads(trial.pop("tools_used"))),
                **trial,
            )
            for trial in self.rows.take(pa.array(rows)).to_pylist()
        ]


def _named(sort: str, allowed: Sequence[str]) -> str:
    """The name of a sort.

    Raises:
        SpecError: there is no such sort.
    """
    name = sort.removeprefix("-")
    if name not in allowed:
        raise SpecError(f"{sort!r} is no order; allowed: {', '.join(allowed)}, or -NAME", field="sort")
    return name


def _ascending(sort: str, values: Array) -> Array:
    """Keys that sort upwards into the order; what has no value comes last."""
    return np.where(np.isnan(values), np.inf, -values if sort.startswith("-") else values)


def _sorted(places: Array, key: Array, ties: Array) -> Array:
    order: Array = places[np.lexsort((ties[places], key[places]))]
    return order


def _page(
    places: Array, key: Array, ties: Array, start: tuple[float, int] | None, limit: int
) -> tuple[Array, bool]:
    """The first `limit` of these places by key and tie after the start, and whether these are the last."""
    if start is not None:
        is_after = (key[places] > start[0]) | ((key[places] == start[0]) & (ties[places] > start[1]))
        places = places[is_after]
    return _sorted(places, key, ties)[:limit], len(places) <= limit


def _cursor(sort: str, key: float, sample_id: str, tie: int) -> str:
    """Where a list goes on. Ranks of samples change as others come, so the cursor holds the id."""
    text = json.dumps([sort, float(key), sample_id, int(tie)])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
