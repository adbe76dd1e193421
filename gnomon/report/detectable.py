"""Finds the smallest true effect that the verdict's whole rule claims in 8 of 10 studies, by simulation.

Studies with a planted effect go through the same comparison, adjustment and verdict as stored rows do. Of
each draw the simulation keeps the difference that came out, and whether it was claimed. How large a
difference must come out, and how blurred that limit is, follows from few draws; how often it does come out
follows from the standard error of the design.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from gnomon.report.score_matrix import SampleScores
from gnomon.report.text_formats import capitalised
from gnomon.report.verdict import ALPHA
from gnomon.statistics.bisection import bisect
from gnomon.statistics.design import Floats
from gnomon.statistics.permutation import MANY, least_p
from gnomon.statistics.power import POWER, PlantedStudy, detectable_by_t, spread_of

if TYPE_CHECKING:
    from gnomon.report.compared_pair import PairResult

SEED = 20_260_103
DRAWS, ROUNDS = 120, 4
MOST_DRAWS, FEWEST_DRAWS, REPORT_DRAWS = 24, 12, 240  # of a comparison, and of all in a report
STRONG, STRONG_DRAWS = (0.8, 1.0), 10  # effects, one of which any design claims that can claim one at all
LIMITS = 120  # differences among which the limit of a claim is sought
HALVINGS = 20  # of the effects among which one is sought
AT_ONCE = 500_000  # differences that are drawn at once
BLURS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.8)  # of that limit, in standard errors
SURE = 10  # standard errors above zero, where no draw misses it
LARGE, MANY_DIFFERENT = 2_000, 40  # samples from which fewer draws do; samples that are expected to differ


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the rule says of one study."""

    is_claimed: bool
    diff: float
    reasons: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detectable:
    """The smallest true effect that is claimed in 8 of 10 studies; None, with the reason, where none is."""

    effect: float | None
    note: str = ""


Rule = Callable[[SampleScores], Judged]


