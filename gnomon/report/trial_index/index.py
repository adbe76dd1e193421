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
_OF_NAMES = {  # what is worked out from names alone
    "sorted": ("sample_id",),
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
        return cls(*read_columns(body))

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
        masks = {facet: self._chosen(facet, filters) for facet in FACETS if filters.values(facet)}
        searched = self._searched(filters.q)
        counts = {}
        for facet in FACETS:
            mask = all_of([searched, *(mask for name, mask in masks.items() if name != facet)], self.size)
            left = self._changes_left(mask, filters) if facet == "changed" else self._counted(facet, mask)
            counts[facet] = {**dict.fromkeys(filters.values(facet), 0), **left}
        return {facet: _most_first(by_value) for facet, by_value in counts.items()}

    def count(self, filters: TrialFilter) -> int:
        """How many trials match."""
        return int(np.count_nonzero(self._matching(filters)))

    def trials(
        self, filters: TrialFilter, sort: str = "seq", after: str | None = None, limit: int = PAGE
    ) -> Listed[TrialEntry]:
        """A page of the trials that match.

        Raises:
            SpecError: the sort or the cursor is unknown.
        """
        key, ties = self._trial_key(sort), self.by_trial["seq"]
        mask = self._matching(filters)
        rows, is_last = first_places(mask, key, ties, self._start(sort, after, of_pairs=False), limit)
        entries = [self._entry(int(row)) for row in rows]
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
        entries = [self._pair_entry(int(place), *groups) for place in places]
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
        cells = tuple(
            (self.values["model"][model], self._arm_result(model, arm, sample)) for model, arm in groups
        )
        return SampleGrid(sample_id=sample_id, cells=cells, **self._sample_names(sample))

    def neighbours(self, filters: TrialFilter, sort: str, sample_id: str) -> Neighbours:
        """The samples before and after this one in the list of trials or pairs that this sort is of.

        Raises:
            SpecError: the sort is unknown.
        """
        samples, first = self._samples_in_order(filters, sort)
        total = int(np.count_nonzero(first < len(samples)))
        sample = self.numbers["sample_id"].get(sample_id)
        if sample is None or first[sample] == len(samples):
            return Neighbours(previous=None, next=None, position=0, total=total)
        place = first[sample]
        before, after = first[first < place], first[(first > place) & (first < len(samples))]
        name = self.values["sample_id"]
        return Neighbours(
            previous=name[samples[before.max()]] if len(before) else None,
            next=name[samples[after.min()]] if len(after) else None,
            position=len(before) + 1,
            total=total,
        )

    # Order.

    def _sorted_samples(self) -> list[str]:
        return self.once("sorted", lambda: sorted(self.values["sample_id"]))

    def sample_ranks(self) -> Array:
        """By sample, the place of its id among all."""

        def ranks() -> Array:
            rank = {name: place for place, name in enumerate(self._sorted_samples())}
            return np.array([rank[name] for name in self.values["sample_id"]], np.intp)

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

    def _samples_in_order(self, filters: TrialFilter, sort: str) -> tuple[Array, Array]:
        """The samples of the listed trials or pairs in order, and by sample its first place among them.

        That of a sample which is not listed is the length of the list.
        """
        if sort.removeprefix("-") in TRIAL_SORTS and sort.removeprefix("-") != "sample":
            key, ties = self._trial_key(sort), self.by_trial["seq"]
            places = np.flatnonzero(self._matching(filters))
            samples = self.by_trial["sample_id"][places]
        else:
            groups = self._arms_of(filters) if "sample" not in sort else (0, 0)
            key, ties = self._pair_key(sort, *groups), self._pair_ties()
            places = np.flatnonzero(self._matching_pairs(filters).ravel())
            samples = places % max(self._samples_n, 1)
        samples = samples[np.lexsort((ties[places], key[places]))]
        first = np.full(self._samples_n, len(samples), np.intp)
        first[samples[::-1]] = np.arange(len(samples))[::-1]  # the first of several is written last
        return samples, first

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
            rank = bisect_left(self._sorted_samples(), str(sample_id))
        except (ValueError, TypeError, OverflowError, RecursionError):
            message = f"{after[:100]!r} is no cursor of this list; pass on next_cursor as it came"
            raise SpecError(message, field="after") from None
        if sort.removeprefix("-") == "sample":
            key = float(-rank if sort.startswith("-") else rank)
        return key, rank * self._models_n + tie if of_pairs else tie

    # What is handed out.

    def _rows_at(self, model: int, arm: int, sample: int) -> Array:
        """The trials of a sample in a group, by repeat."""

        def by_place() -> tuple[Array, Array]:
            places = self._group_places()
            order = np.lexsort((self.by_trial["repeat"], places))
            return order, places[order]

        order, places = self.once("by place", by_place)
        place = (model * self._arms_n + arm) * self._samples_n + sample
        rows: Array = order[slice(*np.searchsorted(places, [place, place + 1]))]
        return rows

    def _arm_result(self, model: int, arm: int, sample: int) -> ArmResult:
        at = model, arm, sample
        return ArmResult(
            arm=self.values["arm"][arm],
            score=_number(self._means("score")[at]),
            tool_calls=_number(self._means("tool_calls")[at]),
            trials=tuple(self._entry(int(row)) for row in self._rows_at(*at)),
        )

    def _pair_entry(self, place: int, baseline: int, variant: int) -> PairEntry:
        model, sample = divmod(place, self._samples_n)
        kinds = self._kinds_of(baseline, variant)
        first, second = (self._arm_result(model, arm, sample) for arm in (baseline, variant))
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

    def _entry(self, row: int) -> TrialEntry:
        numbers = {name: array[row].item() for name, array in self.by_trial.items()}
        values = self.values
        return TrialEntry(
            seq=numbers["seq"],
            trial_id=numbers["trial_id"].decode(),
            sample_id=values["sample_id"][numbers["sample_id"]],
            **self._sample_names(numbers["sample_id"]),
            model=values["model"][numbers["model"]],
            arm=values["arm"][numbers["arm"]],
            repeat=numbers["repeat"],
            outcome=values["outcome"][numbers["outcome"]],
            stop_reason=values["stop_reason"][numbers["stop_reason"]],
            score=_number(numbers["score"]),
            answer=values["answer"][numbers["answer"]],
            flags=values["flags"][numbers["flags"]],
            tools=values["tools_used"][numbers["tools_used"]],
            tool_calls=_integer(numbers["tool_calls"]),
            tool_errors=_integer(numbers["tool_errors"]),
            usd=_number(numbers["usd"]),
            wall_s=numbers["wall_s"],
        )


def _integer(value: float) -> int | None:
    return None if math.isnan(value) else int(value)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
