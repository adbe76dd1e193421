"""Consensus: whether several models, asked several times, agree with the published answers."""

from gnomon.benchmark import Benchmark
from gnomon.preset import Plan, Preset, PresetOptions


def plan(options: PresetOptions, _: Benchmark) -> Plan:
    """One arm that is shown everything; give several models and `repeats`, then run `gnomon consensus`."""
    return Plan(arms=(options.arm("consensus", agent="direct"),), contrasts=())


consensus = Preset(
    name="consensus",
    description="Shows everything to several models, several times, to find doubtful golds; no contrast.",
    options=PresetOptions,
    plan=plan,
)
