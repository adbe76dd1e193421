"""Says which trials match a filter, and how samples changed between two arms."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from gnomon.core.errors import SpecError
from gnomon.report.score_matrix import RIGHT, sums_by_place
from gnomon.report.trial_index.columns import Array, TrialColumns
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
from gnomon.report.trial_index.folded_texts import FoldedTexts
from gnomon.report.unknown_replies import UnknownReplies, unknown_codes, unknown_replies

_COLUMN = {  # of the facets that are a column by trial or by sample
    "model": "model",
    "arm": "arm",
    "cell": "cell",
    "task": "task",
    "outcome": "outcome",
    "reply_state": "reply_state",
    "stop": "stop_reason",
    "flag": "flags",
    "tool": "tools_used",
}
_BY_SAMPLE = ("cell", "task")
RECENT = 8  # searches, and counts of filters, that are kept
_SETS = ("flag", "tool")  # a trial has any number of them
_PLACES = 4  # a table of places and repeats has up to so many times as many as there are trials
_OF_TRIAL = (
    "arm",
    "outcome",
    "reply_state",
    "stop",
    "flag",
    "tool",
)  # a sample without trials has none of these

Mask = NDArray[np.bool_]
Known = TypeVar("Known")


class MatchedTrials(TrialColumns):
    """Trials as masks over the columns; what several questions need is worked out once."""

    def __init__(self, *columns: Any) -> None:
        super().__init__(*columns)
        self._derived: dict[Any, Any] = {}  # filled as needed; threads that race compute the same
        self._recent: LRUCache[Any, Any] = LRUCache(RECENT)
        self._lock = threading.Lock()

    @property
    def _models_n(self) -> int:
        return len(self.values["model"])

    @property
    def _arms_n(self) -> int:
        return len(self.values["arm"])

    @property
    def _samples_n(self) -> int:
        return len(self.values["sample_id"])

    def once(self, key: Any, compute: Callable[[], Known]) -> Known:
        """What `compute` gives, worked out at the first request and kept as long as the index."""
        if key not in self._derived:
            self._derived[key] = compute()
        known: Known = self._derived[key]
        return known

    def lately(self, key: Any, compute: Callable[[], Known]) -> Known:
        """What `compute` gives, kept while it is among the last asked for: a page asks several times."""
        with self._lock:
            if key in self._recent:
                known: Known = self._recent[key]
                return known
        known = compute()
        with self._lock:
            self._recent[key] = known
        return known

    def _choices(self, facet: str) -> dict[str, None]:
        """The values that a facet of this job can have."""
        values = self.values[_COLUMN[facet]]
        return (
            dict.fromkeys(name for names in values for name in names)
            if facet in _SETS
            else dict.fromkeys(values)
        )

    def _codes(self, facet: str) -> Array:
        """By trial, the number of its value."""
        if facet not in _BY_SAMPLE:
            return self.by_trial[_COLUMN[facet]]
        samples = self.by_trial["sample_id"]
        return self.once(("codes", facet), lambda: self.by_sample[facet][samples])

    def _codes_since(self, facet: str, start: int) -> Array:
        """By trial from this one on, the number of its value."""
        if facet not in _BY_SAMPLE:
            return self.by_trial[_COLUMN[facet]][start:]
        return self.by_sample[facet][self.by_trial["sample_id"][start:]]

    def _wanted(self, facet: str, chosen: Sequence[str]) -> Mask:
        """By number of a value, whether it is chosen."""
        values = self.values[_COLUMN[facet]]
        if facet in _SETS:
            return np.array([not set(chosen).isdisjoint(names) for names in values], np.bool_)
        return np.array([value in chosen for value in values], np.bool_)

    def _chosen(self, facet: str, filters: TrialFilter) -> Mask:
        """By trial, whether it has a chosen value of the facet."""
        values = filters.values(facet)

        def chosen() -> Mask:
            if facet == "changed":
                return self._changed_as(filters)[self.by_trial["model"], self.by_trial["sample_id"]]
            return self._wanted(facet, values)[self._codes(facet)]

        return self.lately(("chosen", facet, values, filters.baseline, filters.variant), chosen)

    def _searched(self, q: str) -> Mask | None:
        """By trial, whether its sample's id or its answer holds the text; None: nothing is searched for."""
        if not q:
            return None

        def searched() -> Mask:
            by_sample, by_answer = self._holding("sample_id", q), self._holding("answer", q)
            return by_sample[self.by_trial["sample_id"]] | by_answer[self.by_trial["answer"]]

        return self.lately(("searched", q), searched)

    def _holding(self, name: str, q: str) -> Mask:
        return self._folded(name).holding(q)

    def _folded(self, name: str) -> FoldedTexts:
        return self.once(("folded", name), lambda: FoldedTexts(self.values[name]))

    def _matching(self, filters: TrialFilter, *, without: str = "") -> Mask | None:
        """By trial, whether it matches; None: all do."""
        chosen = [facet for facet in FACETS if filters.values(facet) and facet != without]
        masks = [self._chosen(facet, filters) for facet in chosen]
        return all_of([self._searched(filters.q), *masks])

    def _counted(self, facet: str, rows: Array | None) -> dict[str, int]:
        """By value, how many of these trials have it; None: of all."""
        if rows is None:
            return self.once(("counted", facet), lambda: self._counts(facet, self._codes(facet)))
        return self._counts(facet, self._codes(facet)[rows])

    def _counts(self, facet: str, codes: Array) -> dict[str, int]:
        values = self.values[_COLUMN[facet]]
        counts = np.bincount(codes, minlength=len(values))
        found: dict[str, int] = {}
        for number in np.flatnonzero(counts):
            names = values[number] if facet in _SETS else (values[number],)
            for name in names:
                found[name] = found.get(name, 0) + int(counts[number])
        return found

    # Pairs of arms.

    def score_totals(self) -> tuple[Array, Array, Array]:
        """Trials with a score, trials without one, and sums of scores; each models × arms × samples."""

        def totals() -> tuple[Array, Array, Array]:
            shape = (self._models_n, self._arms_n, self._samples_n)
            size = int(np.prod(shape))
            scored = np.isfinite(self.by_trial["score"])
            places, values = self._group_places()[scored], self.by_trial["score"][scored]
            answered = np.bincount(places, minlength=size)
            missing = np.bincount(self._group_places()[~scored], minlength=size)
            sums = _sums(places, self.by_trial["repeat"][scored], values, size)
            return answered.reshape(shape), missing.reshape(shape), sums.reshape(shape)

        return self.once("totals", totals)

    def unknown_totals(self) -> UnknownReplies | None:
        """The replies after which nobody knows the answer; (models · arms) × samples."""

        def totals() -> UnknownReplies | None:
            scored = np.isfinite(self.by_trial["score"])
            codes = unknown_codes(self.values["reply_state"])[self.by_trial["reply_state"][scored]]
            shape = self._models_n * self._arms_n, self._samples_n
            return unknown_replies(codes, self._group_places()[scored], self.by_trial["score"][scored], shape)

        return self.once("unknown", totals)

    def _group_places(self) -> Array:
        """By trial, (model · arms + arm) · samples + sample."""

        def places() -> Array:
            groups = self.by_trial["model"].astype(np.intp) * self._arms_n + self.by_trial["arm"]
            return groups * self._samples_n + self.by_trial["sample_id"]

        return self.once("places", places)

    def _means(self, column: str) -> Array:
        """Means over the scored repeats, models × arms × samples; NaN where none has a score."""

        def means() -> Array:
            return self._means_of(column, slice(None), self.by_trial["sample_id"], self._samples_n)

        return self.once(("means", column), means)

    def _means_of(self, column: str, rows: Array | slice, samples: Array, samples_n: int) -> Array:
        """The same of some trials alone, given the number of each one's sample among so many."""
        shape = (self._models_n, self._arms_n, samples_n)
        size = int(np.prod(shape))
        places = self.by_trial["model"][rows].astype(np.intp)
        for count, codes in ((self._arms_n, self.by_trial["arm"][rows]), (samples_n, samples)):
            places *= count
            places += codes
        places[~np.isfinite(self.by_trial["score"][rows])] = size  # behind all others
        values, repeats = self.by_trial[column][rows], self.by_trial["repeat"][rows]
        counts = np.bincount(places, minlength=size + 1)[:size]
        sums = _sums(places, repeats, values.astype(np.float64, copy=False), size + 1)[:size]
        averages: Array = np.full(size, np.nan)
        np.divide(sums, counts, out=averages, where=counts > 0)
        return averages.reshape(shape)

    def _take_over(self, derived: Mapping[Any, Any], start: int) -> None:
        """Take over what was worked out of the trials before `start`, of the same models and arms. Of the
        samples that later trials are of, it is worked out anew.
        """
        by_trial = self.by_trial["sample_id"]
        changed = np.unique(by_trial[start:])
        keys = [key for key in derived if isinstance(key, tuple)]
        if "tried" in derived:
            tried = self._derived["tried"] = self._widened(derived["tried"], filler=False)
            tried[self.by_trial["model"][start:], by_trial[start:]] = True
        if columns := [key[1] for key in keys if key[0] == "means"]:
            number = np.full(self._samples_n, -1, np.int32)
            number[changed] = np.arange(len(changed))
            numbers = number[by_trial]
            rows = np.flatnonzero(numbers >= 0)
            for column in columns:
                means = self._derived["means", column] = self._widened(
                    derived["means", column], filler=np.nan
                )
                means[:, :, changed] = self._means_of(column, rows, numbers[rows], len(changed))
        for arms in [key[1:] for key in keys if key[0] == "kinds" and "score" in columns]:
            kinds = self._derived["kinds", *arms] = self._widened(
                derived["kinds", *arms], filler=CHANGES.index(NOT_COMPARABLE)
            )
            kinds[:, changed] = _kinds(self._means("score")[:, :, changed], *arms)

    def _widened(self, old: Array, *, filler: float) -> Array:
        """The array with room for all samples, which are its last axis."""
        wider = np.full((*old.shape[:-1], self._samples_n), filler, old.dtype)
        wider[..., : old.shape[-1]] = old
        return wider

    def _arms_of(self, filters: TrialFilter) -> tuple[int, int]:
        """The numbers of the filter's two arms.

        Raises:
            SpecError: the job has no such arm, or the filter names none.
        """
        arms = self.numbers["arm"]
        for name in ("baseline", "variant"):
            if getattr(filters, name) not in arms:
                choices = ", ".join(arms)
                raise SpecError(f"{getattr(filters, name)!r} is no arm; allowed: {choices}", field=name)
        return arms[filters.baseline], arms[filters.variant]

    def _kinds(self, filters: TrialFilter) -> Array | None:
        """By model and sample, its number in CHANGES; None where the job lacks one of the arms."""
        arms = self.numbers["arm"]
        if filters.baseline not in arms or filters.variant not in arms:
            return None
        return self._kinds_of(arms[filters.baseline], arms[filters.variant])

    def _kinds_of(self, first: int, second: int) -> Array:
        return self.once(("kinds", first, second), lambda: _kinds(self._means("score"), first, second))

    def _changed_as(self, filters: TrialFilter) -> Mask:
        """By model and sample, whether it changed in a chosen way."""
        kinds = self._kinds(filters)
        if kinds is None:
            return np.zeros((self._models_n, self._samples_n), np.bool_)
        return np.array([name in filters.changed for name in CHANGES], np.bool_)[kinds]

    def _pairs_of(self, mask: Mask | None, filters: TrialFilter) -> Mask:
        """Models × samples with one of these trials, or without any trial where the filter allows that."""

        def tried(here: Array | slice) -> Mask:
            pairs = np.zeros(self._models_n * self._samples_n, np.bool_)
            models = self.by_trial["model"][here].astype(np.intp)
            pairs[models * self._samples_n + self.by_trial["sample_id"][here]] = True
            return pairs.reshape(self._models_n, self._samples_n)

        all_tried = self.once("tried", lambda: tried(slice(None)))
        pairs = all_tried if mask is None else tried(np.flatnonzero(mask))
        if any(filters.values(facet) for facet in _OF_TRIAL):
            return pairs
        absent = ~all_tried
        if not absent.any():
            return pairs
        allowed = absent
        if filters.model:
            allowed = allowed & self._wanted("model", filters.model)[:, None]
        for facet in _BY_SAMPLE:
            if filters.values(facet):
                allowed = allowed & self._wanted(facet, filters.values(facet))[self.by_sample[facet]]
        if filters.q:
            allowed = allowed & self._holding("sample_id", filters.q)
        return pairs | allowed

    def _matching_pairs(self, filters: TrialFilter) -> Mask:
        pairs = self._pairs_of(self._matching(filters, without="changed"), filters)
        return pairs & self._changed_as(filters) if filters.changed else pairs

    def _changes_left(self, mask: Mask | None, filters: TrialFilter) -> dict[str, int]:
        kinds = self._kinds(filters)
        if kinds is None:
            return {}
        counts = np.bincount(kinds[self._pairs_of(mask, filters)], minlength=len(CHANGES))
        return {name: int(count) for name, count in zip(CHANGES, counts, strict=True) if count}


