"""Draws the score of each arm against what makes samples hard: numbers, in ranges, and named levels."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TypeVar

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from typing_extensions import TypedDict

from gnomon.core.benchmark import FEATURE_PREFIX
from gnomon.core.row_batch import RowBatch
from gnomon.core.select import AS_IT_COMES, LEVELS
from gnomon.report.charts import Curve, curve_panels, curve_plot
from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.report.sections.job import JobPart, place_of
from gnomon.statistics.mean import mean_score
from gnomon.statistics.paired import compare

RANGES = 4  # of a feature, each with as many samples
FEWEST = 8  # samples that an arm has of a range, or of a level
IN_ORDER = (AS_IT_COMES, *LEVELS)  # levels of generated questions

Mask = NDArray[np.bool_]
LevelPart = TypeVar("LevelPart", "LevelMean", "LevelDifference")


class DifficultyRange(TypedDict):
    """The samples whose feature is between two values: their median of it, and an arm's score on them."""

    low: float
    high: float
    median: float
    n: int
    mean: float
    ci95: Interval


class DifficultyRow(TypedDict):
    """A feature under one arm, from easy to hard."""

    feature: str
    model: str
    arm: str
    ranges: list[DifficultyRange]


class LevelMean(TypedDict):
    """An arm's score on the samples of a level."""

    level: str
    n: int
    mean: float
    ci95: Interval


class LevelRow(TypedDict):
    """A feature that names levels, under one arm: those of generated questions from easy to hard. Of others
    the one that all arms do best at comes first.

    A level of which the arm has too few samples is left out, and so is an arm that has none.
    """

    feature: str
    model: str
    arm: str
    levels: list[LevelMean]


class LevelDifference(TypedDict):
    """What an arm scores more than its baseline on the samples of a level that both answered."""

    level: str
    n: int
    diff: float
    ci95: Interval


class LevelDifferences(TypedDict):
    """A comparison at every level of a feature of which both arms answered enough of the same samples."""

    feature: str
    model: str
    baseline: str
    variant: str
    levels: list[LevelDifference]


class DifficultyPart(TypedDict):
    """All features that were measured."""

    difficulty: list[DifficultyRow]
    difficulty_levels: list[LevelRow]
    difficulty_level_differences: list[LevelDifferences]


class SampleFeatures:
    """Keeps the features of samples, once per sample: numbers and names apart."""

    def __init__(self) -> None:
        self.by_name: dict[str, dict[str, float]] = defaultdict(dict)
        self.levels: dict[str, dict[str, str]] = defaultdict(dict)

    def add(self, batch: RowBatch) -> None:
        if not len(batch.distinct("metrics").places(_has_features)):
            return
        for metrics, sample in batch.distinct("metrics", "sample_id").values:
            for name, value in metrics.items():
                feature = name.removeprefix(FEATURE_PREFIX)
                if feature != name and isinstance(value, float | int):
                    self.by_name[feature][sample] = float(value)
                elif feature != name and isinstance(value, str):
                    self.levels[feature][sample] = value


def _has_features(metrics: Mapping[str, object]) -> bool:
    return any(name.startswith(FEATURE_PREFIX) for name in metrics)


