"""Allows more and more tool calls: what the first call is worth, and the next ones.

All arms have turns enough for the largest number of calls. With 0 the tools are listed and calls are
forbidden.
"""

from itertools import pairwise
from typing import Annotated

from pydantic import Field, field_validator

from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast

Calls = Annotated[int, Field(ge=0, le=1000)]


class DoseOptions(PresetOptions):
    """`calls` are the numbers of tool calls allowed, one arm each."""

    calls: list[Calls] = Field(default_factory=lambda: [0, 1, 2, 4, 8], min_length=2)

    @field_validator("calls")
    @classmethod
    def _rise(cls, calls: list[int]) -> list[int]:
        if calls != sorted(set(calls)):
            raise ValueError(f"rise strictly; got {calls}")
        return calls


def plan(options: DoseOptions, _: Benchmark) -> ArmPlan:
    """One arm a dose, each against the next smaller one; turns enough for the largest in all of them."""
    turns = max(options.max_turns, options.calls[-1] + 2)
    names = [f"calls_{calls}" for calls in options.calls]
    arms = (
        options.with_tools(name, max_tool_calls=calls, max_turns=turns)
        for name, calls in zip(names, options.calls, strict=True)
    )
    steps = [
        contrast(
            less,
            more,
            f"{more.removeprefix('calls_')} calls instead of {less.removeprefix('calls_')}",
            "max_tool_calls",
        )
        for less, more in pairwise(names)
    ]
    if len(names) > 2:
        steps.insert(
            0, contrast(names[0], names[-1], "all doses together", "max_tool_calls", is_primary=True)
        )
    return ArmPlan(arms=tuple(arms), contrasts=tuple(steps), chain=tuple(names))


dose = Preset(
    name="dose",
    description="Allows 0, 1, 2, 4 and 8 tool calls: what another call is worth.",
    options=DoseOptions,
    plan=plan,
)
