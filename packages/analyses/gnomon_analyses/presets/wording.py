"""Asks the same questions in several wordings: how much of a score is wording.

`original`, `plain`, `formal` and `reordered`, each without tools; with `tools_too: true` also with tools.
`of: closing` words only the last sentence otherwise, which asks for the answer and can decide whether a model
calls tools at all ([wording](wording.md)).
"""

from typing import Literal, get_args

from gnomon.core.arm import Wording
from gnomon.core.benchmark import Benchmark
from gnomon.core.words import Closing
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast

OTHERS: dict[str, tuple[Wording, ...]] = {
    "instructions": ("plain", "formal", "reordered"),
    "closing": get_args(Closing),
}


class WordingOptions(PresetOptions):
    """`of` says what is worded otherwise; `tools_too` adds each wording once more with tools; `confidence`
    asks for a stated confidence.
    """

    of: Literal["instructions", "closing"] = "instructions"
    tools_too: bool = False
    confidence: bool = False


def plan(options: WordingOptions, _: Benchmark) -> ArmPlan:
    """The usual wording and the others, each against the first."""
    others = OTHERS[options.of]
    asked = {"confidence": True} if options.confidence else {}
    arms = [options.arm("original", **asked)]
    arms += [options.arm(name, wording=name, **asked) for name in others]
    contrasts = [
        contrast("original", name, f"{name} words", "wording", is_primary=not options.tools_too)
        for name in others
    ]
    if options.tools_too:
        arms.append(options.with_tools("original_tools", **asked))
        arms += [options.with_tools(f"{name}_tools", wording=name, **asked) for name in others]
        contrasts += [
            contrast(name, f"{name}_tools", f"the tools, in {name} words", "tools", is_primary=True)
            for name in ("original", *others)
        ]
        contrasts += [
            contrast("original_tools", f"{name}_tools", f"{name} words, with tools", "wording")
            for name in others
        ]
    return ArmPlan(arms=tuple(arms), contrasts=tuple(contrasts))


wording = Preset(
    name="wording",
    description="Asks the same in other words and in another order: how much of an effect is wording.",
    options=WordingOptions,
    plan=plan,
)
