"""Arms in words, for somebody who has never seen the spec."""

from collections.abc import Sequence

from gnomon.core.agent import runs_tools
from gnomon.core.arm import Arm
from gnomon.core.sample import SHOWABLE
from gnomon.exchange.run import AGENT

SHOWN = {"media": "pictures and clips", "map": "the map", "camera_data": "camera data"}
ADDED = {"facts": "in words what tools could look up", "oracle": "the true intermediate steps"}
LISTED = 4


def arm_text(
    arm: Arm, *, fitting: Sequence[str] | None = None, offered: tuple[int, int] | None = None
) -> str:
    """What an arm is: who answers, with which tools, and what it does not see. `fitting`: those of its tools
    that the benchmark's samples can serve; `offered`: the least and the most that a trial was offered.

    >>> arm_text(Arm(name="raw", agent="direct"))
    'answers in one go, without tools'
    >>> arm_text(Arm(name="t", agent="react", tools=("bearing", "speed"), show=("map",)))
    'may call 2 tools (bearing, speed), at most 12 times; does not see pictures and clips, camera data'
    """
    if arm.agent == AGENT:
        return "was run elsewhere"
    if not arm.tools:
        text = (
            "answers in one go, without tools"
            if arm.agent == "direct"
            else f"answers without tools ({arm.agent})"
        )
    else:
        tools, names = len(arm.tools), sorted(arm.tools if fitting is None else fitting)
        listed = ", ".join(names) if len(names) <= LISTED else f"{', '.join(names[:LISTED])}, …"
        most = offered or (len(names), len(names))
        many = f"{_of(tools, most)} tool{'s' if tools > 1 else ''} ({listed or 'none fits'})"
        many += "" if most == (tools, tools) else ", those that fit the question"
        text = _with_tools(arm, many)
    hidden = [SHOWN.get(kind, kind) for kind in SHOWABLE if kind not in arm.show]
    added = [ADDED.get(kind, kind) for kind in arm.show if kind not in SHOWABLE]
    text += f"; also reads {', '.join(added)}" if added else ""
    return f"{text}; does not see {', '.join(hidden)}" if hidden else text


def _of(tools: int, offered: tuple[int, int]) -> str:
    """How many tools, and how many of them were offered.

    >>> _of(37, (37, 37)), _of(37, (22, 22)), _of(37, (19, 22))
    ('37', '22 of 37', '19 to 22 of 37')
    """
    if offered == (tools, tools):
        return str(tools)
    least, most = offered
    return f"{most} of {tools}" if least == most else f"{least} to {most} of {tools}"


def _with_tools(arm: Arm, many: str) -> str:
    if not runs_tools(arm) or arm.tool_choice == "none":
        return f"sees {many} but may not call them"
    must = "must" if arm.tool_choice == "required" else "may"
    agent = "" if arm.agent == "react" else f" ({arm.agent})"
    neutral = ", whose results say nothing" if arm.results == "neutral" else ""
    faulty = f", of whose calls some fail on purpose ({arm.faults.kind})" if arm.faults else ""
    return f"{must} call {many}, at most {arm.max_tool_calls} times{neutral}{faulty}{agent}"
