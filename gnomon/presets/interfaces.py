"""Has the same tools called in turns, in text and in code: how much depends on the interface.

`calls` uses [`react`](agents.md#react), `text` [`text-react`](agents.md#text-react), `code`
[`code`](agents.md#code) ([how it runs](code-as-action.md)); `python` may write code without tools. The first
contrasts compare text and code with calls. `max_turns` bounds the blocks of code.
"""

from pydantic import field_validator

from gnomon.core.agent import calls_in_words
from gnomon.core.arm import Arm
from gnomon.core.benchmark import Benchmark
from gnomon.core.outside_agent import AnyAgent
from gnomon.spec.preset import ArmPlan, Preset, PresetOptions, contrast


class InterfacesOptions(PresetOptions):
    """`agent` is that of the arms `raw` and `calls`: it must be sent schemas."""

    @field_validator("agent")
    @classmethod
    def _is_sent_schemas(cls, agent: AnyAgent) -> AnyAgent:
        if calls_in_words(Arm(name="calls", agent=agent)):
            raise ValueError(f"{agent!r} is told of tools in words, as other arms are; allowed: plan, react")
        return agent


def plan(options: InterfacesOptions, _: Benchmark) -> ArmPlan:
    """No tools, three ways to call them, and code without them."""
    arms = (
        options.arm("raw"),
        options.with_tools("calls"),
        options.with_tools("text", agent="text-react"),
        options.with_tools("code", agent="code"),
        options.arm("python", agent="code"),
    )
    contrasts = (
        contrast("calls", "code", "calls in code instead of in turns", "agent", is_primary=True),
        contrast("calls", "text", "calls in text instead of in turns", "agent", is_primary=True),
        contrast("text", "code", "calls in code instead of in text", "agent"),
        contrast("raw", "calls", "the tools, called in turns", "tools"),
        contrast("raw", "python", "Python without tools", "agent"),
        contrast("python", "code", "the tools, called in code", "tools"),
    )
    return ArmPlan(arms=arms, contrasts=contrasts)


interfaces = Preset(
    name="interfaces",
    description="Has the same tools called in turns, in text and in code: how much depends on the interface.",
    options=InterfacesOptions,
    plan=plan,
)
