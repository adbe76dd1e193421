"""What a row of a planning benchmark adds to the rates of plans, and which kinds of errors its plan has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Rate = Literal[
    "delivery",
    "commonsense_micro",
    "commonsense_macro",
    "hard_micro",
    "hard_macro",
    "final_pass",
    "refusal_precision",
    "refusal_recall",
    "refusal_proven",
]
RATES: Mapping[Rate, str] = {
    "delivery": "answers in the form asked for, of all",
    "commonsense_micro": "common-sense checks that hold, of those that apply",
    "commonsense_macro": "plans without a fault of common sense, of the requests that can be planned",
    "hard_micro": "demands of the request that are kept, of those that apply",
    "hard_macro": "plans that keep every demand, of the requests that can be planned",
    "final_pass": "plans without any fault, of the requests that can be planned",
    "refusal_precision": "refusals of requests that cannot be planned, of all refusals",
    "refusal_recall": "refused requests, of those that cannot be planned",
    "refusal_proven": "refusals whose reasons are proven, of all refusals",
}

ErrorKind = Literal["names", "hours", "routes", "constraints", "arithmetic", "form", "refusals"]
ERROR_KINDS: Mapping[ErrorKind, str] = {
    "names": "places that do not exist, are others than named, or are falsely described",
    "hours": "closed doors, stays too short, outside the day or off a meal",
    "routes": "ways that take longer, lead elsewhere or are missing",
    "constraints": "what the request asks for or forbids",
    "arithmetic": "sums, claimed costs and ways, times that overlap",
    "form": "nothing delivered, or not in the form asked for",
    "refusals": "a refusal where there is a plan or without a proof, a plan where there is none",
}

NOT_DELIVERED = "not_delivered"
"""The flag of a row without a plan in the form asked for; after a colon the fault of the reply or its end."""

Passed = tuple[float, float | None]
"""How much passes, and of how much; None: of as much as in other trials of the sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """What one scored row adds: to each rate that applies to it, and by kind the flags of its errors."""

    rates: Mapping[Rate, Passed] = field(default_factory=dict)
    errors: Mapping[ErrorKind, tuple[str, ...]] = field(default_factory=dict)


def number_of(metrics: Mapping[str, float | str | None], name: str) -> float | None:
    """A metric of a row; None where it has none, or one in words."""
    value = metrics.get(name)
    return float(value) if isinstance(value, int | float) else None


def errors_by_kind(flags: Sequence[str], kinds: Mapping[str, ErrorKind]) -> dict[ErrorKind, tuple[str, ...]]:
    """The flags of a row that are errors, by their kind; a flag may have words after a colon.

    >>> errors_by_kind(("SUM", "not_delivered: no JSON", "doubts"), {"SUM": "arithmetic"})
    {'arithmetic': ('SUM',)}
    >>> errors_by_kind(("not_delivered: no JSON",), {"not_delivered": "form"})
    {'form': ('not_delivered: no JSON',)}
    """
    by_kind: dict[ErrorKind, list[str]] = {}
    for flag in flags:
        kind = kinds.get(flag) or kinds.get(flag.partition(":")[0])
        if kind is not None:
            by_kind.setdefault(kind, []).append(flag)
    return {kind: tuple(names) for kind, names in by_kind.items()}
