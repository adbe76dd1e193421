"""A job's trials by what they are, and its samples under each model and arm."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gnomon.core.errors import SpecError
from gnomon.report.score_matrix import are_right, sums_by_place
from gnomon.report.trial_index.columns import (
    PLAN_COLUMNS,
    Array,
    codes,
    joined,
    natural_order,
    numbers,
)
from gnomon.report.trial_index.filters import (
    BOTH_RIGHT,
    BOTH_WRONG,
    CHANGES,
    FACETS,
    FIXED,
    NOT_COMPARABLE,
    REGRESSED,
    TrialFilter,
)
from gnomon.report.unknown_replies import UnknownReplies, unknown_codes, unknown_replies

COLUMN = {"stop": "stop_reason", "flag": "flags", "tool": "tools_used"}  # of a facet of another name
_SETS = ("flag", "tool")  # a trial has any number of them
_OF_SAMPLE = ("cell", "task")
_OF_TRIAL = ("arm", "outcome", "reply_state", "stop", "flag", "tool")  # a sample without trials has none
Known = TypeVar("Known")


class JobTrials:
    """The trials of one job that have ended, and the samples that were planned. It never changes."""

    def __init__(
        self, trials: pa.RecordBatch, planned: pa.RecordBatch, models: Iterable[str], arms: Iterable[str]
    ) -> None:
        self.rows, self.planned = trials, planned
        self.models, self.arms = (
            tuple(dict.fromkeys([*given, *trials.column(name).dictionary.to_pylist()]))
            for name, given in (("model", models), ("arm", arms))
        )
        self._known: dict[Any, Any] = {}

    @property
    def size(self) -> int:
        size: int = self.rows.num_rows
        return size

    @property
    def last_seq(self) -> int:
        """The number of the newest trial; 0 before the first."""
        return int(self.seq[-1]) if self.size else 0

    @property
    def nbytes(self) -> int:
        """Bytes in memory, without what is worked out."""
        return int(self.rows.get_total_buffer_size() + self.planned.get_total_buffer_size())

    def size_until(self, seq: int) -> int:
        """How many trials there are up to this number."""
        return int(np.searchsorted(self.seq, seq, side="right"))

    def once(self, key: Any, compute: Callable[[], Known]) -> Known:
        """What `compute` gives, worked out at the first request; threads that race compute the same."""
        if key not in self._known:
            self._known[key] = compute()
        value: Known = self._known[key]
        return value

    # Trials, samples, models and arms as numbers.

    @cached_property
    def seq(self) -> Array:
        """By trial, its number."""
        seq: Array = self.rows.column("seq").to_numpy()
        return seq

    @cached_property
    def model_of(self) -> Array:
        return codes(self.rows.column("model"), self.models)

    @cached_property
    def arm_of(self) -> Array:
        return codes(self.rows.column("arm"), self.arms)

    @cached_property
    def _described(self) -> pa.RecordBatch:
        own = pa.Table.from_batches([self.rows.select(PLAN_COLUMNS)])
        return joined([own, pa.Table.from_batches([self.planned])])

    @cached_property
    def sample_of(self) -> Array:
        """By trial, the place of its sample."""
        sample: Array = self._described.column("sample_id").indices.to_numpy()[: self.size]
        return sample

    @cached_property
    def samples(self) -> pa.RecordBatch:
        """The samples, described as PLAN_COLUMNS by the first of their trials."""
        places = self._described.column("sample_id").indices.to_numpy()
        return self._described.take(pa.array(np.unique(places, return_index=True)[1]))

    @cached_property
    def sample_ids(self) -> list[str]:
        ids: list[str] = self.samples.column("sample_id").to_pylist()
        return ids

    @cached_property
    def place_of(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.sample_ids)}

    @cached_property
    def sample_order(self) -> Array:
        return natural_order(self.samples.column("sample_id").cast(pa.string()))

    @cached_property
    def sample_ranks(self) -> Array:
        """By sample, the place of its id among all."""
        return np.argsort(self.sample_order)

    @cached_property
    def score(self) -> Array:
        """By trial, its score; NaN: none."""
        return numbers(self.rows.column("score"))

    @cached_property
    def _group_places(self) -> Array:
        """By trial, (model · arms + arm) · samples + sample."""
        return (self.model_of * len(self.arms) + self.arm_of) * len(self.sample_ids) + self.sample_of

    # Which trials match.

    def values_of(self, facet: str) -> dict[str, None]:
        if facet in ("model", "arm"):
            return dict.fromkeys(self.models if facet == "model" else self.arms)
        batch = self.samples if facet in _OF_SAMPLE else self.rows
        texts = batch.column(COLUMN.get(facet, facet)).dictionary.to_pylist()
        return dict.fromkeys(name for text in texts for name in _names(facet, text))

    def matching(self, filters: TrialFilter, *, without: str = "") -> Array:
        """By trial, whether it matches; the facet `without` may have any value."""
        mask = np.ones(self.size, np.bool_)
        for facet in FACETS:
            chosen = filters.values(facet)
            if facet == without or not chosen:
                continue
            if facet == "changed":
                mask &= self._changed_as(filters)[self.model_of, self.sample_of]
            else:
                mask &= _has(self.rows.column(COLUMN.get(facet, facet)), facet, chosen)
        if filters.q:
            mask &= self._holding("answer", filters.q) | self._samples_holding(filters)[self.sample_of]
        return mask

    def _holding(self, name: str, q: str) -> Array:
        """By trial or planned sample, whether its text holds the other, in upper or lower case."""
        batch = self.rows if name == "answer" else self.samples
        column = batch.column(name)

        def folded() -> pa.Array:
            return pa.array([text.casefold() for text in column.dictionary.to_pylist()], pa.string())

        try:
            holds = pc.match_substring(self.once(("folded", name), folded), q.casefold())
        except UnicodeEncodeError:  # half a surrogate pair
            return np.zeros(len(column), np.bool_)
        by_row: Array = holds.take(column.indices).fill_null(False).to_numpy(zero_copy_only=False)
        return by_row

    def _samples_holding(self, filters: TrialFilter) -> Array:
        """By sample, whether its id or its question holds the text."""
        asking = np.array([name in filters.asking for name in self.sample_ids], np.bool_)
        return self._holding("sample_id", filters.q) | asking

    def counted(self, facet: str, mask: Array) -> dict[str, int]:
        """By value, how many of these trials have it."""
        column = self.rows.column(COLUMN.get(facet, facet)).filter(pa.array(mask))
        counts = Counter[str]()
        for line in pc.value_counts(column).to_pylist():
            counts.update(dict.fromkeys(_names(facet, line["values"]), line["counts"]))
        return dict(counts)

    # Samples by model and arm.

    def score_totals(self) -> tuple[Array, Array, Array]:
        """Trials with a score, trials without one, and sums of scores; each models × arms × samples."""
        shape = len(self.models), len(self.arms), len(self.sample_ids)
        scored = np.isfinite(self.score)
        answered, sums = self._sums("score")
        missing = np.bincount(self._group_places[~scored], minlength=int(np.prod(shape)))
        return answered.reshape(shape), missing.reshape(shape), sums.reshape(shape)

    def means(self, column: str) -> Array:
        """Means over the scored repeats, models × arms × samples; NaN where none has a score."""

        def means() -> Array:
            counts, sums = self._sums(column)
            averages: Array = np.full(len(counts), np.nan)
            np.divide(sums, counts, out=averages, where=counts > 0)
            return averages.reshape(len(self.models), len(self.arms), len(self.sample_ids))

        return self.once(("means", column), means)

    def _sums(self, column: str) -> tuple[Array, Array]:
        """Scored trials, and the sums of their values, by model, arm and sample."""
        scored = np.isfinite(self.score)
        places, values = self._group_places[scored], numbers(self.rows.column(column))[scored]
        size = len(self.models) * len(self.arms) * len(self.sample_ids)
        counts = np.bincount(places, minlength=size)
        return counts, sums_by_place(places, values, size)

    def unknown_totals(self) -> UnknownReplies | None:
        """The replies after which nobody knows the answer; (models · arms) × samples."""
        scored, states = np.isfinite(self.score), self.rows.column("reply_state")
        kinds = unknown_codes(states.dictionary.to_pylist())[states.indices.to_numpy()]
        shape = len(self.models) * len(self.arms), len(self.sample_ids)
        return unknown_replies(kinds[scored], self._group_places[scored], self.score[scored], shape)

    # Pairs of arms.

    def arms_of(self, filters: TrialFilter) -> tuple[int, int]:
        """The places of the filter's two arms.

        Raises:
            SpecError: the job has no such arm, or the filter names none.
        """
        for name in ("baseline", "variant"):
            if getattr(filters, name) not in self.arms:
                choices = ", ".join(self.arms)
                raise SpecError(f"{getattr(filters, name)!r} is no arm; allowed: {choices}", field=name)
        return self.arms.index(filters.baseline), self.arms.index(filters.variant)

    def kinds(self, baseline: int, variant: int) -> Array:
        """By model and sample, the number in CHANGES of its change between two arms."""

        def kinds() -> Array:
            means, answered = self.means("score"), self.score_totals()[0]
            was_right, is_right = (are_right(means[:, at], answered[:, at]) for at in (baseline, variant))
            names = [BOTH_WRONG, FIXED, REGRESSED, BOTH_RIGHT]
            changes: Array = np.array([CHANGES.index(name) for name in names])[2 * was_right + is_right]
            changes[np.isnan(means[:, baseline] + means[:, variant])] = CHANGES.index(NOT_COMPARABLE)
            return changes

        return self.once(("kinds", baseline, variant), kinds)

    def _changed_as(self, filters: TrialFilter) -> Array:
        """By model and sample, whether it changed in a chosen way."""
        if not {filters.baseline, filters.variant} <= set(self.arms):
            return np.zeros((len(self.models), len(self.sample_ids)), np.bool_)
        wanted = [CHANGES.index(name) for name in filters.changed if name in CHANGES]
        return np.isin(self.kinds(*self.arms_of(filters)), wanted)

    def matching_pairs(self, filters: TrialFilter, *, without: str = "") -> Array:
        """Models × samples with a trial that matches, or without any trial where the filter allows that."""
        pairs = self._tried(self.matching(filters, without="changed"))
        if not any(filters.values(facet) for facet in _OF_TRIAL):
            allowed = ~self.once("tried", lambda: self._tried(np.ones(self.size, np.bool_)))
            if filters.model:
                allowed &= np.isin(self.models, filters.model)[:, None]
            for facet in _OF_SAMPLE:
                if filters.values(facet):
                    allowed &= _has(self.samples.column(facet), facet, filters.values(facet))
            if filters.q:
                allowed &= self._samples_holding(filters)
            pairs |= allowed
        return pairs & self._changed_as(filters) if filters.changed and without != "changed" else pairs

    def _tried(self, mask: Array) -> Array:
        """Models × samples with one of these trials."""
        pairs = np.zeros((len(self.models), len(self.sample_ids)), np.bool_)
        pairs[self.model_of[mask], self.sample_of[mask]] = True
        return pairs

    def changes_left(self, filters: TrialFilter) -> dict[str, int]:
        """By change, how many pairs the filter leaves when it asks for none."""
        if not {filters.baseline, filters.variant} <= set(self.arms):
            return {}
        kinds = self.kinds(*self.arms_of(filters))[self.matching_pairs(filters, without="changed")]
        counts = np.bincount(kinds, minlength=len(CHANGES)).tolist()
        return {name: count for name, count in zip(CHANGES, counts, strict=True) if count}


def _names(facet: str, text: str) -> Sequence[str]:
    """The values that the text stands for."""
    names: Sequence[str] = json.loads(text) if facet in _SETS else (text,)
    return names


def _has(column: pa.DictionaryArray, facet: str, chosen: Sequence[str]) -> Array:
    texts = column.dictionary.to_pylist()
    wanted = np.array([not set(chosen).isdisjoint(_names(facet, text)) for text in texts], np.bool_)
    by_row: Array = wanted[column.indices.to_numpy()]
    return by_row