def detectable_in(
    result: "PairResult", rule: Rule, *, looks: int, simulated: int, repeats: int
) -> Detectable:
    """What a study like this one detects: its scatter is that of the result, and so are its losses.

    Of a subset nothing is taken to be lost. `simulated` comparisons share the draws of a report.
    """
    comparison, grouping = result.comparison, result.grouping
    if comparison is None or grouping is None:
        return Detectable(effect=None)
    spread = spread_of(result.differences, grouping, se=comparison.se)
    lost = result.missing if result.scope == "all" else (0.0, 0.0)
    study = PlantedStudy(grouping=grouping, spread=spread, repeats=repeats, lost=lost, alike=result.alike)
    draws = min(MOST_DRAWS, max(FEWEST_DRAWS, REPORT_DRAWS // simulated))
    return smallest_effect(study, rule, looks=looks, draws=draws)


def _is_pairs(study: PlantedStudy) -> bool:
    """Whether right and wrong answers of independent samples are compared, which McNemar's test decides."""
    return study.grouping.is_plain and set(study.spread.sizes) <= {0.0, 1.0} and study.repeats == 1


def smallest_effect(study: PlantedStudy, rule: Rule, *, looks: int = 1, draws: int = DRAWS) -> Detectable:
    """The smallest true effect that `rule` claims in 8 of 10 studies like `study`; always the same.

    `looks` are the comparisons among which the rule adjusts: they tell the search where to begin.
    """
    random = np.random.default_rng(SEED)
    if (never := _never(study, rule, looks, random)) is not None:
        return never
    df = study.grouping.estimate(np.zeros(study.grouping.n), limits=(-1.0, 1.0)).df or 1.0
    effect = detectable_by_t(study, alpha=ALPHA / looks, df=df, is_pairs=_is_pairs(study))
    if not study.loses and _decides_by_t(study, effect):
        return Detectable(effect=effect)
    draws = draws if study.grouping.n <= LARGE else FEWEST_DRAWS
    most = _most(study, rule, draws, random)
    if most <= POWER:
        return Detectable(effect=None, note=at_most(most, "however large it is, as trials are lost"))
    diffs, claims = list[float](), list[bool]()
    for _ in range(ROUNDS):
        for judged in _judged(study, rule, effect, draws // ROUNDS, random):
            diffs.append(judged.diff)
            claims.append(judged.is_claimed)
        limit, blur = _limit(np.array(diffs), np.array(claims), study.error(effect), most=most)
        effect = _effect_beyond(study, limit, blur, most=most)
    return Detectable(effect=effect)


def share_claimed(study: PlantedStudy, rule: Rule, effect: float, *, draws: int = DRAWS) -> float:
    """The share of such studies in which `rule` claims a difference where this is the true effect."""
    random = np.random.default_rng(SEED)
    return float(np.mean([judged.is_claimed for judged in _judged(study, rule, effect, draws, random)]))


def at_most(power: float, why: str) -> str:
    """The note of a design that claims too seldom."""
    seldom = f"At most {100 * power:.0f} %" if power >= 0.005 else "None"
    return f"{seldom} of such studies would claim a true difference, where 80 % should: {why}."


def within_share(detectable: Detectable, share: float, claimed: float | None) -> Detectable:
    """What is detected where no more than this share of the samples can differ, however they do.

    `claimed` is the share of studies in which the largest such difference is claimed, where that is known.
    """
    if detectable.effect is None or detectable.effect <= share:
        return detectable
    why = f"a claim takes {100 * detectable.effect:.1f} points, and not so many samples differ"
    note = f"{capitalised(why)}." if claimed is None else at_most(claimed, why)
    return Detectable(effect=None, note=note)


def never_claims(study: PlantedStudy, rule: Rule) -> Detectable | None:
    """That the design claims nothing, if so: neither if every sample gains, nor if all but one do."""
    full = np.ones((study.grouping.n, study.repeats))
    but_one = full.copy()
    but_one[-1] = 0.0

    def judged(gains: Floats) -> Judged:
        return rule(_scores(study, gains, np.zeros((2, *gains.shape), dtype=np.bool_), 0.0))

    of_full = judged(full)
    if of_full.is_claimed or judged(but_one).is_claimed:
        return None
    why = "; ".join(of_full.reasons)
    note = f"This design can never claim a difference: even if every sample went from wrong to right, {why}."
    return Detectable(effect=None, note=note)


def _never(study: PlantedStudy, rule: Rule, looks: int, random: Generator) -> Detectable | None:
    never = never_claims(study, rule)
    if never is None or least_p(study.grouping) >= ALPHA / looks:
        return never
    strong = (judged for effect in STRONG for judged in _judged(study, rule, effect, STRONG_DRAWS, random))
    return None if any(judged.is_claimed for judged in strong) else never


def _most(study: PlantedStudy, rule: Rule, draws: int, random: Generator) -> float:
    """The share of studies in which lost trials leave a verdict possible: that claimed of a strong effect."""
    left_at_worst = STRONG[0] - sum(study.lost)
    is_sure = study.grouping.n > LARGE and left_at_worst > SURE * study.error(STRONG[0])
    most = 1.0 if is_sure or not study.loses else 0.0
    is_few = study.grouping.effective_clusters < MANY
    for effect in STRONG if is_few else STRONG[:1]:  # of many clusters the weaker one is beyond doubt
        if most <= POWER:
            judged = _judged(study, rule, effect, draws, random)
            most = max(most, float(np.mean([each.is_claimed for each in judged])))
    return most


def _decides_by_t(study: PlantedStudy, effect: float) -> bool:
    """Whether the t test alone decides, as clusters and samples that differ are many: nothing is drawn."""
    grouping = study.grouping
    differing = max(effect, 1.0 - sum(study.spread.shares[: study.spread.sizes[0] == 0.0]))
    return grouping.effective_clusters >= MANY and grouping.n * differing >= MANY_DIFFERENT


def _judged(
    study: PlantedStudy, rule: Rule, effect: float, draws: int, random: Generator
) -> Iterator[Judged]:
    at_once = max(1, AT_ONCE // (study.grouping.n * study.repeats))
    for start in range(0, draws, at_once):
        for d in study.differences(effect, min(at_once, draws - start), random):
            lost = np.stack([random.random(d.shape) < share for share in study.lost])
            yield rule(_scores(study, d, lost, _eases(study, random)))


def _eases(study: PlantedStudy, random: Generator) -> Floats:
    """How easy each sample is, 0 to 1: those of a cluster are as alike as the arms' scores are."""
    clusters, n = study.grouping.clusters, study.grouping.n
    if study.alike <= 0:
        return random.random((n, 1))
    shared = np.sin(np.pi / 2 * min(study.alike, 1.0))  # so that right and wrong correlate by `alike`
    common = random.standard_normal(study.grouping.clusters_n)[clusters]
    eases: Floats = ndtr(shared**0.5 * common + (1 - shared) ** 0.5 * random.standard_normal(n))
    return eases[:, None]


def _scores(study: PlantedStudy, d: Floats, lost: NDArray[np.bool_], ease: Floats | float) -> SampleScores:
    """Scores with these differences (samples × repeats); an easy sample is right under both arms."""
    room = np.where(ease < 0.5, 0.0, 1.0 - np.abs(d))
    baseline = np.maximum(-d, 0.0) + room
    of_arms = zip((baseline, baseline + d), lost, strict=True)
    missing: NDArray[np.int32] = np.sum(lost, axis=2, dtype=np.int32)
    scores = SampleScores(
        cells=study.grouping.strata,
        clusters=study.grouping.clusters,
        crossing=study.grouping.crossed[0].clusters if study.grouping.crossed else None,
        score_sums=np.stack([np.sum(values, axis=1, where=~is_lost) for values, is_lost in of_arms]),
        answered=np.subtract(study.repeats, missing),
        missing=missing,
    )
    scores.keep_design("mean_of_cells", study.grouping)
    return scores


def _limit(diffs: Floats, claims: NDArray[np.bool_], error: float, *, most: float) -> tuple[float, float]:
    """The difference that is claimed in half of the studies in which it comes out, and how blurred it is.

    Of the chance most·Φ((diff − limit)/blur): the mean over a grid of limits and blurs, weighted by their
    likelihoods.
    """
    low = max(0.0, float(np.min(diffs)) - 4 * error)
    limits = np.linspace(low, min(1.0, float(np.max(diffs)) + 4 * error), LIMITS)[:, None, None]
    blurs = error * np.asarray(BLURS)[None, :, None]
    chances = most * ndtr((diffs - limits) / np.maximum(blurs, 1e-6))
    chances = np.clip(np.where(claims, chances, 1.0 - chances), 1e-6, 1.0)
    likelihood = np.sum(np.log(chances), axis=2)
    weights = np.exp(likelihood - np.max(likelihood))
    weights /= np.sum(weights)
    return float(np.sum(weights * limits[:, :, 0])), float(np.sum(weights * blurs[:, :, 0]))


def _effect_beyond(study: PlantedStudy, limit: float, blur: float, *, most: float) -> float:
    """The effect at which a difference beyond the limit comes out in 8 of 10 studies."""
    quantile = float(ndtri(POWER / most))

    def is_claimed(effect: float) -> bool:
        blurred: float = (blur**2 + study.error(effect) ** 2) ** 0.5
        return effect >= limit + quantile * blurred

    return bisect(is_claimed, 0.0, 1.0, halvings=HALVINGS)[1]
