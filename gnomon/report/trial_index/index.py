"""Counts, pages and compares the trials of one job, each question in some milliseconds."""

import base64
import json
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.core.errors import NotFound, SpecError
from gnomon.report.trial_index.columns import Array, read_columns
from gnomon.report.trial_index.entries import (
    ArmResult,
    Listed,
    Neighbours,
    PairEntry,
    SampleGrid,
    TrialEntry,
)
from gnomon.report.trial_index.filters import CHANGES, FACETS, TrialFilter
from gnomon.report.trial_index.matching import MatchedTrials, all_of
from gnomon.report.trial_index.paging import ascending, direction, first_places

TRIAL_SORTS = ("seq", "score", "calls", "cost", "time", "sample")
PAIR_SORTS = (
    "sample",
    "difference",
    "baseline_score",
    "variant_score",
    "variant_calls",
    "variant_cost",
    "variant_time",
)
PAGE = 100
COUNTED = tuple(facet for facet in FACETS if facet != "changed")  # by trial; changes are counted by sample
_TEXTS = (
    *("sample_id", "model", "arm", "outcome", "stop_reason", "answer", "flags", "tools_used", "reply_state"),
)
_OF_NAMES = {  # what is worked out from names alone
    "order": ("sample_id",),
    "ranks": ("sample_id",),
    "ties": ("sample_id", "model"),
    ("folded", "sample_id"): ("sample_id",),
    ("folded", "answer"): ("answer",),
}


