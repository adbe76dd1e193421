"""Lets tools fail or give wrong results: how far a model trusts them.

Beside `clean` tools there are four ways to fail, hit with `rate` (0.3): *explicit* (an error the model can
read) or *silent* (a plausible and wrong result), *transient* (each call by lot) or *permanent* (a tool by
lot, for the whole trial).

A silent fault runs a tool of a scene with the scene's cameras and places exchanged. Other measuring tools get
a wrong scale and a wrong north: lengths, speeds and minutes half as long again, compass directions a quarter
off. Tools that measure nothing are never silently wrong; a job that offers no others is refused.

The trace marks each (`injected`); rows count them by tool in `tools_used`.
"""

from pydantic import Field

from gnomon.conditions.faults import can_be_wrong
from gnomon.core.arm import FaultKind, Faults, Lasting
from gnomon.core.benchmark import Benchmark
from gnomon.core.errors import SpecError
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast
from gnomon_tools.core.toolbox import TOOLS
from gnomon_tools.servers.listing import SEPARATOR

KINDS: tuple[FaultKind, ...] = ("explicit", "silent")
LASTING: tuple[Lasting, ...] = ("transient", "permanent")
WORDS = {"explicit": "tools that say they failed", "silent": "tools that are wrong and do not say so"}


class FaultsOptions(PresetOptions):
    """`rate`: the share of calls that is hit, or the chance of a tool to be broken for the whole trial."""

    rate: float = Field(default=0.3, gt=0, le=1)


def plan(options: FaultsOptions, _: Benchmark) -> ArmPlan:
    """No tools, sound tools, and four ways to fail, each against sound tools.

    Raises:
        SpecError: none of the tools can be wrong in silence.
    """
    ours = [name for name in options.tools if SEPARATOR not in name]  # any other is a server's
    honest = [name for name in ours if not can_be_wrong(TOOLS.get(name))]
    if len(honest) == len(options.tools):
        message = (
            f"none of these tells of a scene or measures, so none can be silently wrong: {', '.join(honest)}"
        )
        raise SpecError(message, field="arms.tools")
    arms = [options.arm("raw"), options.with_tools("clean")]
    contrasts = [contrast("raw", "clean", "sound tools", "tools")]
    for kind in KINDS:
        for lasting in LASTING:
            name = f"{kind}_{lasting}"
            faults = Faults(kind=kind, lasting=lasting, rate=options.rate)
            arms.append(options.with_tools(name, faults=faults))
            contrasts.append(
                contrast("clean", name, f"{WORDS[kind]}, {lasting}ly", "faults", is_primary=True)
            )
    notes = [f"tools that are never silently wrong, for they measure nothing: {', '.join(honest)}"]
    return ArmPlan(arms=tuple(arms), contrasts=tuple(contrasts), notes=tuple(notes if honest else ()))


faults = Preset(
    name="faults",
    description="Lets tools fail or lie, now and then or for good: does the model notice and recover.",
    options=FaultsOptions,
    plan=plan,
)
