"""Hides parts of the prompt: how much of a score needs no looking.

`blind` hides pictures (media and map), `text_only` all but question and options. `tools_too: true` adds
`tools` and `blind_tools`.
"""

from gnomon.core.benchmark import Benchmark
from gnomon.core.sample import Shown
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast

PICTURES: tuple[Shown, ...] = ("media", "map")


class BlindOptions(PresetOptions):
    """`tools_too` adds the first two arms once more with tools."""

    tools_too: bool = False


def plan(options: BlindOptions, _: Benchmark) -> ArmPlan:
    """Everything shown; no pictures; nothing but the question. With tools the first two again."""
    sighted = tuple(part for part in options.show if part not in PICTURES)
    arms = [options.arm("raw"), options.arm("blind", show=sighted), options.arm("text_only", show=())]
    contrasts = [
        contrast("blind", "raw", "the pictures", "show", is_primary=True),
        contrast("text_only", "blind", "the camera data", "show"),
    ]
    if options.tools_too:
        arms += [options.with_tools("tools"), options.with_tools("blind_tools", show=sighted)]
        contrasts.append(contrast("blind_tools", "tools", "the pictures, beside tools", "show"))
        contrasts.append(contrast("blind", "blind_tools", "tools without pictures", "tools"))
    return ArmPlan(arms=tuple(arms), contrasts=tuple(contrasts))


blind = Preset(
    name="blind",
    description="Hides the pictures, then all but the question: what can be guessed without looking.",
    options=BlindOptions,
    plan=plan,
)
