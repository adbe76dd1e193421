"""One fault of a plan, with its code, where it is, what was expected and what the plan has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Group = Literal["form", "grounding", "time", "space", "task", "answerability"]
Severity = Literal["error", "warn"]

CODES: Mapping[str, Group] = {
    "SCHEMA": "form",
    "UNITS": "form",
    "DATE": "form",
    "DAY_COUNT": "form",
    "KNOWN_PLACE": "grounding",
    "NAME_MISMATCH": "grounding",
    "COORD": "grounding",
    "HIERARCHY": "grounding",
    "AMBIGUOUS": "grounding",
    "OVERLAP": "time",
    "TRAVEL_TIME": "time",
    "IMPOSSIBLE": "time",
    "DWELL": "time",
    "OPEN_HOURS": "time",
    "DAY_WINDOW": "time",
    "MEAL_WINDOW": "time",
    "HOME": "space",
    "NIGHT_CONTINUITY": "space",
    "CITY_RUNS": "space",
    "LEG_CLAIM": "space",
    "MODE": "space",
    "MUST_VISIT": "task",
    "FORBIDDEN": "task",
    "DUPLICATE": "task",
    "ORDER": "task",
    "MAX_WALK": "task",
    "MAX_LEG": "task",
    "BUDGET": "task",
    "COST_CLAIM": "task",
    "SUM": "task",
    "PARTY": "task",
    "REFUSED_BUT_FEASIBLE": "answerability",
    "PLANNED_BUT_INFEASIBLE": "answerability",
}
"""Every check there is. IMPOSSIBLE is physics: no provider can make it true; TRAVEL_TIME is by provider."""

HARD = frozenset(("MUST_VISIT", "FORBIDDEN", "ORDER", "MAX_WALK", "MAX_LEG", "BUDGET", "PARTY"))
"""What the traveller asked for; all other checks are common sense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A fault. `path` points into the plan as `days.0.visits.2`; `evidence` says who knows better."""

    code: str
    path: str
    expected: str
    found: str
    severity: Severity = "error"
    evidence: str = ""

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"no check {self.code!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """All faults of a plan, and how many of the checks that apply it passes.

    `micro` is the share of applicable checks without an error, `macro` whether all common-sense ones
    hold, `hard_pass` whether everything asked for does; a plan passes where both do.
    """

    violations: tuple[Violation, ...]
    checked: tuple[str, ...]
    provider: str = ""
    version: str = ""
    _failed: frozenset[str] = field(init=False, repr=False, default=frozenset())

    def __post_init__(self) -> None:
        failed = frozenset(violation.code for violation in self.violations if violation.severity == "error")
        object.__setattr__(self, "_failed", failed)

    @property
    def failed(self) -> frozenset[str]:
        return self._failed

    @property
    def micro(self) -> float:
        return 1 - len(self.failed & set(self.checked)) / len(self.checked)

    @property
    def macro(self) -> bool:
        return not self.failed - HARD

    @property
    def hard_pass(self) -> bool:
        return not self.failed & HARD

    @property
    def final_pass(self) -> bool:
        return not self.failed

    def micro_of(self, codes: Sequence[str]) -> float | None:
        """The share of those checks that hold; None where none of them applies."""
        applied = set(codes) & set(self.checked)
        return 1 - len(self.failed & applied) / len(applied) if applied else None