def _difficulty(report_input: ReportInput) -> DifficultyPart:
    scores, rows = report_input.scores, list[DifficultyRow]()
    for feature, by_sample in sorted(report_input.collected(SampleFeatures).by_name.items()):
        values = np.array([by_sample.get(sample, np.nan) for sample in scores.samples])
        edges = np.unique(np.nanquantile(values, np.linspace(0, 1, RANGES + 1)))
        for (model, arm), group in scores.at.items():
            means = scores.means(group)
            ranges = []
            for place in range(len(edges) - 1):
                is_last = place == len(edges) - 2
                here = (values >= edges[place]) & ~np.isnan(means)
                here &= values <= edges[-1] if is_last else values < edges[place + 1]
                if np.sum(here) < FEWEST:
                    continue
                score = mean_score(means[here], scores.design(here, "mean_of_samples"))
                ranges.append(
                    DifficultyRange(
                        low=float(edges[place]),
                        high=float(edges[place + 1]),
                        median=float(np.median(values[here])),
                        n=int(np.sum(here)),
                        mean=score.mean,
                        ci95=interval(score.ci95),
                    )
                )
            if len(ranges) > 1:
                rows.append(DifficultyRow(feature=feature, model=model, arm=arm, ranges=ranges))
    level_rows, differences = list[LevelRow](), list[LevelDifferences]()
    for feature, named in sorted(report_input.collected(SampleFeatures).levels.items()):
        masks = _masks(scores, named)
        if len(masks) < 2:
            continue
        for (model, arm), group in scores.at.items():
            if means_by_level := list(_means(scores, group, masks)):
                level_rows.append(LevelRow(feature=feature, model=model, arm=arm, levels=means_by_level))
        for pair in report_input.pairs:
            if by_level := list(_differences(scores, pair, masks)):
                differences.append(
                    LevelDifferences(
                        feature=feature,
                        model=pair.model,
                        baseline=pair.baseline,
                        variant=pair.variant,
                        levels=by_level,
                    )
                )
    return {
        "difficulty": rows,
        "difficulty_levels": level_rows,
        "difficulty_level_differences": differences,
    }


def _masks(scores: ScoreMatrix, by_sample: Mapping[str, str]) -> dict[str, Mask]:
    """By level, which samples are of it, where an arm has enough of them: in the levels' own order, or that
    with the highest mean first.

    Only arms that have enough of every level tell which is highest, if there are any: else a level that a
    weak arm did not answer would seem easy.
    """
    names = np.array([by_sample.get(sample, "") for sample in scores.samples])
    is_answered = scores.answered > 0
    masks = {str(name): names == name for name in np.unique(names) if name}
    has_enough = {name: np.sum(is_answered[:, mask], axis=1) >= FEWEST for name, mask in masks.items()}
    masks = {name: mask for name, mask in masks.items() if has_enough[name].any()}
    if masks.keys() <= set(IN_ORDER):
        return {name: masks[name] for name in IN_ORDER if name in masks}
    has_all = np.all([has_enough[name] for name in masks], axis=0)
    arms = np.flatnonzero(has_all) if has_all.any() else np.arange(len(is_answered))

    def mean(mask: Mask) -> float:
        within = np.ix_(arms, np.flatnonzero(mask))
        return float(scores.score_sums[within].sum() / scores.answered[within].sum())

    return dict(sorted(masks.items(), key=lambda item: -mean(item[1])))


def _means(scores: ScoreMatrix, group: int, levels: Mapping[str, Mask]) -> Iterator[LevelMean]:
    for name, mask in levels.items():
        here = mask & (scores.answered[group] > 0)
        if np.sum(here) >= FEWEST:
            score = mean_score(scores.means(group)[here], scores.design(here, "mean_of_samples"))
            yield LevelMean(level=name, n=score.n, mean=score.mean, ci95=interval(score.ci95))


def _differences(scores: ScoreMatrix, pair: ArmPair, levels: Mapping[str, Mask]) -> Iterator[LevelDifference]:
    first, second = scores.groups_of(pair)
    for name, mask in levels.items():
        here = mask & (scores.answered[first] > 0) & (scores.answered[second] > 0)
        if np.sum(here) >= FEWEST:
            grouping = scores.design(here, "mean_of_samples")
            result = compare(scores.means(first)[here], scores.means(second)[here], grouping)
            yield LevelDifference(level=name, n=result.n, diff=result.diff, ci95=interval(result.ci95))


class _Shown(JobPart, DifficultyPart):
    """What the section shows."""


