"""Replays a stored trial up to one call of a tool, with another result in its place.

What follows that call is live: the model reads the result and goes on. Which call it is depends on the
trial's seed alone, so that all arms of a sample's repeat change the same one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gnomon.conditions.results import PLACEBO
from gnomon.core.arm import Arm, Faults, ReplayedResult
from gnomon.core.errors import DataError
from gnomon.core.ids import stable_seed
from gnomon.core.row import Row
from gnomon.core.sample import Sample
from gnomon.trials.condition import Situation, toolbox_of
from gnomon.trials.dealt_text import stretched
from gnomon.trials.recorded_steps import RecordedSteps, recorded_until
from gnomon_tools.core.tool import MediaSource, Tool

TOOL, CALL, CALLS, CHANGED = "replayed_tool", "replayed_call", "replayed_calls", "replayed_change"
ANSWER = "replayed_answer"  # the stored trial's own
METRICS = frozenset((TOOL, CALL, CALLS, CHANGED, ANSWER))
Donor = Callable[[str], str | None]  # what a tool returned on another sample


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedCall:
    """The call whose result is changed: its step in the trace, and its number among the calls, from 1."""

    step: Mapping[str, Any]
    at: int  # the step's place in the trace
    number: int
    calls: int

    @property
    def tool(self) -> str:
        return str(self.step["name"])


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedReplay:
    """The steps that a trial is given, and what its row says of them."""

    steps: RecordedSteps
    metrics: Mapping[str, float | str]


def can_replay(row: Row, tool: str | None = None) -> bool:
    """Whether a call of a tool, of this one if it is named, returned a result in the trial."""
    counts = [row.tools_used.get(tool, {})] if tool else list(row.tools_used.values())
    return row.score is not None and sum(used.get("calls", 0) - used.get("errors", 0) for used in counts) > 0


def returned_text(step: Mapping[str, Any], tool: str | None = None) -> bool:
    """Whether a step of a trace is a call, of this tool if it is named, that returned text alone."""
    is_call = step.get("kind") == "tool" and tool in (None, step.get("name"))
    return is_call and step.get("error") is None and not step.get("pictures")


def choose_call(trace: Mapping[str, Any], *, seed: int, tool: str | None = None) -> ReplayedCall:
    """One of the calls that returned text, of this tool if it is named.

    Raises:
        DataError: there is none.
    """
    steps = trace.get("steps") or ()
    calls = [(at, step) for at, step in enumerate(steps) if step.get("kind") == "tool"]
    chosen = [
        (number, at, step) for number, (at, step) in enumerate(calls, start=1) if returned_text(step, tool)
    ]
    if not chosen:
        raise DataError("no call of the stored trial returned text", field="replay")
    number, at, step = chosen[stable_seed("replay", seed) % len(chosen)]
    return ReplayedCall(step=step, at=at, number=number, calls=len(calls))


def prepare_replay(
    trace: Mapping[str, Any],
    call: ReplayedCall,
    *,
    sample: Sample,
    arm: Arm,
    tools: tuple[Tool[Any], ...],
    media: MediaSource,
    seed: int,
    donor: Donor,
) -> PreparedReplay:
    """The stored steps up to the call, whose result is as the arm's `replay` says. `tools` are the arm's.

    Raises:
        DataError: there is no such result.
        ToolOutage: the tool's server, or its disk, has failed.
    """
    if arm.replay is None:
        raise ValueError(f"the arm {arm.name} replays nothing")
    recorded = str(call.step["observation"])
    if arm.replay.result in ("truth", "noise"):
        result = _run_again(call, sample=sample, arm=arm, tools=tools, media=media, seed=seed)
    else:
        result = _result(arm.replay.result, call, donor)
    return PreparedReplay(
        steps=recorded_until(trace, call.at + 1, result=None if result == recorded else result),
        metrics={
            TOOL: call.tool,
            CALL: float(call.number),
            CALLS: float(call.calls),
            CHANGED: float(result != recorded),
        },
    )


def _result(kind: ReplayedResult, call: ReplayedCall, donor: Donor) -> str:
    if kind == "recorded":
        return str(call.step["observation"])
    if kind == "nothing":
        return PLACEBO
    other = donor(call.tool)
    if other is None:
        raise DataError(f"no other sample has a result of {call.tool}", field="replay")
    return other


def _run_again(
    call: ReplayedCall,
    *,
    sample: Sample,
    arm: Arm,
    tools: tuple[Tool[Any], ...],
    media: MediaSource,
    seed: int,
) -> str:
    """What the call returns on its own sample: wrong where the arm's result is `noise`, else true. A wrong
    one of a server's tool is made of what was recorded, and calls no server.
    """
    is_wrong = arm.replay is not None and arm.replay.result == "noise"
    if is_wrong and any(tool.is_foreign and tool.name == call.tool for tool in tools):
        return stretched(str(call.step["observation"]))
    faults = Faults(kind="silent", rate=1.0) if is_wrong else None
    sound = arm.model_copy(update={"results": "live", "faults": faults})
    run = toolbox_of(sample, Situation.of(sound, media=media, seed=seed), tools=tools)
    observation = run.call(call.tool, str(call.step["arguments"]))
    if observation.error is not None:
        raise DataError(f"{call.tool} cannot be run again: {observation.error}", field="replay")
    return observation.content


def cost_after(trace: Mapping[str, Any], call: ReplayedCall) -> Sequence[Mapping[str, Any]]:
    """The replies of the stored trial that came after the call: what going on from there cost then."""
    return [step for step in (trace.get("steps") or ())[call.at + 1 :] if step.get("kind") == "reply"]
