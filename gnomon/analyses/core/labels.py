"""Labels: what judges said of traces, counted, and how far judges agree."""

import json
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from typing import Any

from gnomon.analyses.core.kinds import LabelledByJudge, need
from gnomon.core.row import Row
from gnomon.statistics.agreement import cohen_kappa, fleiss_kappa
from gnomon.statistics.estimate import wilson

Judge = tuple[str, int]  # the judge's model and repeat
Said = Mapping[str, Mapping[Judge, Mapping[str, int]]]  # by case, judge and label


def parse_labels(response: str, names: Sequence[str]) -> dict[str, int] | None:
    """The labels in the last JSON object of a reply that has all of them as 0, 1, false or true; else None.

    >>> parse_labels('I think {"time": 1} or rather {"time": 0, "place": true}', ("time", "place"))
    {'time': 0, 'place': 1}
    """
    decoder, found = json.JSONDecoder(), None
    at = response.find("{")
    while at >= 0:
        try:
            value, _ = decoder.raw_decode(response, at)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and all(_is_flag(value.get(name)) for name in names):
            found = {name: int(value[name]) for name in names}
        at = response.find("{", at + 1)
    return found


def _is_flag(value: object) -> bool:
    return isinstance(value, int) and value in (0, 1)


def summarise(
    analysis: LabelledByJudge, judgements: Sequence[Row], cases: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """Shares of each label by model, arm and task, and the judges' agreement.

    `cases` tell of each judged trial its `model`, `arm` and `task`. A label is counted once for each judge
    that gave one. Intervals are Wilson's, over trials.

    Raises:
        SpecError: too few trials were judged.
    """
    said: dict[str, dict[Judge, dict[str, int]]] = defaultdict(dict)
    for row in judgements:
        labels = {name: int(value) for name, value in row.metrics.items() if isinstance(value, (int, float))}
        if row.answer is not None and labels:
            said[row.sample_id][row.model, row.repeat] = labels
    need("judged trials", len(said), analysis.least)
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for case in said:
        groups["all", "all"].append(case)
        groups["model", f"{cases[case]['model']} / {cases[case]['arm']}"].append(case)
        groups["task", cases[case]["task"]].append(case)
    return {
        "analysis": analysis.name,
        "judges": sorted({row.model for row in judgements}),
        "judged": len(said),
        "not_understood": sum(row.answer is None for row in judgements),
        "shares": [
            {"by": by, "group": group, "n": len(members), "labels": _shares(analysis, said, members)}
            for (by, group), members in sorted(groups.items())
        ],
        "agreement": {name: _agreement(said, name) for name in analysis.labels},
    }


def _shares(analysis: LabelledByJudge, said: Said, members: Sequence[str]) -> dict[str, Any]:
    shares: dict[str, Any] = {}
    for name in analysis.labels:
        means = []
        for case in members:
            given = [labels[name] for labels in said[case].values() if name in labels]
            if given:
                means.append(sum(given) / len(given))
        if means:
            share = sum(means) / len(means)
            shares[name] = {"n": len(means), "share": share, "ci95": list(wilson(share, len(means)))}
    return shares


def _agreement(said: Said, name: str) -> dict[str, Any]:
    """Cohen's kappa of two judges, Fleiss' of more, over the cases that all of them labelled.

    One judge that was asked twice is held against itself; one that was asked once has no agreement.
    """
    judges = sorted({judge for labels in said.values() for judge in labels})
    shared = [
        [labels[judge][name] for judge in judges]
        for labels in said.values()
        if all(name in labels.get(judge, {}) for judge in judges)
    ]
    method = "none: one judge, asked once"
    kappa: float | None = None
    if len(judges) == 2 and shared:
        method = "Cohen's kappa"
        one: list[Hashable] = [pair[0] for pair in shared]
        kappa = cohen_kappa(one, [pair[1] for pair in shared])
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
