"""Attribution: what single tools are worth, from the arms that tell them apart."""

from collections.abc import Iterator

from gnomon.core.arm import Arm, diff
from gnomon.report.arms import interval
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.shapes import AttributionReport, Effect, ToolEffect
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.coalitions import Coalition, coalitions
from gnomon.statistics.design import Headline, design, strata_of
from gnomon.statistics.paired import compare
from gnomon.statistics.shapley import shapley
from gnomon.stopping import while_wanted


def tool_effects(ledger: ScoreMatrix, spec: JobSpec, *, headline: Headline) -> dict[str, list[ToolEffect]]:
    """By tool and model: the score with all tools less that without this one, and with it alone less none.

    Two arms tell a tool apart if they differ in that tool and in nothing else. Leave-one-out takes the arm
    with the most tools, add-one-in the one with none.
    """
    found: dict[str, list[ToolEffect]] = {}
    arms = spec.arms
    for tool in while_wanted(sorted({name for arm in arms for name in arm.tools})):
        without_one = next(_apart(arms, tool, leaves=True), None)
        with_one = next(_apart(arms, tool, leaves=False), None)
        if without_one or with_one:
            found[tool] = [
                {
                    "model": model.label,
                    "leave_one_out": _effect(ledger, model.label, without_one, headline),
                    "add_one_in": _effect(ledger, model.label, with_one, headline),
                }
                for model in spec.models
            ]
    return found


def attributions(ledger: ScoreMatrix, spec: JobSpec, *, headline: Headline) -> list[AttributionReport]:
    """Shapley values by model, where the plan asks for them and every coalition has an arm."""
    plan = spec.analysis.attribution
    if plan is None or not ledger.samples:
        return []
    players = list(plan.players)
    arms = {plan.coalition(arm.tools): arm.name for arm in reversed(spec.arms)}
    needed = coalitions(players, plan.orders)
    if not set(needed) <= set(arms):
        return []
    weights = design(strata_of(ledger.cells, headline), ledger.clusters).weights
    found: list[AttributionReport] = []
    for model in while_wanted(model.label for model in spec.models):
        groups = {one: ledger.at[(model, arms[one])] for one in needed}
        if not all((ledger.answered[group] > 0).any() for group in groups.values()):
            continue
        scores: dict[Coalition, object] = {one: ledger.by_repeat(group) for one, group in groups.items()}
        values = shapley(
            scores,  # type: ignore[arg-type]  # a dict of arrays; Mapping is invariant in its keys
            players=players,
            orders=plan.orders,
            clusters=ledger.clusters,
            weights=weights,
        )
        found.append(
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
                        "player": one.player,
                        "tools": plan.players[one.player],
                        "value": one.value,
                        "ci95": interval(one.ci95),
                        "order_se": one.order_se,
                        "cluster_se": one.cluster_se,
                        "generation_se": one.generation_se,
                    }
                    for one in values.values
                ],
            }
        )
    return found


def _apart(arms: list[Arm], tool: str, *, leaves: bool) -> Iterator[tuple[str, str]]:
    """Pairs of arms, the one without the tool first, that differ in it alone; the fittest first."""
    by_tools: dict[frozenset[str], list[Arm]] = {}
    for arm in arms:
        by_tools.setdefault(frozenset(arm.tools), []).append(arm)
    pairs = [
        (one, other)
        for one in arms
        if tool not in one.tools
        for other in by_tools.get(frozenset((*one.tools, tool)), ())
    ]
    pairs.sort(key=lambda pair: -len(pair[1].tools) if leaves else len(pair[0].tools))
    for one, other in pairs:
        if (leaves or not one.tools) and [found.field for found in diff(one, other)] == ["tools"]:
            yield one.name, other.name


def _effect(
    ledger: ScoreMatrix, model: str, pair: tuple[str, str] | None, headline: Headline
) -> Effect | None:
    if pair is None:
        return None
    one, other = (ledger.at[(model, arm)] for arm in pair)
    both = (ledger.answered[one] > 0) & (ledger.answered[other] > 0)
    if not both.any():
        return None
    grouping = design(strata_of(ledger.cells[both], headline), ledger.clusters[both])
    found = compare(ledger.scores(one)[both], ledger.scores(other)[both], grouping)
    return {"without": pair[0], "with_it": pair[1], "diff": found.diff, "ci95": interval(found.ci95)}
