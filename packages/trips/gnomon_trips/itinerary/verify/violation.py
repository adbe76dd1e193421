"""One fault of a plan, with its code, where it is, what was expected and what the plan has."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

from gnomon_trips.itinerary.verify.check_kinds import check_kinds, codes_of

Severity = Literal["error", "warn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A fault. `path` points into the plan as `days.0.visits.2`; `evidence` says who knows better."""

    code: str
    severity: Severity = "error"
    path: str
    expected: str
    found: str
    evidence: str = ""

    def __post_init__(self) -> None:
        if self.code not in check_kinds():
            raise ValueError(f"no check {self.code!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchecked:
    """A check that applies at `path`, and that no source could answer; `why` says what is missing."""

    code: str
    path: str
    why: str

    def __post_init__(self) -> None:
        if self.code not in check_kinds():
            raise ValueError(f"no check {self.code!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """All faults of a plan, what could not be checked, and how many of the checks that apply it passes.

    A check that could not be made everywhere where it applies never counts as held. `micro` is the share
    without an error of the others, `macro` whether no common-sense one fails, `hard_pass` whether nothing
    asked for does; a plan passes where both do.
    """

    violations: tuple[Violation, ...]
    checked: tuple[str, ...]
    unchecked: tuple[Unchecked, ...] = ()
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
    def undecided(self) -> frozenset[str]:
        """The checks without a fault that could not be made everywhere."""
        return frozenset(one.code for one in self.unchecked) & frozenset(self.checked) - self.failed

    @property
    def held(self) -> frozenset[str]:
        """The checks that were made wherever they apply, and hold."""
        return frozenset(self.checked) - self.failed - self.undecided

    @property
    def words(self) -> str:
        """How the checks went: `24 of 26 checks hold; 1 fails; 1 could not be checked`."""
        return counts_in_words(
            len(self.held), len(self.failed & frozenset(self.checked)), len(self.undecided)
        )

    @property
    def macro(self) -> bool:
        return not self.failed - codes_of("hard")

    @property
    def hard_pass(self) -> bool:
        return not self.failed & codes_of("hard")

    @property
    def final_pass(self) -> bool:
        return not self.failed

    def micro_of(self, codes: Collection[str]) -> float | None:
        """The share of those checks that hold; None where none of them applies and could be made."""
        applied = set(codes) & set(self.checked) - self.undecided
        return 1 - len(self.failed & applied) / len(applied) if applied else None


def counts_in_words(held: int, failed: int, undecided: int) -> str:
    """How many checks hold, fail, and could not be made, as a part of a sentence.

    >>> counts_in_words(24, 1, 3)
    '24 of 28 checks hold; 1 fails; 3 could not be checked'
    >>> counts_in_words(26, 0, 0), counts_in_words(26, 0, 1)
    ('all 26 checks hold', '26 of 27 checks hold; 1 could not be checked')
    """
    total = held + failed + undecided
    parts = [f"all {held} checks hold" if held == total else f"{held} of {total} checks hold"]
    parts += [f"{failed} {'fails' if failed == 1 else 'fail'}"] if failed else []
    parts += [f"{undecided} could not be checked"] if undecided else []
    return "; ".join(parts)