def _sums(places: Array, repeats: Array, values: Array, size: int) -> Array:
    """The sum at each of `size` places, smallest first as in a report. A place has each repeat once."""
    most = int(repeats.max(initial=0)) + 1
    if most < 3 or most * size > _PLACES * len(places):
        return sums_by_place(places, values, size, most=most)
    table = np.zeros(size * most)  # to add nothing changes no sum
    table[places * most + repeats] = values
    table = np.sort(table.reshape(size, most), axis=1)
    return reduce(np.add, table.T)


def _kinds(scores: Array, first: int, second: int) -> Array:
    """By model and sample, the number in CHANGES of its change between two arms, given mean scores."""
    baseline, variant = scores[:, first], scores[:, second]
    was_right, is_right = baseline >= RIGHT, variant >= RIGHT
    numbers = np.array([CHANGES.index(name) for name in (BOTH_WRONG, FIXED, REGRESSED, BOTH_RIGHT)], np.int8)
    changes: Array = numbers[2 * was_right.view(np.int8) + is_right.view(np.int8)]
    changes[np.isnan(baseline) | np.isnan(variant)] = CHANGES.index(NOT_COMPARABLE)
    return changes


def all_of(masks: Sequence[Mask | None]) -> Mask | None:
    """Where all masks hold; None holds everywhere."""
    narrowing = [mask for mask in masks if mask is not None]
    return reduce(np.logical_and, narrowing) if narrowing else None
