"""Steps from no tools to live tools: what the data, the calling and the calculation are each worth.

`raw` shows the question; `facts` also every number that the scene holds: cameras, views, homographies,
places, roads or zones and passages. `schema_only` lists the tools but forbids calls (`tool_choice: none`). In
`placebo` they may be called: good calls are answered with the results of another sample's scene, bad ones
with the usual error; the report says whether that stayed unnoticed ([placebo](placebo.md)). `live` has live
tools, `facts_and_tools` the facts as well. `oracle` shows the true intermediate steps and has no tools.
`placebo: neutral` answers good calls with "says nothing" instead, as jobs of older versions did.

`facts − raw` is the data, `placebo − schema_only` the calling, `live − facts` the calculation: these three
are primary. `schema_only − raw` is seeing the tools' schemas (in reports *the sight of tools*),
`live − placebo` the tools' output (*what the tools say*), `live − raw` all of it, `facts_and_tools − facts`
the tools where nothing has to be fetched, `facts_and_tools − live` the facts beside them, and `oracle − live`
what better tools could add: true measurements in place of theirs, with the computation left to the model.
`raw`, `schema_only`, `placebo`, `live`, `oracle` are the steps of the report's waterfall. An agent from
outside cannot be forbidden to call: its ladder has no `schema_only`, and `placebo − raw` is both steps.

True steps are known where Gnomon made the question: `worlds` tells where each shown target came into view and
left and how fast it was, where every camera of the place sees its ways, and how the ways are joined, without
clock times. They stop short of the choice: how far it is to a camera has to be added up from way to way. For
other benchmarks the arm is left out, and the job's notes say so.
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
