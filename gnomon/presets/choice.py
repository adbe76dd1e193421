"""Compares tools called at will with tools that must be called first.

The order to call (`tool_choice: required`) holds until there was a call; a model that does not obey is
flagged `required_call_missing`.
"""

from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast


def plan(options: PresetOptions, _: Benchmark) -> ArmPlan:
    """The same tools, called at will or by order; the order holds for the first turn."""
    return ArmPlan(
        arms=(options.with_tools("auto"), options.with_tools("required", tool_choice="required")),
        contrasts=(contrast("auto", "required", "having to call", "tool_choice", is_primary=True),),
    )


choice = Preset(
    name="choice",
    description="Makes the model call a tool first: does it fail to use tools, or to use them well.",
    options=PresetOptions,
    plan=plan,
)
