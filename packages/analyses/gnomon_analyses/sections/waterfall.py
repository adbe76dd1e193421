"""Splits a gain into steps from one arm to the next."""

from collections.abc import Container, Mapping, Sequence

import numpy as np
from markupsafe import Markup
from typing_extensions import TypedDict

from gnomon.report.charts import Step, waterfall_plot
from gnomon.report.contrast import ContrastsPart, comparisons
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import Interval, PairKey, ReportInput, Section, interval, pair_key
from gnomon.report.sections.job import JobPart
from gnomon.statistics.design import Headline
from gnomon.statistics.paired import compare


class WaterfallStep(TypedDict):
    """One step of a waterfall, from one arm to the next."""

    baseline: str
    variant: str
    start: float
    end: float
    diff: float
    ci95: Interval


class Waterfall(TypedDict):
    """Steps between arms that build on each other, over the `n` samples that all of them answered."""

    model: str
    n: int
    start: float
    end: float
    steps: list[WaterfallStep]


class WaterfallPart(TypedDict):
    """The steps of each model."""

    waterfalls: list[Waterfall]


def _waterfalls(report_input: ReportInput) -> WaterfallPart:
    """By model, the steps between the arms of the plan's chain; nothing for fewer than two arms.

    All steps are over the samples that every arm of the chain has answered, so that they add up exactly.
    """
    chain = report_input.spec.analysis.chain
    if len(chain) < 2:
        return {"waterfalls": []}
    scores, headline = report_input.scores, report_input.benchmark.headline
    by_model = [_waterfall(scores, model, chain, headline) for model in report_input.models]
    return {"waterfalls": [waterfall for waterfall in by_model if waterfall]}


def _waterfall(scores: ScoreMatrix, model: str, chain: list[str], headline: Headline) -> Waterfall | None:
    groups = [scores.at[model, arm] for arm in chain]
    all_answered = np.all([scores.answered[group] > 0 for group in groups], axis=0)
    if not all_answered.any():
        return None
    grouping = scores.design(all_answered, headline)
    means = [scores.means(group)[all_answered] for group in groups]
    levels = [grouping.mean(values) for values in means]
    steps: list[WaterfallStep] = []
    for at in range(1, len(chain)):
        comparison = compare(means[at - 1], means[at], grouping)
        steps.append(
            {
                "baseline": chain[at - 1],
                "variant": chain[at],
                "start": levels[at - 1],
                "end": levels[at],
                "diff": comparison.diff,
                "ci95": interval(comparison.ci95),
            }
        )
    return {
        "model": model,
        "n": int(np.sum(all_answered)),
        "start": levels[0],
        "end": levels[-1],
        "steps": steps,
    }


class _Shown(JobPart, WaterfallPart, ContrastsPart):
    """What the section shows."""


def _view(report: _Shown) -> Mapping[str, object]:
    arms = report["job"]["arms"]
    unknown = {pair_key(contrast) for contrast in comparisons(report) if contrast.get("next_step")}
    return {
        "waterfalls": [(waterfall, _picture(waterfall, arms, unknown)) for waterfall in report["waterfalls"]]
    }


def _picture(waterfall: Waterfall, arms: Sequence[str], unknown: Container[PairKey]) -> Markup:
    """`unknown` are the pairs of which replies forbid a verdict."""
    first, last = waterfall["steps"][0]["baseline"], waterfall["steps"][-1]["variant"]
    steps = [
        Step(
            label=step["variant"],
            start=step["start"],
            end=step["end"],
            diff=step["diff"],
            interval=step["ci95"],
            may_claim=(waterfall["model"], step["baseline"], step["variant"]) not in unknown,
        )
        for step in waterfall["steps"]
    ]
    title = f"{waterfall['model']}: from {first} to {last}, step by step, percent"
    return waterfall_plot(first, last, steps, title=title, arms=arms)


waterfall = Section(
    name="waterfall",
    title="Step by step",
    question="Which step from one arm to the next changes how much?",
    fields=WaterfallPart,
    compute=_waterfalls,
    place=40,
    behind="plan",
    view=_view,
)
