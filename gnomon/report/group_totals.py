"""Adds up the rows of one group: counts, tokens, dollars and seconds."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gnomon.core.reply_state import ReplyState
from gnomon.core.row_batch import Places, RowBatch, distinct_codes
from gnomon.core.score import Outcome
from gnomon.statistics.design import Codes, Floats

MOST_ERRORS = 100  # distinct ones that are counted: some providers number each
SUMMED = (
    "model_calls",
    "tool_calls",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "reasoning_tokens",
)


@dataclass(slots=True, kw_only=True)
class ToolTotals:
    """How often a tool was called, and on which samples: places in `ScoreMatrix.samples`, ascending."""

    calls: int = 0
    bad_arguments: int = 0
    errors: int = 0
    samples: Codes = field(default_factory=lambda: np.empty(0, np.intp))


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
    usd: float = 0.0
    wall_s: float = 0.0
    states: Counter[ReplyState] = field(default_factory=Counter)  # of replies, where they are recorded
    examples: dict[ReplyState, str] = field(
        default_factory=dict
    )  # a trial of each state but read and missing
    read_by: Counter[str] = field(default_factory=Counter)  # rules by which answers were read
    tools: dict[str, ToolTotals] = field(default_factory=lambda: defaultdict(ToolTotals))

    @property
    def trials(self) -> int:
        return self.outcomes.total()

    @property
    def replies(self) -> int:
        """The trials that count: all but those that are missing."""
        return self.trials - self.outcomes[Outcome.INFRA_MISSING]

    def offered(self, least: int, most: int) -> None:
        """Widen what trials were offered to these numbers of tools."""
        before = self.tools_offered or (least, most)
        self.tools_offered = min(before[0], least), max(before[1], most)


def add_rows(totals: Sequence[GroupTotals], batch: RowBatch, groups: Codes) -> None:
    """Count rows, given the group of each. Dollars, seconds and tools' samples are added up at the end."""
    _count_endings(totals, batch, groups)
    _count_tools(totals, batch, groups)
    _count_states(totals, batch, groups)
    flags = batch.distinct("flags")
    for group, number, rows in _alike(groups, flags.codes):
        for flag in flags.values[number]:
            totals[group].flags[flag] += rows
    for group, hits in enumerate(_sums(batch.numbers("cache_hits"), groups, len(totals))):
        totals[group].sums["cache_hits"] += hits
    for name in SUMMED:
        numbers = batch.numbers(name)
        is_known = ~np.isnan(numbers)
        for group, known in enumerate(_sums(numbers[is_known], groups[is_known], len(totals))):
            totals[group].sums[name] += known
        _count_unknown(totals, name, groups[~is_known])
    _count_unknown(totals, "usd", groups[np.isnan(batch.numbers("usd"))])


def _count_endings(totals: Sequence[GroupTotals], batch: RowBatch, groups: Codes) -> None:
    endings = batch.distinct("outcome", "stop_reason")
    for group, number, rows in _alike(groups, endings.codes):
        outcome, stop_reason = endings.values[number]
        totals[group].outcomes[outcome] += rows
        totals[group].stop_reasons[outcome][stop_reason] += rows
    errors = batch.distinct("outcome", "stop_reason", "error")
    lost = errors.places(lambda ending: ending[0] == Outcome.INFRA_MISSING and ending[2])
    for group, number, rows in _alike(groups[lost], errors.codes[lost]):
        _, stop_reason, error = errors.values[number]
        counts = totals[group].errors[stop_reason]
        if error in counts or len(counts) < MOST_ERRORS:
            counts[error] += rows


def _count_states(totals: Sequence[GroupTotals], batch: RowBatch, groups: Codes) -> None:
    states = batch.distinct("reply_state", "read_by")
    for group, number, rows in _alike(groups, states.codes):
        state, rule = states.values[number]
        if state is not None:
            totals[group].states[ReplyState(state)] += rows
        if rule:
            totals[group].read_by[rule] += rows
    unanswered = states.places(lambda value: value[0] not in (None, ReplyState.READ, ReplyState.MISSING))
    for place in unanswered.tolist():
        state, trial = ReplyState(states[place][0]), batch.columns["trial_id"][place]
        examples = totals[groups[place]].examples
        examples[state] = min(examples.get(state, trial), trial)  # whatever order the rows come in


def _count_tools(totals: Sequence[GroupTotals], batch: RowBatch, groups: Codes) -> None:
    offered = batch.distinct("tools_offered")
    for group, number, _ in _alike(groups, offered.codes):
        tools_n = offered.values[number]
        if tools_n is not None:
            totals[group].offered(tools_n, tools_n)
    used = batch.distinct("tools_used")
    for group, number, rows in _alike(groups, used.codes):
        for name, counts in used.values[number].items():
            tool = totals[group].tools[name]
            tool.calls += rows * counts.get("calls", 0)
            tool.bad_arguments += rows * counts.get("bad_arguments", 0)
            tool.errors += rows * counts.get("errors", 0)


def _count_unknown(totals: Sequence[GroupTotals], name: str, groups: Codes) -> None:
    for group, rows in enumerate(np.bincount(groups, minlength=len(totals)).tolist()):
        if rows:
            totals[group].unknown[name] += rows


def _alike(groups: Codes, codes: Places) -> list[tuple[int, int, int]]:
    """Each group with each code that it has, in the order in which they first come, and of how many rows."""
    numbers, firsts = distinct_codes(groups, codes)
    return list(
        zip(groups[firsts].tolist(), codes[firsts].tolist(), np.bincount(numbers).tolist(), strict=True)
    )


def _sums(numbers: Floats, groups: Codes, groups_n: int) -> list[int]:
    """Sums of whole numbers by group; those of one batch are exact where they stay below 2⁵³."""
    if numbers.sum() < 2**53:
        return [int(total) for total in np.bincount(groups, numbers, minlength=groups_n)]
    return [sum(map(int, numbers[groups == group].tolist())) for group in range(groups_n)]
