"""What an audit measured, as plain data."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from gnomon.core.audit_plugin import Kind, View
from gnomon.core.sample import DataFault

FAR = 4.5  # standard errors: so many rules are tried on the true steps that some beat chance by luck


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortcutAccuracy:
    """How often a shortcut is right in a cell, by what was looked at.

    `value` is its mean over all `n` samples, with chance counted where it does not apply; `hits` are those
    of the `applies` samples where it does (broken numbers: a guess between two is half a hit). The intervals
    are None where it never applies, or where there are fewer than two clusters of related samples.
    """

    shortcut: str
    kind: Kind
    cell: str
    view: View
    n: int
    applies: int
    hits: float
    value: float
    chance: float | None
    clusters: int
    ci95: tuple[float, float] | None
    ci99: tuple[float, float] | None  # for the verdict, as many shortcuts are tried
    method: str  # how the 95 % interval was made

    @property
    def beats_chance(self) -> bool:
        """Whether it is significantly above chance; with a chance of 0, whether it was ever right."""
        if self.chance == 0.0:
            return self.value > 0.0
        return self.chance is not None and self.ci99 is not None and self.ci99[0] > self.chance

    @property
    def survives(self) -> bool:
        """Whether the guarded prompt, or the true steps, hold what they promise to withhold."""
        if self.view == "steps":
            return self.kind == "leak" and self.beats_chance and self._is_far_above_chance
        return self.kind == "leak" and self.view == "guarded" and self.beats_chance

    @property
    def _is_far_above_chance(self) -> bool:
        if self.chance is None:
            return False
        spread = math.sqrt(self.chance * (1 - self.chance) / self.n)
        return self.value > self.chance + FAR * spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Letters:
    """How often each letter is right in a cell (of the first place, where an answer has several).

    `best` is the share of the commonest letter, so it is above `chance` by selection alone.
    """

    cell: str
    view: View
    n: int
    counts: Mapping[str, int]
    best: float
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """All that an audit found. `unread`: samples, by view, whose options could not be read."""

    benchmark: str
    version: str
    samples: Mapping[str, int]  # by cell
    accuracies: tuple[ShortcutAccuracy, ...] = ()
    letters: tuple[Letters, ...] = ()
    faults: tuple[DataFault, ...] = ()
    unread: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()  # what the benchmark says of its questions as a whole
    by_level: tuple[ShortcutAccuracy, ...] = ()  # the same over all cells, with a level's name as `cell`

    @property
    def surviving(self) -> tuple[ShortcutAccuracy, ...]:
        """The leaks that the guarded prompt does not end, and those of the true steps."""
        return tuple(accuracy for accuracy in self.accuracies if accuracy.survives)

    @property
    def fault_counts(self) -> Mapping[str, int]:
        """How many faults there are of each kind, in the order of first appearance."""
        counts: dict[str, int] = {}
        for fault in self.faults:
            counts[fault.kind] = counts.get(fault.kind, 0) + 1
        return counts

    def document(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark,
            "version": self.version,
            "samples": {"n": sum(self.samples.values()), "by_cell": dict(self.samples)},
            "shortcuts": [asdict(accuracy) | {"survives": accuracy.survives} for accuracy in self.accuracies],
            "by_level": [asdict(accuracy) for accuracy in self.by_level],
            "answer_positions": [asdict(letters) for letters in self.letters],
            "faults": {"counts": self.fault_counts, "cases": [asdict(fault) for fault in self.faults]},
            "options_unread": dict(self.unread),
            "remarks": list(self.remarks),
            "surviving_leaks": [f"{accuracy.shortcut} in {accuracy.cell}" for accuracy in self.surviving],
        }
