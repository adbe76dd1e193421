"""Puts neutral results, or those of another sample, in place of what tools return.

Both are placebos: calling costs the same, and nothing is learned of the question. A reply that says that
results do not fit is flagged, under every arm of a job with the foreign ones.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from gnomon.core.arm import Arm
from gnomon.core.sample import Sample
from gnomon.core.trace import ReplyStep, ToolStep, Trace
from gnomon.trials.blind_placebo import FALLBACKS, BlindPlacebo
from gnomon.trials.condition import Condition, Situation
from gnomon.trials.donors import Donors
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext
from gnomon_tools.core.toolbox import Observation, Toolbox

PLACEBO = json.dumps({"result": None, "note": "The call was received. It says nothing about this question."})
DOUBTS_RESULTS = "doubts_results"  # flag: a reply says that results of tools do not fit
_RESULTS = r"(?:tools?|results?|outputs?|coordinates?|positions?|measurements?|distances?|data)"
_UNFIT = (
    r"(?:(?:do|does|did)(?: not|n['’]t) (?:fit|match|agree|correspond|make sense|belong)"
    r"|(?:is|are|was|were|seems?|looks?|appears?)(?: to be)? (?:\w+ )?"
    r"(?:inconsistent|implausible|impossible|contradictory|unreliable|wrong|incorrect|mismatched)"
    r"|contradicts?|(?:from|of|about) (?:a different|another|the wrong) (?:scene|place|map))"
)
DOUBTS = re.compile(rf"\b{_RESULTS}\b[^.\n]{{0,60}}?\b{_UNFIT}", re.IGNORECASE)


class PlaceboToolbox(Toolbox):
    """Calls are read and checked as usual, so that calling costs the same; results say nothing."""

    def observe(self, tool: Tool[Any], args: ToolArgs, context: ToolContext | None) -> Observation:  # noqa: ARG002
        return Observation(content=PLACEBO)


class ResultsCondition(Condition):
    """Results that say nothing, or are about another sample."""

    name = "results"
    description = "puts neutral results, or those of another sample, in place of the tools' own"
    order = 10
    looks_at_all_arms = True

    def is_of(self, arm: Arm) -> bool:
        return arm.results != "live"

    def needs_donors(self, arm: Arm) -> bool:
        return arm.results == "other_scene"

    def on_toolbox(self, toolbox: Toolbox, sample: Sample, now: Situation) -> Toolbox:
        if now.arm.results == "neutral":
            return PlaceboToolbox(toolbox.tools, toolbox.context)
        donors = now.donors or Donors(sample, None, seed=now.seed)
        return BlindPlacebo(toolbox.tools, toolbox.context, donors=donors, seed=now.seed, neutral=PLACEBO)

    def flags(self, trace: Trace, now: Situation) -> Iterator[str]:
        """What stood in for other scenes, and whether a reply says that results do not fit."""
        kinds = {step.injected for step in trace.tool_steps if step.injected}
        yield from (f"placebo:{kind}" for kind in FALLBACKS if kind in kinds)
        if any(arm.results == "other_scene" for arm in now.arms) and _doubts(trace):
            yield DOUBTS_RESULTS


def _doubts(trace: Trace) -> bool:
    """Whether a reply after a call says that results do not fit."""
    called = False
    for step in trace.steps:
        called = called or isinstance(step, ToolStep)
        if called and isinstance(step, ReplyStep) and DOUBTS.search(f"{step.text}\n{step.reasoning}"):
            return True
    return False


results = ResultsCondition()