def _view(report: _Shown) -> Mapping[str, object] | None:
    """A picture per feature: a curve for every model under every arm; and tables of named levels."""
    by_feature: dict[str, list[DifficultyRow]] = defaultdict(list)
    for row in report.get("difficulty", ()):
        by_feature[row["feature"]].append(row)
    by_level: dict[str, list[LevelRow]] = defaultdict(list)
    for level_row in report.get("difficulty_levels", ()):
        if level_row["levels"]:
            by_level[level_row["feature"]].append(level_row)
    arms = report["job"]["arms"]
    pictures = [(feature, _picture(feature, rows, arms)) for feature, rows in by_feature.items()]
    tables = []
    for feature, level_rows in by_level.items():
        levels = _in_order(level_rows)
        means = [(_label(row, level_rows), _by_name(row["levels"])) for row in level_rows]
        differences = [
            (_compared(difference, level_rows), _by_name(difference["levels"]))
            for difference in report.get("difficulty_level_differences", ())
            if difference["feature"] == feature and difference["levels"]
        ]
        shown = [len(parts) for _, parts in means] + [len(parts) for _, parts in differences]
        tables.append(
            {
                "feature": feature,
                "picture": _level_picture(feature, level_rows, levels, arms),
                "levels": levels,
                "means": means,
                "means_n": _counts(levels, [parts for _, parts in means]),
                "differences": differences,
                "differences_n": _counts(levels, [parts for _, parts in differences]),
                "is_ordered": set(levels) <= set(IN_ORDER),
                "is_partial": min(shown) < len(levels),
            }
        )
    return {"pictures": pictures, "tables": tables, "fewest": FEWEST} if pictures or tables else None


def _in_order(rows: Sequence[LevelRow]) -> list[str]:
    """All levels in their own order, else in that which every row keeps; as they come where stored rows
    contradict.
    """
    named = dict.fromkeys(part["level"] for row in rows for part in row["levels"])
    if named.keys() <= set(IN_ORDER):
        return [name for name in IN_ORDER if name in named]
    order = TopologicalSorter[str]()
    for row in rows:
        names = [part["level"] for part in row["levels"]]
        order.add(names[0])
        for before, after in pairwise(names):
            order.add(after, before)
    try:
        return list(order.static_order())
    except CycleError:
        return list(named)


def _by_name(parts: Iterable[LevelPart]) -> dict[str, LevelPart]:
    return {part["level"]: part for part in parts}


def _counts(levels: Sequence[str], rows: Sequence[Mapping[str, LevelPart]]) -> dict[str, tuple[int, int]]:
    """By level, the fewest and the most samples of a row that has it."""
    counts = {level: [row[level]["n"] for row in rows if level in row] for level in levels}
    return {level: (min(numbers), max(numbers)) for level, numbers in counts.items() if numbers}


def _level_picture(
    feature: str, rows: Sequence[LevelRow], levels: Sequence[str], arms: Sequence[str]
) -> Markup:
    curves = [
        Curve(
            label=_label(row, rows),
            arm=_place(row, rows, arms),
            points=[
                (float(levels.index(part["level"])), part["mean"], part["ci95"]) for part in row["levels"]
            ],
        )
        for row in rows
    ]
    names = {float(place): level for place, level in enumerate(levels)}
    return curve_panels(curves, title=f"Score by {feature}, percent", x_title=feature, names=names)


def _label(row: DifficultyRow | LevelRow, rows: Sequence[DifficultyRow] | Sequence[LevelRow]) -> str:
    """The arm, with its model where there are several."""
    return row["arm"] if len({row["model"] for row in rows}) == 1 else f"{row['model']} / {row['arm']}"


def _place(
    row: DifficultyRow | LevelRow, rows: Sequence[DifficultyRow] | Sequence[LevelRow], arms: Sequence[str]
) -> int | None:
    """The arm's place, which decides its look; None where several models would look alike."""
    return place_of(row["arm"], arms) if len({row["model"] for row in rows}) == 1 else None


def _compared(difference: LevelDifferences, rows: Sequence[LevelRow]) -> str:
    """The arms compared, with their model where there are several."""
    arms = f"{difference['variant']} − {difference['baseline']}"
    return arms if len({row["model"] for row in rows}) == 1 else f"{difference['model']} / {arms}"


def _picture(feature: str, rows: list[DifficultyRow], arms: Sequence[str]) -> Markup:
    curves = [
        Curve(
            label=_label(row, rows),
            arm=_place(row, rows, arms),
            points=[(round(part["median"], 2), part["mean"], part["ci95"]) for part in row["ranges"]],
        )
        for row in rows
    ]
    return curve_plot(curves, title=f"Score by {feature}, percent", x_title=feature)


difficulty = Section(
    name="difficulty",
    title="Score by difficulty",
    question="Where do questions become too hard?",
    fields=DifficultyPart,
    compute=_difficulty,
    collector=lambda *_: SampleFeatures(),
    place=86,
    behind="tools",
    view=_view,
)
