"""Reports whether a model answers the same question in another guise as it answers the original."""

from collections.abc import Mapping

from typing_extensions import TypedDict

from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.statistics.design import Headline
from gnomon.stopping import while_wanted
from gnomon_analyses.transformed_answers import TransformedAnswers, TransformedPair


class ConsistencyRow(TypedDict):
    """One transformed arm of a model beside the arm that asks the original."""

    model: str
    original: str
    transformed: str
    transform: str
    n: int
    clusters: int
    agree: float | None
    agree_ci95: Interval
    agree_method: str
    chance: float | None
    kappa: float | None
    repeats_agree: float | None
    transformed_repeats_agree: float | None
    times_overlap: float | None
    times_n: int
    outcomes: dict[str, int]
    compared: int
    original_mean: float
    transformed_mean: float
    drop: float
    drop_ci95: Interval
    drop_method: str
    remembered: float | None
    remembered_ci95: Interval


class ConsistencyPart(TypedDict):
    """All transformed arms; empty where no arm has a transform."""

    consistency: list[ConsistencyRow]


def _consistency(report_input: ReportInput) -> ConsistencyPart:
    headline = report_input.benchmark.headline
    pairs = report_input.collected(TransformedAnswers).pairs()
    return {"consistency": [consistency_row(pair, headline) for pair in while_wanted(list(pairs))]}


def consistency_row(pair: TransformedPair, headline: Headline) -> ConsistencyRow:
    """The figures of one pair of arms."""
    agreement, chance = pair.agreement(), pair.chance()
    kappa = None
    if agreement is not None and chance is not None and chance < 1:
        kappa = (agreement.mean - chance) / (1 - chance)
    overlap, times_n = pair.overlap_of_times()
    drop, remembered = pair.drop(headline), pair.remembered(headline)
    grouping = pair.grouping(headline)
    original, transformed = (grouping.mean(scores) for scores in pair.scores)
    return {
        "model": pair.model,
        "original": pair.original,
        "transformed": pair.transformed,
        "transform": pair.transform,
        "n": agreement.n if agreement else 0,
        "clusters": agreement.clusters if agreement else 0,
        "agree": agreement.mean if agreement else None,
        "agree_ci95": interval(agreement.ci95) if agreement else None,
        "agree_method": agreement.method if agreement else "none: no sample is answered under both arms",
        "chance": chance,
        "kappa": kappa,
        "repeats_agree": pair.repeated(0),
        "transformed_repeats_agree": pair.repeated(1),
        "times_overlap": overlap,
        "times_n": times_n,
        "outcomes": pair.outcomes(),
        "compared": len(pair.replies),
        "original_mean": original,
        "transformed_mean": transformed,
        "drop": drop.diff,
        "drop_ci95": interval(drop.ci95),
        "drop_method": drop.interval_method,
        "remembered": remembered.value if remembered else None,
        "remembered_ci95": interval(remembered.ci95) if remembered else None,
    }


def _view(report: ConsistencyPart) -> Mapping[str, object] | None:
    rows = report.get("consistency")  # absent from reports of older versions
    return {"rows": rows} if rows else None


consistency = Section(
    name="consistency",
    title="The same question in another guise",
    question="Does the answer change exactly as the question does, and does the score survive it?",
    fields=ConsistencyPart,
    compute=_consistency,
    collector=lambda *_: TransformedAnswers(),
    place=108,
    behind="called_needed",
    view=_view,
)
