"""Shows the same tools under other names and in another order.

`renamed` calls them by synonyms, or by numbers where a tool has none; `reversed` and `shuffled` list them in
another order. Traces keep the tools' own names ([wording](wording.md)).
"""

from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast


def plan(options: PresetOptions, _: Benchmark) -> ArmPlan:
    """No tools, tools as they are, and three other ways to show them."""
    arms = (
        options.arm("raw"),
        options.with_tools("tools"),
        options.with_tools("renamed", tool_names="renamed"),
        options.with_tools("reversed", tool_order="reversed"),
        options.with_tools("shuffled", tool_order="shuffled"),
    )
    contrasts = (
        contrast("raw", "tools", "the tools", "tools"),
        contrast("tools", "renamed", "other names", "tool_names", is_primary=True),
        contrast("tools", "reversed", "the reverse order", "tool_order", is_primary=True),
        contrast("tools", "shuffled", "a shuffled order", "tool_order", is_primary=True),
    )
    return ArmPlan(arms=arms, contrasts=contrasts)


tool_presentation = Preset(
    name="tool_presentation",
    description="Renames and reorders the tools: how much of their gain depends on how they are shown.",
    options=PresetOptions,
    plan=plan,
)
