"""Authoring: write questions in the steps of the prompt."""

from gnomon.benchmark import Benchmark
from gnomon.preset import Plan, Preset, PresetOptions


def plan(options: PresetOptions, _: Benchmark) -> Plan:
    """One arm, without tools: narration, lists, question."""
    return Plan(arms=(options.arm("author", agent="in-steps"),), contrasts=())


authoring = Preset(
    name="authoring",
    description="Asks the steps of a prompt one after another, as for writing questions; no contrast.",
    options=PresetOptions,
    plan=plan,
)
