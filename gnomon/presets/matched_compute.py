"""Gives a model without tools the tokens that tools took: is it the tools, or the tokens.

`tokens_from: JOB` names a finished job of the same benchmark and model: the mean tokens of a trial under its
arm with live tools (`tokens_arm`, where there are several) are what a trial without tools may spend. Or give
`tokens` yourself. The arm `matched` drafts answers for as long as they fit, then takes what most agree on
([`vote`](agents.md#vote)). Where it spent less than three quarters of what tools took, the report lists that
as a deviation.

```sh not run: tests/service/test_matching.py
gnomon run tools.yaml                                        # any job with tools: j_…
arms: {preset: matched_compute, tokens_from: j_…}            # in the second spec
```
"""

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
    example={"tokens": 5000},
)
