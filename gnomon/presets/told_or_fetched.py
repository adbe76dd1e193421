"""Shows the same evidence in the prompt or puts it behind tools: what fetching it costs.

`question` shows the question alone, `told` also all the facts. In `fetched` the same facts are behind tools.
`both` has facts and tools. In `placebo` good calls are answered from the facts of another question.

Primary: `fetched − told` is the fetching. `told − question` is the evidence, `both − told` tools beside the
evidence, `fetched − placebo` what the tools say.
"""

from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast


def plan(options: PresetOptions, _: Benchmark) -> ArmPlan:
    """Five arms with one agent and one set of limits."""
    hidden = tuple(part for part in options.show if part != "facts")
    facts = (*hidden, "facts")
    arms = (
        options.arm("question", show=hidden),
        options.arm("told", show=facts),
        options.with_tools("fetched", show=hidden),
        options.with_tools("both", show=facts),
        options.with_tools("placebo", show=hidden, results="other_scene"),
    )
    contrasts = (
        contrast("told", "fetched", "the fetching", "tools", "show", is_primary=True),
        contrast("question", "told", "the evidence", "show"),
        contrast("question", "fetched", "the evidence, fetched", "tools"),
        contrast("told", "both", "tools beside the evidence", "tools"),
        contrast("placebo", "fetched", "what the tools say", "results"),
    )
    return ArmPlan(arms=arms, contrasts=contrasts)


told_or_fetched = Preset(
    name="told_or_fetched",
    description="Shows the evidence in the prompt or puts it behind tools: what fetching it costs.",
    options=PresetOptions,
    plan=plan,
)
