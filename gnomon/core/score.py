"""How a trial ended, and what its response is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

REMARK, UNCHECKED = "remark:", "unchecked:"
"""What flags begin with that tell of an answer and of no fault in it."""


class Outcome(StrEnum):
    """How a trial ended: every one as exactly one of these, by whose fault it was."""

    SCORED = "scored"
    MODEL_FAILED = "model_failed"  # counts as wrong
    INFRA_MISSING = "infra_missing"  # Gnomon's fault or the provider's: never a wrong answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A value in [0, 1], or none with the reason why; never NaN.

    `answer` is what was understood from the response (None: nothing was), `metrics` the benchmark's own
    measures, `flags` what a reader should know (a gamed rule, a clipped value), `read_by` how it was read.

    >>> Score(value=2.0)
    Traceback (most recent call last):
    ValueError: a score lies in [0, 1], got 2.0
    """

    value: float | None
    reason: str = ""
    answer: str | None = None
    metrics: Mapping[str, float | str | None] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    read_by: str = ""  # the rule by which the answer was read; empty: none was, or it is not known

    def __post_init__(self) -> None:
        if self.value is not None and not 0.0 <= self.value <= 1.0:
            raise ValueError(f"a score lies in [0, 1], got {self.value}")
        if self.value is None and not self.reason:
            raise ValueError("an unscored response needs a reason")
