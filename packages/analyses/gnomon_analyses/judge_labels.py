"""Counts the labels that judges gave to traces, and how far judges agree."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np

from gnomon.core.arm import Contrast
from gnomon.core.row import Row
from gnomon.report.cluster_codes import plain_design
from gnomon.statistics.estimate import wilson
from gnomon.statistics.paired import compare
from gnomon_analyses.kinds import LabelledByJudge, need
from gnomon_analyses.statistics.agreement import agreement, cohen_kappa, fleiss_kappa

Judge = tuple[str, int]  # the judge's model and repeat
LABEL = "right"  # of replies that are judged by the truth
LabelsByCase = Mapping[str, Mapping[Judge, Mapping[str, int]]]  # by case, judge and label


def summarise(
    analysis: LabelledByJudge, judgements: Sequence[Row], cases: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """Shares of each label by model, arm and task, and the judges' agreement.

    `cases` has for each judged trial its `model`, `arm` and `task`. A label is counted once for each judge
    that gave one. Intervals are Wilson's, over trials.

    Raises:
        SpecError: too few trials were judged.
    """
    by_case: dict[str, dict[Judge, dict[str, int]]] = defaultdict(dict)
    for row in judgements:
        labels = {name: int(value) for name, value in row.metrics.items() if isinstance(value, (int, float))}
        if row.answer is not None and labels:
            by_case[row.sample_id][row.model, row.repeat] = labels
    need("judged trials", len(by_case), analysis.least)
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for case in by_case:
        groups["all", "all"].append(case)
        groups["model", f"{cases[case]['model']} / {cases[case]['arm']}"].append(case)
        groups["task", cases[case]["task"]].append(case)
    return {
        "analysis": analysis.name,
        "judges": sorted({row.model for row in judgements}),
        "judged": len(by_case),
        "not_understood": sum(row.answer is None for row in judgements),
        "shares": [
            {"by": by, "group": group, "n": len(members), "labels": _shares(analysis, by_case, members)}
            for (by, group), members in sorted(groups.items())
        ],
        "agreement": {name: _agreement(by_case, name) for name in analysis.labels},
    }


def against(judgements: Sequence[Row], labels: Mapping[str, bool]) -> dict[str, dict[str, Any]]:
    """How far each judge agrees with labels that are there by case: the share alike, and Cohen's kappa with
    its interval. A judge's first repeat counts.
    """
    items: dict[str, list[list[tuple[str, Hashable]]]] = defaultdict(list)
    for row in judgements:
        flag = row.metrics.get(LABEL)
        if row.sample_id in labels and row.repeat == 0 and isinstance(flag, int | float):
            items[row.model].append([("label", labels[row.sample_id]), ("judge", bool(flag))])
    agreements = {judge: agreement(pairs) for judge, pairs in items.items()}
    return {
        judge: {
            "n": found.items,
            "same": found.share,
            "kappa": found.coefficient,
            "ci95": list(found.ci95) if found.ci95 else None,
        }
        for judge, found in sorted(agreements.items())
    }


def judged_contrasts(
    judgements: Sequence[Row], rows: Sequence[Row], contrasts: Sequence[Contrast]
) -> list[dict[str, Any]]:
    """Each contrast by what each judge says, over the samples that it labelled under both arms: the paired
    difference by the report's own rule, with none of the adjustments for several contrasts.
    """
    by_trial = {row.trial_id: row for row in rows}
    flags: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for judgement in judgements:
        row, flag = by_trial.get(judgement.sample_id), judgement.metrics.get(LABEL)
        if row is not None and isinstance(flag, int | float):
            flags[judgement.model, row.model, row.arm][row.sample_id].append(float(flag))
    clusters = {row.sample_id: row.cluster or row.sample_id for row in rows}
    results = []
    for judge, model in sorted({(judge, model) for judge, model, _ in flags}):
        for contrast in contrasts:
            baseline, variant = (flags[judge, model, arm] for arm in (contrast.baseline, contrast.variant))
            shared = sorted(baseline.keys() & variant.keys())
            if not shared:
                continue
            before, after = (np.array([fmean(arm[name]) for name in shared]) for arm in (baseline, variant))
            comparison = compare(before, after, plain_design([clusters[name] for name in shared]))
            results.append(
                {
                    "judge": judge,
                    "model": model,
                    "baseline": contrast.baseline,
                    "variant": contrast.variant,
                    "n": comparison.n,
                    "clusters": comparison.clusters,
                    "diff": comparison.diff,
                    "ci95": list(comparison.ci95) if comparison.ci95 else None,
                    "p": comparison.p,
                    "test": comparison.test,
                }
            )
    return results


def _shares(analysis: LabelledByJudge, by_case: LabelsByCase, members: Sequence[str]) -> dict[str, Any]:
    shares: dict[str, Any] = {}
    for name in analysis.labels:
        means = []
        for case in members:
            flags = [labels[name] for labels in by_case[case].values() if name in labels]
            if flags:
                means.append(sum(flags) / len(flags))
        if means:
            share = sum(means) / len(means)
            shares[name] = {"n": len(means), "share": share, "ci95": list(wilson(share, len(means)))}
    return shares


def _agreement(by_case: LabelsByCase, name: str) -> dict[str, Any]:
    """Cohen's kappa of two judges, Fleiss' of more, over the cases that all of them labelled.

    One judge with two repeats is compared with itself; one with a single repeat has no agreement.
    """
    judges = sorted({judge for labels in by_case.values() for judge in labels})
    shared = [
        [labels[judge][name] for judge in judges]
        for labels in by_case.values()
        if all(name in labels.get(judge, {}) for judge in judges)
    ]
    method = "none: one judge, asked once"
    kappa: float | None = None
    if len(judges) == 2 and shared:
        method = "Cohen's kappa"
        first: list[Hashable] = [pair[0] for pair in shared]
        kappa = cohen_kappa(first, [pair[1] for pair in shared])
    elif len(judges) > 2 and shared:
        method = "Fleiss' kappa"
        kappa = fleiss_kappa([[values.count(0), values.count(1)] for values in shared])
    pairs = [(a == b) for values in shared for a, b in combinations(values, 2)]
    return {
        "n": len(shared),
        "judges": len(judges),
        "method": method,
        "kappa": kappa,
        "same": sum(pairs) / len(pairs) if pairs else None,
    }
