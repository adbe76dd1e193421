"""Reports Shapley values of the tools, where the plan asks for them."""

from typing_extensions import TypedDict

from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.statistics.coalitions import Coalition, coalitions
from gnomon.statistics.design import design, strata_of
from gnomon.statistics.shapley import shapley
from gnomon.stopping import while_wanted


class PlayerValue(TypedDict):
    """The Shapley value of a tool, or of tools that go together, with the parts of its error."""

    player: str
    tools: list[str]
    value: float
    ci95: Interval
    order_se: float | None
    cluster_se: float | None
    generation_se: float | None


class AttributionReport(TypedDict):
    """Shapley values of one model; `gap` is their sum less `total`, the gain of all tools together."""

    model: str
    total: float
    gap: float
    is_exact: bool
    orders: int
    samples: int
    clusters: int
    values: list[PlayerValue]


class AttributionPart(TypedDict):
    """Shapley values by model."""

    attributions: list[AttributionReport]


def _attributions(report_input: ReportInput) -> AttributionPart:
    """Shapley values by model, where the plan asks for them and every coalition has an arm."""
    spec, scores = report_input.spec, report_input.scores
    plan = spec.analysis.attribution
    if plan is None or not scores.samples:
        return {"attributions": []}
    players = list(plan.players)
    arms = {plan.coalition(arm.tools): arm.name for arm in reversed(spec.arms)}
    needed = coalitions(players, plan.orders)
    if not set(needed) <= set(arms):
        return {"attributions": []}
    weights = design(strata_of(scores.cells, report_input.benchmark.headline), scores.clusters).weights
    reports: list[AttributionReport] = []
    for model in while_wanted(report_input.models):
        groups = {coalition: scores.at[(model, arms[coalition])] for coalition in needed}
        if not all((scores.answered[group] > 0).any() for group in groups.values()):
            continue
        by_coalition: dict[Coalition, object] = {
            coalition: scores.by_repeat(group) for coalition, group in groups.items()
        }
        values = shapley(
            by_coalition,  # type: ignore[arg-type]  # a dict of arrays; Mapping is invariant in its keys
            players=players,
            orders=plan.orders,
            clusters=scores.clusters,
            weights=weights,
        )
        reports.append(
            {
                "model": model,
                "total": values.total,
                "gap": values.gap,
                "is_exact": values.is_exact,
                "orders": values.orders,
                "samples": values.samples,
                "clusters": values.clusters,
                "values": [
                    {
                        "player": player.player,
                        "tools": plan.players[player.player],
                        "value": player.value,
                        "ci95": interval(player.ci95),
                        "order_se": player.order_se,
                        "cluster_se": player.cluster_se,
                        "generation_se": player.generation_se,
                    }
                    for player in values.values
                ],
            }
        )
    return {"attributions": reports}


attribution = Section(
    name="attribution",
    title="What each tool adds",
    question="What is each tool worth, over all orders in which tools could be added?",
    fields=AttributionPart,
    compute=_attributions,
    place=85,
)
