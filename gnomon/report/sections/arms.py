"""Reports what each model scored under each arm."""

from collections.abc import Iterator, Mapping
from typing import NotRequired

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from gnomon.report.charts import Mark, share_plot
from gnomon.report.group_totals import GroupTotals
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import Interval, ReportInput, Section, by_count, interval
from gnomon.report.sections.job import JobPart, TrialCounts, place_of, trial_counts
from gnomon.report.text_formats import count, label, percent, percent_brackets
from gnomon.statistics.design import Headline
from gnomon.statistics.mean import MeanScore, mean_score
from gnomon.stopping import while_wanted

OWN = "its own samples with a score"
SHARED = "the samples that every arm of the model has a score for"


class CellMean(TypedDict):
    """An arm's mean in one cell."""

    n: int
    mean: float | None
    ci95: Interval


class ArmReport(TypedDict):
    """One model under one arm."""

    model: str
    arm: str
    over: NotRequired[str]  # which samples the means are over; absent from reports of older versions
    n: int
    planned: int
    clusters: int
    mean: float | None
    ci95: Interval
    by_task: dict[str, CellMean]
    aggregate: float | None
    aggregate_ci95: Interval
    interval_method: str
    trials: TrialCounts
    stop_reasons: dict[str, int]
    model_calls: int | None  # None: outside agents did not all tell
    cache_hits: int
    tools_offered: list[int] | None  # the least and the most that a trial was offered


class ArmsPart(TypedDict):
    """Each model under each arm."""

    arms: list[ArmReport]


class _Shown(JobPart, ArmsPart):
    """What the section shows."""


def _arms(report_input: ReportInput) -> ArmsPart:
    return {
        "arms": [_arm(report_input, group) for group in while_wanted(range(len(report_input.scores.groups)))]
    }


def _samples(report_input: ReportInput, group: int) -> NDArray[np.bool_]:
    """The samples that an arm's means are over: all, but where a job did not come to its end those that every
    arm has a score for, so that an arm has one mean there and in its comparison.
    """
    scores = report_input.scores
    if report_input.status == "completed" and not report_input.has_stopped:
        return scores.everywhere()
    model, answered = scores.groups[group][0], scores.answered > 0
    of_model = [at for at, (name, _) in enumerate(scores.groups) if name == model and answered[at].any()]
    shared: NDArray[np.bool_] = np.all(answered[of_model], axis=0)
    return shared if shared.any() else scores.everywhere()


def _arm(report_input: ReportInput, group: int) -> ArmReport:
    """One group's scores and counts."""
    scores, headline = report_input.scores, report_input.benchmark.headline
    samples = _samples(report_input, group)
    model, arm = scores.groups[group]
    mean = _mean(scores, group, samples, "mean_of_samples")
    aggregate = _mean(scores, group, samples, headline)
    totals = scores.totals[group]
    return {
        "model": model,
        "arm": arm,
        "over": OWN if samples.all() else SHARED,
        "n": mean.n if mean else 0,
        "planned": report_input.planned_samples,
        "clusters": mean.clusters if mean else 0,
        "mean": mean.mean if mean else None,
        "ci95": interval(mean.ci95 if mean else None),
        "by_task": {
            name: _cell(scores, group, samples & (scores.cells == code))
            for code, name in enumerate(scores.cell_names)
        },
        "aggregate": aggregate.mean if aggregate else None,
        "aggregate_ci95": interval(aggregate.ci95 if aggregate else None),
        "interval_method": aggregate.method if aggregate else "none: nothing answered",
        "trials": trial_counts([totals], report_input.planned_of(group), stopped=report_input.has_stopped),
        "stop_reasons": by_count(_stop_reasons(totals)),
        "model_calls": None if totals.unknown["model_calls"] else totals.sums["model_calls"],
        "cache_hits": totals.sums["cache_hits"],
        "tools_offered": list(totals.tools_offered) if totals.tools_offered else None,
    }


def _stop_reasons(totals: GroupTotals) -> dict[str, int]:
    sums: dict[str, int] = {}
    for counts in totals.stop_reasons.values():
        for reason, trials in counts.items():
            sums[reason] = sums.get(reason, 0) + trials
    return sums


def _cell(scores: ScoreMatrix, group: int, within: NDArray[np.bool_]) -> CellMean:
    mean = _mean(scores, group, within, "mean_of_samples")
    if mean is None:
        return {"n": 0, "mean": None, "ci95": None}
    return {"n": mean.n, "mean": mean.mean, "ci95": interval(mean.ci95)}


def _mean(scores: ScoreMatrix, group: int, within: NDArray[np.bool_], headline: Headline) -> MeanScore | None:
    chosen = within & (scores.answered[group] > 0)
    if not chosen.any():
        return None
    grouping = scores.design(chosen, headline)
    return mean_score(scores.means(group)[chosen], grouping)


def _view(report: _Shown) -> Mapping[str, object]:
    """The plot has one row for each arm's aggregate."""
    marks = [
        Mark(
            label=label(arm["model"], arm["arm"]),
            value=arm["aggregate"],
            interval=arm["aggregate_ci95"],
            note=f"{percent(arm['aggregate'])}{percent_brackets(arm['aggregate_ci95'])}  n={arm['n']}",
            kind="arm",
            is_total=True,
            arm=place_of(arm["arm"], report["job"]["arms"]),
        )
        for arm in report["arms"]
    ]
    return {"plot": share_plot(marks, title="Scores of each arm, percent"), "over": _over(report)}


def _over(report: ArmsPart) -> str:
    """Which samples the means are over, where that is no matter of course; else nothing."""
    if any(arm.get("over") == SHARED for arm in report["arms"]):
        return f"Over {SHARED}, as the job did not come to its end."
    by_model: dict[str, set[int]] = {}
    for arm in report["arms"]:
        by_model.setdefault(arm["model"], set()).add(arm["n"])
    if all(len(sizes) == 1 for sizes in by_model.values()):
        return ""
    return (
        "Each over its own samples; a comparison is over those of both arms, where their means may be others."
    )


def _terminal(report: ArmsPart) -> Iterator[str]:
    names = [f"{arm['model']} / {arm['arm']}" for arm in report["arms"]]
    width = max(map(len, names), default=0)
    for name, arm in zip(names, report["arms"], strict=True):
        brackets = f" {percent_brackets(arm['aggregate_ci95'])}" if arm["aggregate_ci95"] else ""
        answered = f"{arm['n']:,} of {count(arm['planned'], 'sample')}"
        yield f"{name:<{width}}  {percent(arm['aggregate']):>5} %{brackets}  {answered}"
    if over := _over(report):
        yield over


arms = Section(
    name="arms",
    title="What each arm scored",
    question="What did each model score under each arm?",
    fields=ArmsPart,
    compute=_arms,
    place=30,
    view=_view,
    terminal=_terminal,
    digest=lambda report: "; ".join(
        f"{arm['arm']} {percent(arm['aggregate'])}" for arm in report["arms"][:4]
    ),
)
