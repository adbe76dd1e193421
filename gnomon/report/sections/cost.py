"""Adds up tokens, dollars and seconds; what is unknown stays unknown."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from gnomon.report.group_totals import GroupTotals
from gnomon.report.section import ReportInput, Section
from gnomon.report.text_formats import dollars, known_count


class Spent(TypedDict):
    """What trials cost; a total is None once one of its parts is unknown, `known_*` adds up the rest."""

    trials: int
    usd: float | None
    known_usd: float
    usd_unknown: int
    prompt_tokens: int | None
    known_prompt_tokens: int
    prompt_tokens_unknown: int
    completion_tokens: int | None
    known_completion_tokens: int
    completion_tokens_unknown: int
    cached_tokens: int | None  # of the prompt's
    known_cached_tokens: int
    cached_tokens_unknown: int
    cached_share: NotRequired[float | None]  # of the prompt's tokens; absent from reports of older versions
    reasoning_tokens: int | None  # of the completion's
    known_reasoning_tokens: int
    reasoning_tokens_unknown: int
    wall_s: float
    model_calls: int | None
    known_model_calls: int
    model_calls_unknown: int
    cache_hits: int
    tool_calls: int | None
    known_tool_calls: int
    tool_calls_unknown: int


class ArmSpent(Spent):
    """What one model under one arm cost."""

    model: str
    arm: str


class Possible(TypedDict):
    """The most that calls may have cost beside what is told: of workers that died, or without a reply."""

    usd: float
    tokens: int


class _MaybePossible(TypedDict):
    possible: NotRequired[Possible]  # where there is any


class Cost(Spent, _MaybePossible):
    """What the job cost."""

    by_arm: list[ArmSpent]


class CostPart(TypedDict):
    """The section's field."""

    cost: Cost


def _cost(report_input: ReportInput) -> CostPart:
    """What the job cost, in all and by group."""
    scores = report_input.scores
    by_arm: list[ArmSpent] = [
        {**_spent([totals]), "model": model, "arm": arm}
        for (model, arm), totals in zip(scores.groups, scores.totals, strict=True)
    ]
    usd, tokens = report_input.possible
    possible: _MaybePossible = {"possible": {"usd": usd, "tokens": tokens}} if usd or tokens else {}
    return {"cost": {**_spent(scores.totals), **possible, "by_arm": by_arm}}


def _spent(groups: Sequence[GroupTotals]) -> Spent:
    def known(name: str) -> int:
        return sum(totals.sums[name] for totals in groups)

    def unknown(name: str) -> int:
        return sum(totals.unknown[name] for totals in groups)

    def counted(name: str) -> dict[str, int | None]:
        total = None if unknown(name) else known(name)
        return {name: total, f"known_{name}": known(name), f"{name}_unknown": unknown(name)}

    usd = sum(totals.usd for totals in groups)
    is_told = known("prompt_tokens") and not unknown("prompt_tokens") and not unknown("cached_tokens")
    spent: Any = {
        "trials": sum(totals.trials for totals in groups),
        "usd": None if unknown("usd") else usd,
        "known_usd": usd,
        "usd_unknown": unknown("usd"),
        **counted("prompt_tokens"),
        **counted("completion_tokens"),
        **counted("cached_tokens"),
        "cached_share": known("cached_tokens") / known("prompt_tokens") if is_told else None,
        **counted("reasoning_tokens"),
        "wall_s": round(sum(totals.wall_s for totals in groups), 3),
        **counted("model_calls"),
        "cache_hits": known("cache_hits"),
        **counted("tool_calls"),
    }
    return cast(Spent, spent)


def _view(report: CostPart) -> Mapping[str, object]:
    """What may have been spent beside what is told; empty where there is nothing."""
    possible = report["cost"].get("possible")
    if possible is None:
        return {"possible": ""}
    sums = f"{dollars(possible['usd'])} and {possible['tokens']:,} tokens"
    words = f"Besides, up to {sums} may have been spent on calls whose cost nobody told; limits count them."
    return {"possible": words}


def _digest(report: CostPart) -> str:
    spent = report["cost"]
    usd = f"at least {dollars(spent['known_usd'])}" if spent["known_usd"] else "dollars unknown"
    usd = usd if spent["usd"] is None else dollars(spent["usd"])
    return f"{usd}, {known_count(spent['model_calls'], 'model call')}"


cost = Section(
    name="cost",
    title="What it cost",
    question="What did the trials cost in dollars, tokens and seconds?",
    fields=CostPart,
    compute=_cost,
    place=120,
    view=_view,
    digest=_digest,
)
