"""Draws the score of each arm against what makes samples hard."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np
from markupsafe import Markup
from typing_extensions import TypedDict

from gnomon.core.benchmark import FEATURE_PREFIX
from gnomon.core.row_batch import RowBatch
from gnomon.report.charts import Curve, curve_plot
from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.report.text_formats import markdown_table, percent
from gnomon.statistics.design import design
from gnomon.statistics.mean import mean_score

RANGES = 4  # of a feature, each with as many samples
FEWEST = 8  # samples of a range


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


class DifficultyPart(TypedDict):
    """All features that were measured."""

    difficulty: list[DifficultyRow]


class SampleFeatures:
    """Keeps the features of samples, once per sample."""

    def __init__(self) -> None:
        self.by_name: dict[str, dict[str, float]] = defaultdict(dict)

    def add(self, batch: RowBatch) -> None:
        """Keep the features of the rows' samples."""
        if not len(batch.distinct("metrics").places(_has_features)):
            return
        for metrics, sample in batch.distinct("metrics", "sample_id").values:
            for name, value in metrics.items():
                if name.startswith(FEATURE_PREFIX) and isinstance(value, float | int):
                    self.by_name[name.removeprefix(FEATURE_PREFIX)][sample] = float(value)


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
                grouping = design(np.zeros(int(np.sum(here)), dtype=np.intp), scores.clusters[here])
                score = mean_score(means[here], grouping)
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
    return {"difficulty": rows}


def _view(report: DifficultyPart) -> Mapping[str, object] | None:
    """A picture per feature: a curve for every model under every arm."""
    by_feature: dict[str, list[DifficultyRow]] = defaultdict(list)
    for row in report.get("difficulty", ()):
        by_feature[row["feature"]].append(row)
    pictures = [(feature, _picture(feature, rows)) for feature, rows in by_feature.items()]
    return {"pictures": pictures} if pictures else None


def _picture(feature: str, rows: list[DifficultyRow]) -> Markup:
    models = {row["model"] for row in rows}
    curves = [
        Curve(
            label=row["arm"] if len(models) == 1 else f"{row['model']} / {row['arm']}",
            points=[(round(part["median"], 2), part["mean"], part["ci95"]) for part in row["ranges"]],
        )
        for row in rows
    ]
    return curve_plot(curves, title=f"Score by {feature}, percent", x_title=feature)


def _markdown(report: DifficultyPart) -> Iterator[str]:
    lines = [
        (
            row["feature"],
            row["model"],
            row["arm"],
            f"{part['low']:.3g} to {part['high']:.3g}",
            percent(part["mean"]),
            str(part["n"]),
        )
        for row in report.get("difficulty", ())
        for part in row["ranges"]
    ]
    return markdown_table(
        "Score by difficulty (percent)", ("feature", "model", "arm", "range", "mean", "n"), lines
    )


difficulty = Section(
    name="difficulty",
    title="Score by difficulty",
    question="Where do questions become too hard?",
    fields=DifficultyPart,
    compute=_difficulty,
    collector=lambda *_: SampleFeatures(),
    place=86,
    view=_view,
    markdown=_markdown,
)
