"""Which trials a reader wants to see, as it is written in the query of a URL."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

FACETS = ("model", "arm", "cell", "task", "outcome", "reply_state", "stop", "flag", "tool", "changed")
TEXTS = ("baseline", "variant", "q")
FIXED, REGRESSED = "fixed", "regressed"
BOTH_RIGHT, BOTH_WRONG = "both_right", "both_wrong"
NOT_COMPARABLE = "not_comparable"
CHANGES = (FIXED, REGRESSED, BOTH_RIGHT, BOTH_WRONG, NOT_COMPARABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialFilter:
    """Values that a trial must have; an empty field allows all, of several values one is enough.

    `changed` says how a sample fared under the arm `variant` against the arm `baseline` (see CHANGES). `q`
    is a part of the sample's id, of the answer or of the question, in upper or lower case; an index holds no
    questions, so `asking` names the samples whose question has that part.

    >>> chosen = TrialFilter.from_query([("arm", "raw"), ("arm", "tools"), ("q", "w5"), ("sort", "score")])
    >>> chosen.arm, chosen.as_query()
    (('raw', 'tools'), [('arm', 'raw'), ('arm', 'tools'), ('q', 'w5')])
    """

    model: tuple[str, ...] = ()
    arm: tuple[str, ...] = ()
    cell: tuple[str, ...] = ()
    task: tuple[str, ...] = ()
    outcome: tuple[str, ...] = ()
    reply_state: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    flag: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    baseline: str = ""
    variant: str = ""
    q: str = ""
    asking: frozenset[str] = frozenset()

    @classmethod
    def from_query(cls, parameters: Iterable[tuple[str, str]]) -> "TrialFilter":
        """The filter in a URL's query; empty values and parameters of other names are left out."""
        facets: dict[str, dict[str, None]] = {name: {} for name in FACETS}
        texts = dict.fromkeys(TEXTS, "")
        for name, value in parameters:
            if name in facets and value:
                facets[name][value] = None
            elif name in texts and value:
                texts[name] = value
        fields: dict[str, Any] = {name: tuple(values) for name, values in facets.items()} | texts
        return cls(**fields)

    def as_query(self) -> list[tuple[str, str]]:
        """The parameters that `from_query` reads."""
        pairs = [(name, value) for name in FACETS for value in self.values(name)]
        return pairs + [(name, value) for name in TEXTS if (value := getattr(self, name))]

    def values(self, facet: str) -> tuple[str, ...]:
        chosen: tuple[str, ...] = getattr(self, facet)
        return chosen

    def without(self, name: str, value: str) -> "TrialFilter":
        return TrialFilter.from_query(pair for pair in self.as_query() if pair != (name, value))
