"""Adds up the rows of one group: counts, tokens, dollars and seconds."""

import math
from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from gnomon.core.row import Row
from gnomon.core.score import Outcome

MOST_ERRORS = 100  # distinct ones that are counted: some providers number each


@dataclass(slots=True, kw_only=True)
class ToolTotals:
    """How often a tool was called, and on which samples."""

    calls: int = 0
    bad_arguments: int = 0
    errors: int = 0
    samples: set[str] = field(default_factory=set)


@dataclass(slots=True, kw_only=True)
class GroupTotals:
    """Counts and sums over the rows of one group; unknown tokens and dollars are counted apart."""

    outcomes: Counter[str] = field(default_factory=Counter)
    stop_reasons: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # by outcome
    errors: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # by stop reason
    tools_offered: tuple[int, int] | None = None  # the least and the most that a trial was offered
    flags: Counter[str] = field(default_factory=Counter)
    sums: Counter[str] = field(default_factory=Counter)  # of what is known
    unknown: Counter[str] = field(default_factory=Counter)  # rows without the number
    prices: "array[float]" = field(default_factory=lambda: array("d"))
    times_s: "array[float]" = field(default_factory=lambda: array("d"))
    tools: dict[str, ToolTotals] = field(default_factory=lambda: defaultdict(ToolTotals))

    def add(self, row: Row) -> None:
        """Count one row."""
        self.outcomes[row.outcome] += 1
        self.stop_reasons[row.outcome][row.stop_reason] += 1
        if row.outcome == Outcome.INFRA_MISSING and row.error:
            errors = self.errors[row.stop_reason]
            if row.error in errors or len(errors) < MOST_ERRORS:
                errors[row.error] += 1
        if row.tools_offered is not None:
            least, most = self.tools_offered or (row.tools_offered, row.tools_offered)
            self.tools_offered = min(least, row.tools_offered), max(most, row.tools_offered)
        if row.flags:
            self.flags.update(row.flags)
        sums, unknown = self.sums, self.unknown
        sums["cache_hits"] += row.cache_hits
        for name, count in (
            ("model_calls", row.model_calls),
            ("tool_calls", row.tool_calls),
            ("prompt_tokens", row.prompt_tokens),
            ("completion_tokens", row.completion_tokens),
            ("cached_tokens", row.cached_tokens),
            ("reasoning_tokens", row.reasoning_tokens),
        ):
            if count is None:
                unknown[name] += 1
            else:
                sums[name] += count
        if row.usd is None:
            unknown["usd"] += 1
        else:
            self.prices.append(row.usd)
        self.times_s.append(row.wall_s)
        for name, counts in row.tools_used.items():
            tool = self.tools[name]
            tool.calls += counts.get("calls", 0)
            tool.bad_arguments += counts.get("bad_arguments", 0)
            tool.errors += counts.get("errors", 0)
            tool.samples.add(row.sample_id)

    @property
    def usd(self) -> float:
        return math.fsum(self.prices)

    @property
    def wall_s(self) -> float:
        return math.fsum(self.times_s)

    @property
    def trials(self) -> int:
        return self.outcomes.total()
