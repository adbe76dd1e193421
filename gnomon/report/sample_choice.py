"""Chooses the samples that the page opens: a few of each kind and of each comparison, primary ones first."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gnomon.report.contrast import ContrastsPart, comparisons
from gnomon.report.section import PairKey, pair_key
from gnomon.report.sections.flips import Alignment, FlipsPart
from gnomon.report.sections.samples import SamplesPart

MOST = 20  # samples of a page
MOST_OF_KIND = {"regressed": 20, "fixed": 20, "both wrong": 6, "no score": 4}  # of one comparison

Kind = Literal["regressed", "fixed", "both wrong", "no score"]


class Reported(ContrastsPart, FlipsPart, SamplesPart):
    """What the choice is made from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A sample to open, within which comparison, why, and its two traces where the report has them."""

    pair: PairKey
    sample_id: str
    cell: str
    kind: Kind
    trials: tuple[str | None, str | None]  # of the baseline and of the variant
    aligned: Alignment | None = None


def chosen_samples(report: Reported) -> list[Choice]:
    """The samples to open, the most telling first; each once for a model.

    In turn one of each kind: a job with many fixed samples shows its only regressed one.
    """
    flips = {pair_key(flip): flip for flip in report["flips"]}
    others = {pair_key(other): other for other in report.get("other_samples", ())}
    chosen: list[Choice] = []
    taken: set[tuple[str, str]] = set()
    for family in ("primary", "exploratory"):
        pairs = [pair_key(contrast) for contrast in comparisons(report) if contrast["family"] == family]
        queues = [
            iter(queue)
            for pair in pairs
            for queue in _queues(pair, flips.get(pair, {}), others.get(pair, {}))
        ]
        for choice in _in_turn(queues):
            if len(chosen) == MOST:
                return chosen
            if (choice.pair[0], choice.sample_id) not in taken:
                taken.add((choice.pair[0], choice.sample_id))
                chosen.append(choice)
    return chosen


def _queues(pair: PairKey, flip: Mapping[str, Any], other: Mapping[str, Any]) -> list[list[Choice]]:
    """The candidates of one comparison, a list for each kind, subsets in turn."""
    changed = [sample for sample in flip.get("samples", ()) if sample["aligned"]]
    lists: dict[Kind, Iterable[Mapping[str, Any]]] = {
        "regressed": [sample for sample in changed if sample["kind"] == "broken"],
        "fixed": [sample for sample in changed if sample["kind"] == "rescued"],
        "both wrong": other.get("both_wrong", ()),
        "no score": other.get("without_score", ()),
    }
    return [
        _by_subset(
            Choice(
                pair=pair,
                sample_id=sample["sample_id"],
                cell=sample["cell"],
                kind=kind,
                trials=(sample["baseline_trial"], sample["variant_trial"]),
                aligned=sample.get("aligned"),
            )
            for sample in candidates
        )[: MOST_OF_KIND[kind]]
        for kind, candidates in lists.items()
    ]


def _by_subset(choices: Iterable[Choice]) -> list[Choice]:
    """The choices so that the first of every subset come first; they keep their order within a subset."""
    subsets: dict[str, list[Choice]] = {}
    for choice in choices:
        subsets.setdefault(choice.cell, []).append(choice)
    return list(_in_turn([iter(queue) for queue in subsets.values()]))


def _in_turn(queues: list[Iterator[Choice]]) -> Iterator[Choice]:
    """One of each queue, again and again, until all are empty."""
    while queues:
        remaining = []
        for queue in queues:
            choice = next(queue, None)
            if choice is not None:
                remaining.append(queue)
                yield choice
        queues = remaining
