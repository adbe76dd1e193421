"""The lists that an index of trials hands out: plain records of trials, pairs and samples."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEntry:
    """A trial that has ended. Its answer is shortened, see `ANSWER_CHARS`; None of score and usd: unknown."""

    seq: int
    trial_id: str
    sample_id: str
    task: str
    cell: str
    cluster: str
    model: str
    arm: str
    repeat: int
    outcome: str
    stop_reason: str
    score: float | None
    answer: str | None
    flags: tuple[str, ...]
    tools: tuple[str, ...]
    tool_calls: int | None
    tool_errors: int | None
    usd: float | None
    wall_s: float
    reply_state: str  # empty: not recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmResult:
    """A sample under one arm: mean score and mean tool calls of its scored repeats, and all its trials."""

    arm: str
    score: float | None
    tool_calls: float | None
    trials: tuple[TrialEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairEntry:
    """A sample and a model under two arms. `difference` is variant minus baseline; None: one has no score."""

    sample_id: str
    model: str
    task: str
    cell: str
    cluster: str
    baseline: ArmResult
    variant: ArmResult
    difference: float | None
    changed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRow:
    """A sample and a model under every arm of the job, in its order."""

    sample_id: str
    model: str
    task: str
    cell: str
    cluster: str
    results: tuple[ArmResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """A sample's place in a list of samples, from 1; 0: it is not on the list."""

    previous: str | None
    next: str | None
    position: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed(Generic[T]):
    """A stretch of a list, the length of the whole list, and where the next one starts; None at the end."""

    items: tuple[T, ...]
    total: int
    next_cursor: str | None
