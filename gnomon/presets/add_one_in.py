"""Add one in: what each tool is worth by itself."""

from gnomon.benchmark import Benchmark
from gnomon.preset import GroupedOptions, Plan, Preset, contrast


def plan(options: GroupedOptions, _: Benchmark) -> Plan:
    """No tools, and each one alone."""
    none = options.coalition(())
    alone = {name: options.coalition((name,)) for name in options.players()}
    return Plan(
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
)
