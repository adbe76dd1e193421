"""Gives each tool alone: what each is worth by itself.

Tools are grouped as in `leave_one_out`. Where tools need one another, use `subsets`.
"""

from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, GroupedOptions, Preset, contrast


def plan(options: GroupedOptions, _: Benchmark) -> ArmPlan:
    """No tools, and each one alone."""
    none = options.coalition(())
    alone = {name: options.coalition((name,)) for name in options.players()}
    return ArmPlan(
        arms=(none, *alone.values()),
        contrasts=tuple(
            contrast(none.name, arm.name, f"{name}, by itself", "tools") for name, arm in alone.items()
        ),
    )


add_one_in = Preset(
    name="add_one_in",
    description="Gives each tool alone: which of them is enough by itself.",
    options=GroupedOptions,
    plan=plan,
    example={"groups": {"track": ["estimate_track"], "way": ["distance"], "when": ["interpolate"]}},
)
