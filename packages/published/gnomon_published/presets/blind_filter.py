"""Shows the question alone: which questions every model answers without looking.

It isolates nothing: `gnomon generate filtered` reads its rows.
"""

from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions


def plan(options: PresetOptions, _: Benchmark) -> ArmPlan:
    """One arm that shows nothing but the question; `gnomon generate filtered` reads its rows."""
    return ArmPlan(arms=(options.arm("blind", agent="direct", show=()),), contrasts=())


blind_filter = Preset(
    name="blind_filter",
    description="Shows nothing but the question, to find what all models guess; no contrast.",
    options=PresetOptions,
    plan=plan,
)
