"""The report's cost: tokens, dollars and seconds; what is unknown stays unknown."""

from gnomon.report.group_totals import GroupTotals
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.shapes import Cost, Spent


def cost(ledger: ScoreMatrix) -> Cost:
    """What the job cost, in all and by group."""
    return {
        **_spent(list(ledger.tallies)),
        "by_arm": [
            {**_spent([tally]), "model": model, "arm": arm}
            for (model, arm), tally in zip(ledger.groups, ledger.tallies, strict=True)
        ],
    }


def _spent(tallies: list[GroupTotals]) -> Spent:
    def known(name: str) -> int:
        return sum(tally.known[name] for tally in tallies)

    def unknown(name: str) -> int:
        return sum(tally.unknown[name] for tally in tallies)

    usd = sum(tally.usd for tally in tallies)
    return {
        "trials": sum(tally.trials for tally in tallies),
        "usd": None if unknown("usd") else usd,
        "known_usd": usd,
        "usd_unknown": unknown("usd"),
        "prompt_tokens": None if unknown("prompt_tokens") else known("prompt_tokens"),
        "known_prompt_tokens": known("prompt_tokens"),
        "prompt_tokens_unknown": unknown("prompt_tokens"),
        "completion_tokens": None if unknown("completion_tokens") else known("completion_tokens"),
        "known_completion_tokens": known("completion_tokens"),
        "completion_tokens_unknown": unknown("completion_tokens"),
        "cached_tokens": None if unknown("cached_tokens") else known("cached_tokens"),
        "known_cached_tokens": known("cached_tokens"),
        "cached_tokens_unknown": unknown("cached_tokens"),
        "reasoning_tokens": None if unknown("reasoning_tokens") else known("reasoning_tokens"),
        "known_reasoning_tokens": known("reasoning_tokens"),
        "reasoning_tokens_unknown": unknown("reasoning_tokens"),
        "wall_s": round(sum(tally.wall_s for tally in tallies), 3),
        "model_calls": known("model_calls"),
        "cache_hits": known("cache_hits"),
        "tool_calls": known("tool_calls"),
    }
