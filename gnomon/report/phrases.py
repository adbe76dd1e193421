"""Puts into a few words what belongs beside a difference: its price, what was lost, and what weighs most."""

from collections.abc import Mapping
from typing import Any

from gnomon.report.text_formats import count, listed, percent

NOUNS = {"tokens": "tokens", "calls": "calls", "seconds": "seconds", "dollars": "dollars"}
MATCHED = "{preset: matched_compute}"
ALIKE = 0.05  # a ratio this close to 1 is told as the same


TOKENS_UNKNOWN = "tokens unknown"  # all that is said of a price of which no part is known


def price_words(ratios: Mapping[str, float | None], *, matching_of: str = "") -> str:
    """At what price a variant does what it does; empty where nothing is known of it.

    `ratios` are variant over baseline, by quantity; None: unknown, which is said of tokens alone. Where
    `matching_of` names the baseline, it was not given as much as the variant took, and what to run is added.

    >>> price_words({"tokens": 3.1, "calls": 4.0, "dollars": 2.84}, matching_of="raw")
    'at 3.1 times the tokens, 4 times the calls and 2.8 times the dollars; raw given as much: run \
`{preset: matched_compute}`'
    >>> price_words({"tokens": 0.98, "calls": 1.0, "dollars": None})
    'at as many tokens and as many calls'
    >>> price_words({"tokens": None, "calls": 2.0}), price_words({})
    ('at 2 times the calls, tokens unknown', '')
    """
    told = [
        _times(name, ratio)
        for name in ("tokens", "calls", "dollars")
        if (ratio := ratios.get(name)) is not None
    ]
    unknown = TOKENS_UNKNOWN if "tokens" in ratios and ratios["tokens"] is None else ""
    if not told:
        return unknown
    words = f"at {listed(told)}"
    words += f", {unknown}" if unknown else ""
    return f"{words}; {matching_of} given as much: run `{MATCHED}`" if matching_of else words


def _times(quantity: str, ratio: float) -> str:
    """How many times as much of a quantity.

    >>> _times("tokens", 12.34), _times("dollars", 0.5), _times("calls", 0.0)
    ('12 times the tokens', '0.5 times the dollars', 'no calls')
    """
    if ratio == 0:
        return f"no {NOUNS[quantity]}"
    if abs(ratio - 1) <= ALIKE:
        return f"as many {NOUNS[quantity]}"
    return f"{times(ratio)} times the {NOUNS[quantity]}"


def times(ratio: float) -> str:
    """A ratio to two digits.

    >>> times(3.14), times(0.123), times(12.6), times(1234.0)
    ('3.1', '0.12', '13', '1,200')
    """
    rounded = float(f"{ratio:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def loss_words(baseline: float, variant: float) -> str:
    """The share of trials of both arms that have no score; empty where none is lost.

    >>> loss_words(0.061, 0.0), loss_words(0.0, 0.0)
    ('6.1 % and 0.0 % of the trials of baseline and variant have no score', '')
    """
    if baseline == variant == 0:
        return ""
    shares = f"{percent(baseline)} % and {percent(variant)} %"
    return f"{shares} of the trials of baseline and variant have no score"


def clusters_words(counted: Mapping[str, Any]) -> str:
    """In how many clusters the samples are, by each factor that makes them kin."""
    by_first = count(counted["clusters"], "cluster")
    second = counted.get("crossing_clusters")  # reports of before have none
    return f"{by_first} by one factor, {second:,} by another" if second else by_first


def weight_words(share: float, clusters: int) -> str:
    """How much of the figure one cluster is, where that is at least twice an equal share; else empty.

    `share` is the greatest weight of a cluster among so many.

    >>> weight_words(0.5, 21)
    'one of 21 clusters is 50.0 % of it'
    >>> weight_words(0.1, 10), weight_words(1.0, 1)
    ('', '')
    """
    if clusters < 2 or share * clusters < 2:
        return ""
    return f"one of {clusters:,} clusters is {percent(share)} % of it"