class TrialIndex(MatchedTrials):
    """The trials of one job that have ended, and the names of samples that were planned.

    Lists are paged by opaque cursors; sorts are named in TRIAL_SORTS and PAIR_SORTS, with `-` before the name
    for the other direction. What has no value comes last in both directions.
    """

    @classmethod
    def empty(cls, models: Iterable[str] = (), arms: Iterable[str] = ()) -> "TrialIndex":
        start = super().empty(models, arms)
        return cls(start.values, start.by_trial, start.by_sample, start.numbers)

    @classmethod
    def from_bytes(cls, body: bytes) -> "TrialIndex":
        """The index that `to_bytes` wrote."""
        parts, order = read_columns(body)
        index = cls(*parts)
        index._derived["order"] = order.astype(np.intp)
        return index.prepared()

    def prepared(self) -> "TrialIndex":
        """The index itself, with what most questions need worked out: the first one need not wait for it."""
        for facet in COUNTED:
            self._counted(facet, None)
        self._means("score")
        self._means("tool_calls")
        self._pairs_of(None, TrialFilter())
        self._pair_ties()
        self._folded("sample_id")
        return self

    def to_bytes(self) -> bytes:
        """The index in one piece, compressed; `from_bytes` reads it."""
        return self.written(self._sample_order().astype(np.int32))

    def extended(self, rows: Sequence[Sequence[Any]], unrun: Sequence[Sequence[str]] = ()) -> "TrialIndex":
        """An index of these trials and later ones, given as STORED_COLUMNS in order of `seq`.

        `unrun` are planned trials without a result, as PLAN_COLUMNS: their samples are listed among pairs.
        """
        if not (rows or unrun):
            return self
        index = TrialIndex(*self._extension(rows, unrun))
        for key, names in _OF_NAMES.items():  # what new trials of old samples leave as it was
            if key in self._derived and all(index.values[name] is self.values[name] for name in names):
                index._derived[key] = self._derived[key]
        if all(index.values[name] is self.values[name] for name in ("model", "arm")):
            index._take_over(dict(self._derived), self.size)
        if "order" in self._derived and "order" not in index._derived:
            index._derived["order"] = index._order_after(self._derived["order"])
        for facet in COUNTED:
            if ("counted", facet) in self._derived:
                counted = index._counts(facet, index._codes_since(facet, self.size))
                for value, trials_n in self._derived["counted", facet].items():
                    counted[value] = counted.get(value, 0) + trials_n
                index._derived["counted", facet] = counted
        return index

    def unknown(self, filters: TrialFilter) -> list[tuple[str, str]]:
        """The filter's parameters that this job has no value for, which is why nothing matches them."""
        absent = [
            (facet, value)
            for facet in FACETS
            for value in filters.values(facet)
            if value not in (CHANGES if facet == "changed" else self._choices(facet))
        ]
        arms = [(name, getattr(filters, name)) for name in ("baseline", "variant")]
        return absent + [(name, arm) for name, arm in arms if arm and arm not in self.values["arm"]]

    def facets(self, filters: TrialFilter) -> dict[str, dict[str, int]]:
        """By facet, how many trials each value would leave, most first; `changed` counts samples by model.

        A facet's own choice does not narrow its counts; a chosen value is listed even if it leaves none.
        """
        return self.lately(("facets", filters), lambda: self._facets(filters))

    def _facets(self, filters: TrialFilter) -> dict[str, dict[str, int]]:
        masks = {facet: self._chosen(facet, filters) for facet in FACETS if filters.values(facet)}
        searched = self._searched(filters.q)
        counts: dict[str, dict[str, int]] = {}
        matching = all_of([searched, *masks.values()])
        rows = None if matching is None else np.flatnonzero(matching)  # as most facets count
        for facet in FACETS:
            mask = matching
            if facet in masks:
                mask = all_of([searched, *(mask for name, mask in masks.items() if name != facet)])
            if facet == "changed":
                left = self._changes_left(mask, filters)
            elif facet in masks:
                left = self._counted(facet, None if mask is None else np.flatnonzero(mask))
            else:
                left = self._counted(facet, rows)
            counts[facet] = {**dict.fromkeys(filters.values(facet), 0), **left}
        return {facet: _most_first(by_value) for facet, by_value in counts.items()}

    def count(self, filters: TrialFilter) -> int:
        """How many trials match."""
        mask = self._matching(filters)
        return self.size if mask is None else int(np.count_nonzero(mask))

    def first_numbers(self, filters: TrialFilter, after: int, limit: int) -> list[int]:
        """The numbers of the first trials that match and ended after number `after`, in that order."""
        numbers = self.by_trial["seq"]
        mask = self._matching(filters)
        start = int(np.searchsorted(numbers, after, side="right"))
        rows = (
            np.arange(start, min(start + limit, self.size)) if mask is None else np.flatnonzero(mask[start:])
        )
        first: list[int] = numbers[rows[:limit] + (0 if mask is None else start)].tolist()
        return first

    def trials(
        self, filters: TrialFilter, sort: str = "seq", after: str | None = None, limit: int = PAGE
    ) -> Listed[TrialEntry]:
        """A page of the trials that match.

        Raises:
            SpecError: the sort or the cursor is unknown.
        """
        key, ties = self._trial_key(sort), self.by_trial["seq"]
        mask = self._matching(filters)
        mask = np.ones(self.size, np.bool_) if mask is None else mask
        rows, is_last = first_places(mask, key, ties, self._start(sort, after, of_pairs=False), limit)
        entries = self._entries(rows)
        following = (
            None if is_last else self._cursor(sort, key[rows[-1]], entries[-1].sample_id, ties[rows[-1]])
        )
        return Listed(items=tuple(entries), total=int(np.count_nonzero(mask)), next_cursor=following)

    def pairs(
        self, filters: TrialFilter, sort: str = "sample", after: str | None = None, limit: int = PAGE
    ) -> Listed[PairEntry]:
        """A page of samples by model under the arms `baseline` and `variant` of the filter.

        A pair matches if one of its trials does; a sample without trials, if the filter asks for nothing that
        only a trial has.

        Raises:
            SpecError: the sort or the cursor is unknown, or one of the arms.
        """
        groups = self._arms_of(filters)
        key = self._pair_key(sort, *groups)
        ties = self._pair_ties()
        mask = self._matching_pairs(filters).ravel()
        places, is_last = first_places(mask, key, ties, self._start(sort, after, of_pairs=True), limit)
        trials = self._trials_by_place(places, groups)
        entries = [self._pair_entry(int(place), *groups, trials) for place in places]
        following = None
        if not is_last:
            place = places[-1]
            following = self._cursor(sort, key[place], entries[-1].sample_id, place // self._samples_n)
        return Listed(items=tuple(entries), total=int(np.count_nonzero(mask)), next_cursor=following)

    def sample(self, sample_id: str) -> SampleGrid:
        """One sample under every model and arm.

        Raises:
            NotFound: the job has no such sample, or nothing of it has run yet.
        """
        sample = self.numbers["sample_id"].get(sample_id)
        if sample is None:
            raise NotFound(f"no sample {sample_id!r}", field="sample_id")
        groups = [(model, arm) for model in range(self._models_n) for arm in range(self._arms_n)]
        places = np.arange(self._models_n) * self._samples_n + sample
        trials = self._trials_by_place(places, range(self._arms_n))
        cells = tuple(
            (self.values["model"][model], self._arm_result(model, arm, sample, trials))
            for model, arm in groups
        )
        return SampleGrid(sample_id=sample_id, cells=cells, **self._sample_names(sample))

    def neighbours(self, filters: TrialFilter, sort: str, sample_id: str) -> Neighbours:
        """The samples before and after this one in the list of trials or pairs that this sort is of.

        Raises:
            SpecError: the sort is unknown.
        """
        keys, ties, is_listed = self._firsts(filters, sort)
        total, sample = int(np.count_nonzero(is_listed)), self.numbers["sample_id"].get(sample_id)
        if sample is None or not is_listed[sample]:
            return Neighbours(previous=None, next=None, position=0, total=total)
        key, tie = keys[sample], ties[sample]
        is_before = is_listed & ((keys < key) | ((keys == key) & (ties < tie)))
        is_after = is_listed & ~is_before
        is_after[sample] = False
        return Neighbours(
            previous=self._nearest(is_before, -keys, -ties),
            next=self._nearest(is_after, keys, ties),
            position=int(np.count_nonzero(is_before)) + 1,
            total=total,
        )

    # Order.

    def _sample_order(self) -> Array:
        """The samples in the order of their ids."""
        names = self.values["sample_id"]
        return self.once(
            "order", lambda: np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.intp)
        )

    def _order_after(self, order: Array) -> Array:
        """The order of all samples, from that of the first ones: new samples are put in their places."""
        names = self.values["sample_id"]
        new = sorted(range(len(order), len(names)), key=names.__getitem__)
        return np.insert(order, [self._rank(order, names[sample]) for sample in new], new)

    def _rank(self, order: Array, sample_id: str) -> int:
        """How many samples of the order have an id before this one."""
        return bisect_left(order, sample_id, key=self.values["sample_id"].__getitem__)

    def sample_ranks(self) -> Array:
        """By sample, the place of its id among all."""

        def ranks() -> Array:
            ranks = np.empty(self._samples_n, np.intp)
            ranks[self._sample_order()] = np.arange(self._samples_n)
            return ranks

        return self.once("ranks", ranks)

    def _trial_key(self, sort: str) -> Array:
        """By trial, what is sorted by: ascending, without a value last."""
        name, is_descending = direction(sort, TRIAL_SORTS)

        def key() -> Array:
            if name == "sample":
                return self.sample_ranks()[self.by_trial["sample_id"]].astype(np.float64)
            column = {"calls": "tool_calls", "cost": "usd", "time": "wall_s"}.get(name, name)
            return self.by_trial[column].astype(np.float64)

        return self.once(("trial", sort), lambda: ascending(key(), is_descending=is_descending))

    def _pair_key(self, sort: str, baseline: int, variant: int) -> Array:
        """By model and sample, flat, what is sorted by."""
        name, is_descending = direction(sort, PAIR_SORTS)

        def key() -> Array:
            scores = self._means("score")
            match name:
                case "sample":
                    return np.tile(self.sample_ranks().astype(np.float64), self._models_n)
                case "difference":
                    values = scores[:, variant] - scores[:, baseline]
                case "variant_calls" | "variant_cost" | "variant_time":
                    column = {"variant_calls": "tool_calls", "variant_cost": "usd"}.get(name, "wall_s")
                    values = self._means(column)[:, variant]
                case _:
                    values = scores[:, baseline if name == "baseline_score" else variant]
            return values.ravel()

        sides = (baseline, variant)
        return self.once(("pair", sort, sides), lambda: ascending(key(), is_descending=is_descending))

    def _pair_ties(self) -> Array:
        """By model and sample, flat: sample by sample, models in their order."""

        def ties() -> Array:
            models = np.arange(self._models_n)[:, None]
            return (self.sample_ranks() * self._models_n + models).ravel()

        return self.once("ties", ties)

    def _firsts(self, filters: TrialFilter, sort: str) -> tuple[Array, Array, Array]:
        """By sample, key and tie of the first of its listed trials or pairs, and whether any is listed."""
        if sort.removeprefix("-") in TRIAL_SORTS and sort.removeprefix("-") != "sample":
            key, ties, mask = self._trial_key(sort), self.by_trial["seq"], self._matching(filters)
            samples = self.by_trial["sample_id"]
            if mask is not None:
                key, ties, samples = key[mask], ties[mask], samples[mask]
        else:
            groups = self._arms_of(filters) if "sample" not in sort else (0, 0)
            places = np.flatnonzero(self._matching_pairs(filters).ravel())
            key, ties = self._pair_key(sort, *groups)[places], self._pair_ties()[places]
            samples = places % max(self._samples_n, 1)
        keys = np.full(self._samples_n, np.inf)
        np.minimum.at(keys, samples, key)
        is_first = key == keys[samples]
        first_ties = np.full(self._samples_n, np.iinfo(np.int64).max)
        np.minimum.at(first_ties, samples[is_first], ties[is_first])
        return keys, first_ties, first_ties < np.iinfo(np.int64).max

    def _nearest(self, mask: Array, keys: Array, ties: Array) -> str | None:
        """Of these samples the one with the smallest key and tie."""
        places = np.flatnonzero(mask)
        if not len(places):
            return None
        places = places[keys[places] == keys[places].min()]
        name: str = self.values["sample_id"][places[np.argmin(ties[places])]]
        return name

    def _cursor(self, sort: str, key: float, sample_id: str, tie: int) -> str:
        """Where a list goes on. Ranks of samples change as others come, so the cursor holds the id."""
        text = json.dumps([sort, float(key), sample_id, int(tie)])
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

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
            rank = self._rank(self._sample_order(), str(sample_id))
        except (ValueError, TypeError, OverflowError, RecursionError):
            message = f"{after[:100]!r} is no cursor of this list; pass on next_cursor as it came"
            raise SpecError(message, field="after") from None
        if sort.removeprefix("-") == "sample":
            key = float(-rank if sort.startswith("-") else rank)
        return key, rank * self._models_n + tie if of_pairs else tie

    # What is handed out.

    def _trials_by_place(
        self, places: Array, arms: Iterable[int]
    ) -> dict[tuple[int, int, int], list[TrialEntry]]:
        """The trials at these places (model · samples + sample) under these arms by model, arm and sample,
        those of one by repeat.

        They are looked for anew: a million trials are passed in two milliseconds, and sorted in two hundred.
        """
        is_wanted = np.zeros(self._samples_n, np.bool_)
        is_wanted[places % self._samples_n] = True
        rows = np.flatnonzero(is_wanted[self.by_trial["sample_id"]])
        models, samples = self.by_trial["model"][rows].astype(np.intp), self.by_trial["sample_id"][rows]
        is_here = np.isin(models * self._samples_n + samples, places)
        rows = rows[is_here & np.isin(self.by_trial["arm"][rows], list(arms))]
        rows = rows[np.argsort(self.by_trial["repeat"][rows], kind="stable")]
        columns = (self.by_trial[name][rows].tolist() for name in ("model", "arm", "sample_id"))
        by_place: dict[tuple[int, int, int], list[TrialEntry]] = {}
        for entry, place in zip(self._entries(rows), zip(*columns, strict=True), strict=True):
            by_place.setdefault(place, []).append(entry)
        return by_place

    def _arm_result(
        self, model: int, arm: int, sample: int, trials: Mapping[tuple[int, int, int], list[TrialEntry]]
    ) -> ArmResult:
        at = model, arm, sample
        return ArmResult(
            arm=self.values["arm"][arm],
            score=_number(self._means("score")[at]),
            tool_calls=_number(self._means("tool_calls")[at]),
            trials=tuple(trials.get(at, ())),
        )

    def _pair_entry(
        self,
        place: int,
        baseline: int,
        variant: int,
        trials: Mapping[tuple[int, int, int], list[TrialEntry]],
    ) -> PairEntry:
        model, sample = divmod(place, self._samples_n)
        kinds = self._kinds_of(baseline, variant)
        first, second = (self._arm_result(model, arm, sample, trials) for arm in (baseline, variant))
        return PairEntry(
            sample_id=self.values["sample_id"][sample],
            model=self.values["model"][model],
            **self._sample_names(sample),
            baseline=first,
            variant=second,
            difference=None if first.score is None or second.score is None else second.score - first.score,
            changed=CHANGES[kinds[model, sample]],
        )

    def _sample_names(self, sample: int) -> dict[str, str]:
        return {name: self.values[name][codes[sample]] for name, codes in self.by_sample.items()}

    def _entries(self, rows: Array | list[int]) -> list[TrialEntry]:
        """The records of these trials: each column is taken for all of them at once."""
        taken = np.asarray(rows, dtype=np.intp)
        numbers = {name: array[taken].tolist() for name, array in self.by_trial.items()}
        texts = {name: [self.values[name][number] for number in numbers[name]] for name in _TEXTS}
        samples = [self._sample_names(sample) for sample in numbers["sample_id"]]
        return [
            TrialEntry(
                seq=numbers["seq"][n],
                trial_id=numbers["trial_id"][n].decode(),
                sample_id=texts["sample_id"][n],
                **samples[n],
                model=texts["model"][n],
                arm=texts["arm"][n],
                repeat=numbers["repeat"][n],
                outcome=texts["outcome"][n],
                stop_reason=texts["stop_reason"][n],
                score=_number(numbers["score"][n]),
                answer=texts["answer"][n],
                flags=texts["flags"][n],
                tools=texts["tools_used"][n],
                tool_calls=_integer(numbers["tool_calls"][n]),
                tool_errors=_integer(numbers["tool_errors"][n]),
                usd=_number(numbers["usd"][n]),
                wall_s=numbers["wall_s"][n],
                reply_state=texts["reply_state"][n],
            )
            for n in range(len(taken))
        ]


def _integer(value: float) -> int | None:
    return None if math.isnan(value) else int(value)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
