"""Fits a mixed logistic model of model × arm with random items and clusters, and tests their interaction."""

from collections.abc import Callable, Iterator
from math import exp
from typing import Any

import numpy as np

from gnomon.core.errors import SpecError
from gnomon.report.text_formats import count, p_text, percent, points
from gnomon.statistics.design import Floats, dense
from gnomon_analyses.kinds import ComputedFromJob, need
from gnomon_analyses.statistics.mixed_logistic import (
    Answers,
    Figure,
    MixedLogistic,
    mixed_logistic,
    share_right,
)
from gnomon_analyses.stored_job import StoredJob

MIN_ITEMS, MIN_CLUSTERS = 20, 8
Condition = tuple[str, str]  # model, arm


def count_mixed(job: StoredJob) -> dict[str, Any]:
    """Odds ratios and average marginal effects of each compared pair, and of each model against the first.

    Raises:
        SpecError: scores are graded and no threshold is given, an arm is always right or always wrong, or
            there are too few items or clusters.
    """
    compared = job.compared
    arms = dict.fromkeys(arm for pair in compared for arm in (pair.baseline, pair.variant))
    conditions = [(model, arm) for model in job.models for arm in arms]
    answers = _answers(job, conditions)
    need("items", len(answers.clusters), MIN_ITEMS)
    need("clusters", answers.clusters_n, MIN_CLUSTERS)
    _refuse_certain(answers, conditions)
    try:
        fit = mixed_logistic(answers)
    except ValueError as error:
        raise SpecError(f"{error} (separation)", field="JOB") from None
    at = {condition: place for place, condition in enumerate(conditions)}
    pairs_of = dict.fromkeys((pair.baseline, pair.variant) for pair in compared)
    effects = [
        {
            "model": pair.model,
            "baseline": pair.baseline,
            "variant": pair.variant,
            **_effect(fit, [(at[pair.model, pair.variant], 1), (at[pair.model, pair.baseline], -1)]),
        }
        for pair in compared
    ]
    first, *others = job.models
    interactions = [
        {
            "model": model,
            "against": first,
            "baseline": baseline,
            "variant": variant,
            **_effect(
                fit,
                [
                    (at[model, variant], 1),
                    (at[model, baseline], -1),
                    (at[first, variant], -1),
                    (at[first, baseline], 1),
                ],
            ),
        }
        for baseline, variant in pairs_of
        for model in others
    ]
    deviation = float(np.hypot(fit.item_deviation, fit.cluster_deviation))
    return {
        "threshold": job.threshold,
        "items": len(answers.clusters),
        "clusters": answers.clusters_n,
        "trials": int(answers.trials.sum()),
        "conditions": [
            {
                "model": model,
                "arm": arm,
                "trials": int(answers.trials[:, place].sum()),
                "mean": float(answers.right[:, place].sum() / answers.trials[:, place].sum()),
                "fitted": share_right(float(fit.levels[place]), deviation),
            }
            for place, (model, arm) in enumerate(conditions)
        ],
        "effects": effects,
        "interactions": interactions,
        "random": {"item_deviation": fit.item_deviation, "cluster_deviation": fit.cluster_deviation},
        "convergence": {
            "converged": fit.is_converged,
            "rounds": fit.rounds,
            "largest_gradient": fit.gradient,
            "log_likelihood": fit.log_likelihood,
        },
    }


