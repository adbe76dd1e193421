"""The same questions in four wordings: how much of a score, and of the gain of tools, is wording.

`original`, `plain`, `formal` and `reordered`, each without tools; with `tools_too: true` each with tools as
well. Question, options and the form of the answer are the same in all of them. The report's section on
wording says how far scores spread beyond what chance alone gives ([wording](wording.md)).
"""

from gnomon.core.arm import Wording
from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast

OTHERS: tuple[Wording, ...] = ("plain", "formal", "reordered")


class WordingOptions(PresetOptions):
    """`tools_too` adds each wording once more with tools; `confidence` asks for a stated confidence."""

    tools_too: bool = False
    confidence: bool = False


def plan(options: WordingOptions, _: Benchmark) -> ArmPlan:
    """The published wording and three others, each against the first."""
    asked = {"confidence": True} if options.confidence else {}
    arms = [options.arm("original", **asked)]
    arms += [options.arm(name, wording=name, **asked) for name in OTHERS]
    contrasts = [
        contrast("original", name, f"{name} words", "wording", is_primary=not options.tools_too)
        for name in OTHERS
    ]
    if options.tools_too:
        arms.append(options.with_tools("original_tools", **asked))
        arms += [options.with_tools(f"{name}_tools", wording=name, **asked) for name in OTHERS]
        contrasts += [
            contrast(name, f"{name}_tools", f"the tools, in {name} words", "tools", is_primary=True)
            for name in ("original", *OTHERS)
        ]
        contrasts += [
            contrast("original_tools", f"{name}_tools", f"{name} words, with tools", "wording")
            for name in OTHERS
        ]
    return ArmPlan(arms=tuple(arms), contrasts=tuple(contrasts))


wording = Preset(
    name="wording",
    description="Asks the same in other words and in another order: how much of an effect is wording.",
    options=WordingOptions,
    plan=plan,
)
