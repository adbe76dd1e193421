"""Task: a generated trip with what only the scorer may know: its optimum, a plan that works, a proof."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tools.itinerary.problem import Problem
from tools.itinerary.trip import Trip

Form = Literal["plan", "order", "graph"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One question about a trip.

    `witness` is an answer that scores 1, as a model would write it. `optimum_m` is the least there is to
    walk (None: there is no plan, or nothing is walked). `told` goes into the prompt beside the request,
    `truth` is for the scorer alone. Without a problem and a witness it is a request of a user's own.
    """

    family: str
    form: Form
    trip: Trip
    problem: Problem | None = None
    witness: str = ""
    optimum_m: int | None = None
    told: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    truth: Mapping[str, Any] = field(default_factory=dict)
