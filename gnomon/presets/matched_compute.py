"""Matched compute: is it the tools, or the tokens they make a model spend."""

from pydantic import Field

from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast


class MatchedComputeOptions(PresetOptions):
    """`tokens`: what a trial without tools may spend: the mean that tools took in an earlier job."""

    tokens: int = Field(gt=0)


def plan(options: MatchedComputeOptions, _: Benchmark) -> ArmPlan:
    """One answer, a vote over as many drafts as the tokens allow, and tools."""
    return ArmPlan(
        arms=(
            options.arm("raw"),
            options.arm("matched", agent="vote", max_tokens=options.tokens),
            options.with_tools("tools"),
        ),
        contrasts=(
            contrast(
                "matched", "tools", "tools at equal tokens", "agent", "tools", "max_tokens", is_primary=True
            ),
            contrast("raw", "matched", "more tokens without tools", "agent", "max_tokens"),
            contrast("raw", "tools", "tools and their tokens", "tools"),
        ),
    )


matched_compute = Preset(
    name="matched_compute",
    description="Gives a model without tools the tokens that tools took: is it the tools or the tokens.",
    options=MatchedComputeOptions,
    plan=plan,
)
