"""Faults: how far a model trusts tools that fail or lie."""

from pydantic import Field

from gnomon.arm import FaultKind, Faults, Lasting
from gnomon.benchmark import Benchmark
from gnomon.preset import Plan, Preset, PresetOptions, contrast

KINDS: tuple[FaultKind, ...] = ("explicit", "silent")
LASTING: tuple[Lasting, ...] = ("transient", "permanent")
WORDS = {"explicit": "tools that say they failed", "silent": "tools that are wrong and do not say so"}


class FaultsOptions(PresetOptions):
    """`rate`: the share of calls that is hit, or the chance of a tool to be broken for the whole trial."""

    rate: float = Field(default=0.3, gt=0, le=1)


def plan(options: FaultsOptions, _: Benchmark) -> Plan:
    """No tools, sound tools, and four ways to fail, each against sound tools."""
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
    return Plan(arms=tuple(arms), contrasts=tuple(contrasts))


faults = Preset(
    name="faults",
    description="Lets tools fail or lie, now and then or for good: does the model notice and recover.",
    options=FaultsOptions,
    plan=plan,
)
