"""Goes from no tools to live tools in steps: what data, calling and calculation are each worth.

`raw` shows the question; `facts` also every number that the scene holds. `schema_only` lists the tools but
forbids calls. In `placebo` good calls are answered with the results of another sample's scene
([placebo](placebo.md)); `placebo: neutral` says nothing instead. `live` has live tools, `facts_and_tools` the
facts as well. `oracle` shows the true intermediate steps and has no tools.

Primary: `facts − raw` is the data, `placebo − schema_only` the calling, `live − facts` the calculation.
Besides: `schema_only − raw` is the sight of tools, `live − placebo` what the tools say, `live − raw` all of
it, `facts_and_tools − facts` tools where nothing has to be fetched, `oracle − live` what better tools could
add. An agent from outside cannot be forbidden to call: its ladder has no `schema_only`.

True steps are known where Gnomon made the question, and stop short of the choice; for other benchmarks the
arm is left out.
"""

from typing import Literal

from gnomon.core.benchmark import Benchmark, HasOracle
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast, steps_to_live


class LadderOptions(PresetOptions):
    """`placebo`: what good calls are answered with; `neutral` says openly that it is nothing."""

    placebo: Literal["other_scene", "neutral"] = "other_scene"


def plan(options: LadderOptions, benchmark: Benchmark) -> ArmPlan:
    """Seven arms with one agent; six where the benchmark does not know the truth of intermediate steps."""
    shown = tuple(options.show)
    between, steps, chain, notes = steps_to_live(options, placebo=options.placebo, primary=True)
    arms = [
        options.arm("raw"),
        options.arm("facts", show=(*shown, "facts")),
        *between,
        options.with_tools("live"),
        options.with_tools("facts_and_tools", show=(*shown, "facts")),
    ]
    contrasts = [  # what they isolate is kept in stored specs, and in their hashes
        contrast("raw", "facts", "the data", "show", is_primary=True),
        *steps,
        contrast("facts", "live", "the calculation", "tools", "show", is_primary=True),
        contrast("raw", "live", "all of it", "tools"),
        contrast("facts", "facts_and_tools", "tools, beside the data", "tools"),
        contrast("live", "facts_and_tools", "the data, beside tools", "show"),
    ]
    if isinstance(benchmark, HasOracle):
        arms.append(options.arm("oracle", show=(*shown, "oracle")))
        contrasts.append(contrast("live", "oracle", "what better tools could add", "tools", "show"))
        chain.append("oracle")
    else:
        notes.append(f"no oracle arm: {benchmark.name} does not know the truth of intermediate steps")
    return ArmPlan(arms=tuple(arms), contrasts=tuple(contrasts), chain=tuple(chain), notes=tuple(notes))


ladder = Preset(
    name="ladder",
    description="Splits the gain of tools into the data they hold, the calling, and the calculation.",
    options=LadderOptions,
    plan=plan,
)
