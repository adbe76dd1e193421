"""Asks the same question in another guise: whether a model works it out, or remembers.

Each of `transforms` gives two arms, `raw_…` without tools and `tools_…` with them, beside `raw` and `tools`,
which ask the original ([metamorphic](metamorphic.md)). By default these are all transforms that the benchmark
has for every task. `shift_time` fits questions that show times, `change_units` those that state lengths: name
them, and such tasks in `select.tasks`. Of `gtr-bench` as published name `permute_options`, or `shift_time`.
"""

from pydantic import Field, field_validator

from gnomon.core.arm import Contrast
from gnomon.core.benchmark import Benchmark
from gnomon.core.sample import Transform
from gnomon.core.transforms import Transforms
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast


class MetamorphicOptions(PresetOptions):
    """`transforms` are those to make arms of; empty: all that the benchmark has for every task.

    Without `tools_too` there are no arms with tools.
    """

    transforms: list[Transform] = Field(default_factory=list)
    tools_too: bool = True

    @field_validator("transforms")
    @classmethod
    def _once(cls, transforms: list[Transform]) -> list[Transform]:
        return list(dict.fromkeys(transforms))


def plan(options: MetamorphicOptions, benchmark: Benchmark) -> ArmPlan:
    """The original and each transform, without tools and with them."""
    offered = benchmark.transforms if isinstance(benchmark, Transforms) else {}
    every_task = [name for name, tasks in offered.items() if tasks >= set(benchmark.tasks)]
    transforms = options.transforms or every_task
    arms, contrasts = [options.arm("raw")], []
    if options.tools_too:
        arms.append(options.with_tools("tools"))
        contrasts.append(contrast("raw", "tools", "all of it", "tools", is_primary=True))
    for transform in transforms:
        arms.append(options.arm(f"raw_{transform}", transform=transform))
        contrasts.append(_guise("raw", transform, is_primary=not options.tools_too))
        if options.tools_too:
            arms.append(options.with_tools(f"tools_{transform}", transform=transform))
            contrasts.append(_guise("tools", transform))
    notes = [] if offered else [f"no transformed arm: {benchmark.name} has no transforms"]
    return ArmPlan(arms=tuple(arms), contrasts=tuple(contrasts), notes=tuple(notes))


def _guise(arm: str, transform: Transform, *, is_primary: bool = False) -> Contrast:
    isolates = f"the guise: {transform}"
    return contrast(arm, f"{arm}_{transform}", isolates, "transform", is_primary=is_primary)


metamorphic = Preset(
    name="metamorphic",
    description="Asks the same questions turned, mirrored, renamed, or with their options in another order.",
    options=MetamorphicOptions,
    plan=plan,
)
