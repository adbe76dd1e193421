"""Ladder: what the data, the calling and the calculation are each worth."""

from gnomon.core.benchmark import Benchmark, HasOracle
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast


def plan(options: PresetOptions, benchmark: Benchmark) -> ArmPlan:
    """Six arms with one agent; five where the benchmark does not know the truth of intermediate steps."""
    shown = tuple(options.show)
    arms = [
        options.arm("raw"),
        options.arm("facts", show=(*shown, "facts")),
        options.with_tools("schema_only", tool_choice="none"),
        options.with_tools("placebo", results="neutral"),
        options.with_tools("live"),
    ]
    contrasts = [
        contrast("raw", "facts", "the data", "show", is_primary=True),
        contrast("raw", "schema_only", "the sight of tools", "tools", "tool_choice"),
        contrast("schema_only", "placebo", "the calling", "tool_choice", "results", is_primary=True),
        contrast("placebo", "live", "what the tools say", "results"),
        contrast("facts", "live", "the calculation", "tools", "show", is_primary=True),
        contrast("raw", "live", "all of it", "tools"),
    ]
    chain = ["raw", "schema_only", "placebo", "live"]
    notes = []
    if isinstance(benchmark, HasOracle):
        arms.append(options.arm("oracle", show=(*shown, "oracle")))
        contrasts.append(contrast("live", "oracle", "what better tools could add", "tools", "show"))
        chain.append("oracle")
    else:
        notes.append(f"no oracle arm: {benchmark.name} does not know the truth of intermediate steps")
    return ArmPlan(arms=tuple(arms), contrasts=tuple(contrasts), chain=tuple(chain), notes=tuple(notes))


ladder = Preset(
    name="ladder",
    description="Parts the gain of tools into the data they hold, the calling, and the calculation.",
    options=PresetOptions,
    plan=plan,
)
