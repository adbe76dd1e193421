"""Asks the steps of a prompt one after another, as for writing questions.

It isolates nothing: `gnomon generate questions` reads its rows.
"""

from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions


def plan(options: PresetOptions, _: Benchmark) -> ArmPlan:
    """One arm, without tools: narration, lists, question."""
    return ArmPlan(arms=(options.arm("author", agent="in-steps"),), contrasts=())


authoring = Preset(
    name="authoring",
    description="Asks the steps of a prompt one after another, as for writing questions; no contrast.",
    options=PresetOptions,
    plan=plan,
)
