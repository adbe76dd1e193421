"""Shows everything to several models repeatedly: whether they agree with published answers.

It isolates nothing: give several models and `repeats`, then run `gnomon consensus`.
"""

from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions


def plan(options: PresetOptions, _: Benchmark) -> ArmPlan:
    """One arm that is shown everything; give several models and `repeats`, then run `gnomon consensus`."""
    return ArmPlan(arms=(options.arm("consensus", agent="direct"),), contrasts=())


consensus = Preset(
    name="consensus",
    description="Shows everything to several models repeatedly, to find doubtful gold labels; no contrast.",
    options=PresetOptions,
    plan=plan,
)