def _answers(job: StoredJob, conditions: list[Condition]) -> Answers:
    """Right answers by item and condition; of the items that have a score under one of them."""
    scores = job.scores
    groups = [scores.at[condition] for condition in conditions]
    size = len(scores.samples)
    own = np.isin(scores.places // size, groups)
    values = scores.row_scores[own]
    if job.threshold is None:
        graded = int(np.sum((values != 0.0) & (values != 1.0)))
        if graded:
            raise SpecError(
                f"{count(graded, 'score')} of {len(values):,} are neither 0 nor 1; --threshold 0.5 counts"
                " scores from there on as right",
                field="--threshold",
            )
    right = values >= (1.0 if job.threshold is None else job.threshold)
    place = {group: at for at, group in enumerate(groups)}
    column = np.array([place[group] for group in (scores.places[own] // size).tolist()], dtype=np.intp)
    flat = (scores.places[own] % size) * len(groups) + column
    shape = (size, len(groups))
    trials = np.bincount(flat, minlength=size * len(groups)).reshape(shape).astype(np.float64)
    hits = np.bincount(flat, right, minlength=size * len(groups)).reshape(shape).astype(np.float64)
    used = trials.sum(axis=1) > 0
    return Answers(right=hits[used], trials=trials[used], clusters=dense(scores.clusters[used]))


def _refuse_certain(answers: Answers, conditions: list[Condition]) -> None:
    """Refuse conditions whose odds have no bound."""
    right, trials = answers.right.sum(axis=0), answers.trials.sum(axis=0)
    for (model, arm), hits, tries in zip(conditions, right.tolist(), trials.tolist(), strict=True):
        if hits in (0, tries):
            what = "has no score" if not tries else f"is always {'right' if hits else 'wrong'}"
            raise SpecError(
                f"{model} under {arm} {what} ({tries:.0f} trials): its odds have no bound (separation)",
                field="JOB",
            )


def _effect(fit: MixedLogistic, parts: list[tuple[int, int]]) -> dict[str, Any]:
    """The odds ratio of one item, and the average effect over items in points."""
    log_odds = fit.figure(_log_odds(parts))
    shares = fit.figure(_shares(parts))
    return {
        "odds_ratio": exp(log_odds.value),
        "odds_ratio_ci95": [exp(min(end, 700.0)) for end in log_odds.ci95],
        "p": log_odds.p,
        "average_effect": shares.value,
        "average_effect_ci95": list(shares.ci95),
        "model_based": {"log_odds_se": log_odds.model_se, "average_effect_se": shares.model_se},
        "log_odds": _figure(log_odds),
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {"value": figure.value, "se": figure.se, "ci95": list(figure.ci95)}


def _log_odds(parts: list[tuple[int, int]]) -> Callable[[Floats, float], float]:
    return lambda levels, _: float(sum(sign * levels[at] for at, sign in parts))


def _shares(parts: list[tuple[int, int]]) -> Callable[[Floats, float], float]:
    return lambda levels, deviation: sum(
        sign * share_right(float(levels[at]), deviation) for at, sign in parts
    )


def lines(result: dict[str, Any]) -> Iterator[str]:
    """Lines on effects, their differences between models, random parts, and the fit's convergence."""
    yield (
        f"Mixed logistic model of {count(result['trials'], 'trial')}: {count(result['items'], 'item')} in"
        f" {count(result['clusters'], 'cluster')}, both random"
        + ("" if result["threshold"] is None else f"; scores from {result['threshold']:g} on count as right")
    )
    for condition in result["conditions"]:
        yield (
            f"  {condition['model']} / {condition['arm']}: {percent(condition['mean'])} % of"
            f" {count(condition['trials'], 'trial')} right, fitted {percent(condition['fitted'])} %"
        )
    yield "Effects, odds ratio of an item and points on average over items (95 % by cluster jackknife):"
    for effect in result["effects"]:
        yield f"  {effect['model']}: {effect['variant']} against {effect['baseline']}: {_text(effect)}"
    if result["interactions"]:
        yield "Interaction, the ratio of two models' odds ratios and the difference of their effects:"
    for effect in result["interactions"]:
        arms = f"{effect['variant']} against {effect['baseline']}"
        yield f"  {effect['model']} against {effect['against']}, {arms}: {_text(effect)}"
    random, settled = result["random"], result["convergence"]
    yield (
        f"Standard deviations on the logit scale: items {random['item_deviation']:.2f}, clusters"
        f" {random['cluster_deviation']:.2f}."
    )
    steepness = f"largest gradient {settled['largest_gradient']:.1g}"
    yield (
        f"The fit converged ({count(settled['rounds'], 'round')}, {steepness})."
        if settled["converged"]
        else f"The fit did NOT converge ({steepness}): do not use these figures."
    )


def _text(effect: dict[str, Any]) -> str:
    low, high = effect["odds_ratio_ci95"]
    ends = effect["average_effect_ci95"]
    return (
        f"odds × {effect['odds_ratio']:.3g} ({low:.3g} to {high:.3g}, p {p_text(effect['p'])}),"
        f" {points(effect['average_effect'])} points ({points(ends[0])} to {points(ends[1])})"
    )


mixed_model = ComputedFromJob(
    name="mixed_model",
    description="A mixed logistic model: model × arm with its interaction, items and clusters random.",
    count=count_mixed,
    lines=lines,
)
