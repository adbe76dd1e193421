"""Says what a variant uses beside its baseline: ratios with intervals, and points per 1,000 tokens."""

from collections.abc import Mapping

import numpy as np
from typing_extensions import TypedDict

from gnomon.report.pairs import ArmPair
from gnomon.report.phrases import price_words
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import Interval, interval
from gnomon.report.text_formats import count
from gnomon.report.usage import QUANTITIES, Quantity, Used
from gnomon.report.verdict import ALPHA
from gnomon.statistics.design import Headline
from gnomon.statistics.mean import filled_in
from gnomon.statistics.paired import compare, ratio_of_means

NOISE = 0.01  # extra tokens below this share of the baseline's are no price
MATCHED_FROM = 1.1  # times the baseline's tokens, from which on the spec that matches them is offered


class QuantityRatio(TypedDict):
    """What a trial uses under either arm, on average, over the `n` questions on which that is known of both.

    `ratio` is variant over baseline; null where it cannot be known, and `note` says why. Left out are
    `lost_unknown` trials without a score that do not tell, and `cached` ones with replies from the cache.
    """

    quantity: Quantity
    baseline: float | None
    variant: float | None
    ratio: float | None
    ci95: Interval
    n: int
    unknown: int
    lost_unknown: int
    cached: int
    note: str


class TokenGain(TypedDict):
    """The gain (a fraction) for each 1,000 extra tokens; null with a `note` where that would be noise."""

    value: float | None
    ci95: Interval
    note: str


class PairPrice(TypedDict):
    """What a variant costs beside its baseline, and how to ask what as many tokens do without it.

    `matched_compute` holds the lines of the spec that would; empty where they do not fit, or were run.
    """

    model: str
    baseline: str
    variant: str
    ratios: list[QuantityRatio]
    gain_per_1000_tokens: TokenGain
    matched_compute: str


def price_of(
    used: Mapping[Quantity, Used],
    scores: ScoreMatrix,
    pair: ArmPair,
    headline: Headline,
    *,
    matched: str = "",
) -> PairPrice:
    """The price of a pair, over the questions that both arms answered or lost; `matched` are the lines of the
    spec that gives the baseline as many tokens, kept where the variant took more.
    """
    first, second = scores.groups_of(pair)
    ratios = [_ratio(name, used[name], scores, (first, second), headline) for name in QUANTITIES]
    tokens = ratios[0]["ratio"]
    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "ratios": ratios,
        "gain_per_1000_tokens": _token_gain(used["tokens"], ratios[0], scores, (first, second), headline),
        "matched_compute": matched if tokens is not None and tokens >= MATCHED_FROM else "",
    }


def price_in_words(price: PairPrice, *, offer: bool = True) -> str:
    """The price as a phrase for a sentence, see `price_words`; with what to run to match it, by `offer`."""
    return price_words(
        {ratio["quantity"]: ratio["ratio"] for ratio in price["ratios"]},
        matching_of=price["baseline"] if offer and price["matched_compute"] else "",
    )


def _ratio(
    quantity: Quantity, used: Used, scores: ScoreMatrix, groups: tuple[int, int], headline: Headline
) -> QuantityRatio:
    begun = np.all((scores.answered + scores.missing)[list(groups)] > 0, axis=0)
    of_pair = used.means[list(groups)]
    known = begun & np.isfinite(of_pair).all(axis=0)
    unknown, lost, cached = (
        int(counts[list(groups)][:, begun].sum()) for counts in (used.unknown, used.lost_unknown, used.cached)
    )
    told: QuantityRatio = {
        "quantity": quantity,
        "baseline": None,
        "variant": None,
        "ratio": None,
        "ci95": None,
        "n": int(known.sum()),
        "unknown": unknown,
        "lost_unknown": lost,
        "cached": cached,
        "note": "",
    }
    if unknown or not known.any():
        trials = count(unknown, "scored trial")
        told["note"] = f"{quantity} of {trials} are unknown" if unknown else f"no {quantity} are known"
        return told
    grouping = scores.design(known, headline)
    before, after = of_pair[0][known], of_pair[1][known]
    means = grouping.mean(before), grouping.mean(after)
    if means[0] == 0:
        told["note"] = f"no {quantity} were counted under the baseline"
        if means[1] > 0:
            told["baseline"], told["variant"] = means
        return told
    told["baseline"], told["variant"] = means
    told["ratio"] = means[1] / means[0]
    ratio = ratio_of_means(after, before, grouping)
    told["ci95"] = interval((max(ratio.ci95[0], 0.0), ratio.ci95[1])) if ratio else None
    return told


def _token_gain(
    used: Used, tokens: QuantityRatio, scores: ScoreMatrix, groups: tuple[int, int], headline: Headline
) -> TokenGain:
    """Points per 1,000 extra tokens, where it is sure that there are extra tokens."""
    if tokens["ratio"] is None:
        return {"value": None, "ci95": None, "note": tokens["note"]}
    low = tokens["ci95"][0] if tokens["ci95"] else 0.0
    if tokens["ratio"] <= 1:
        return {"value": None, "ci95": None, "note": "it takes no more tokens"}
    if low <= 1 or tokens["ratio"] - 1 < NOISE:
        return {"value": None, "ci95": None, "note": "whether it takes more tokens is not sure"}
    begun = np.all((scores.answered + scores.missing)[list(groups)] > 0, axis=0)
    known = begun & np.isfinite(used.means[list(groups)]).all(axis=0)
    before, after = (scores.means(group)[known] for group in groups)
    gained = after - before
    if not np.isfinite(gained).any():
        return {"value": None, "ci95": None, "note": "no question has a score under both arms"}
    grouping = scores.design(known, headline)
    extra = (used.means[groups[1]] - used.means[groups[0]])[known] / 1000
    gains = filled_in(gained, grouping)
    ratio = ratio_of_means(gains, extra, grouping)
    if ratio is None:
        return {"value": None, "ci95": None, "note": "whether it takes more tokens is not sure"}
    if grouping.estimate(gains, limits=(-1.0, 1.0)).is_flat:  # no scatter to judge by
        return {"value": ratio.value, "ci95": None, "note": ""}
    low, high = ratio.ci95
    p = compare(np.zeros_like(gains), gains, grouping).p if low > 0.0 or high < 0.0 else 1.0
    if p is None or p >= ALPHA:  # whether there is a gain is said by the one test of differences
        low, high = min(low, 0.0), max(high, 0.0)
    return {"value": ratio.value, "ci95": [low, high], "note": ""}
