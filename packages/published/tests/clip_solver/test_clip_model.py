"""The reference model on a street that can be worked out by hand.

A straight road runs east, 10 m/s fast. Cameras c0 … c4 stand on it every 100 m, look east and see 20 m of it.
A pixel of theirs is 0.1 m, and x in the picture is east. Camera c9 stands 500 m off the road.
"""

import json

import numpy as np
import pytest
from shapely import LineString

from gnomon.core.agent import AgentContext
from gnomon.core.arm import Arm
from gnomon.core.clock import day_clock
from gnomon.core.trace import Trace
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.reference.model import ReferenceModel
from gnomon_agents.react import react
from gnomon_published.solver.clips.question import span_s
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_tools.geometry.field_of_view import sector
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Camera, Road, Scene

NOON_S = 43200.0
SPEED_MPS, RANGE_M = 10.0, 20.0


def camera(name, x_m, y_m=0.0):
    # Pixel (u, v) lies 0.1 m an u east of the camera and 0.1 m a v south of a line 10 m north of it.
    homography = np.array([[0.1, 0.0, x_m], [0.0, -0.1, y_m + 10.0], [0.0, 0.0, 1.0]])
    return Camera(
        id=name,
        xy_m=(x_m, y_m),
        heading_deg=90.0,
        fov_deg=60.0,
        range_m=RANGE_M,
        field_of_view=sector((x_m, y_m), 90.0, 60.0, RANGE_M),
        homography=homography,
        image_size=(400, 200),
    )


STREET = Scene(
    id="street",
    frame=Frame(),
    kind="outdoor",
    cameras={
        one.id: one for one in [*(camera(f"c{i}", 100.0 * i) for i in range(5)), camera("c9", 200.0, 500.0)]
    },
    roads={
        "west": Road(id="west", line=LineString([(-200, 0), (200, 0)])),
        "east": Road(id="east", line=LineString([(200, 0), (600, 0)])),
        "side": Road(id="side", line=LineString([(200, 0), (200, 600)])),
    },
)


def clip(number, name, start_s, *, target=1, east=True):
    """A passage through the whole of a view, as the guarded prompt writes it."""
    lasts_s = RANGE_M / SPEED_MPS
    lines = [f"Clip {number}: camera {name}, target {target}, {span(start_s, start_s + lasts_s)}"]
    for share in (0.0, 0.5, 1.0):
        along = share if east else 1 - share
        at = day_clock(NOON_S + start_s + share * lasts_s)
        lines.append(f"  {at} box x={200 * along - 5:.1f} y=80.0 w=10.0 h=20.0")
    return "\n".join(lines)


def span(start_s, end_s):
    return f"{day_clock(NOON_S + start_s)}-{day_clock(NOON_S + end_s)}"


def prompt(clips, asked, options):
    listed = "\n".join(f"{letter}. {option}" for letter, option in zip("ABCDEF", options, strict=False))
    texts = ["Map: not available.", *clips, f"Question: {asked}\nOptions:\n{listed}"]
    return [{"role": "user", "content": [{"type": "text", "text": text} for text in texts]}]


async def answer(clips, asked, options, *, names=None, **arm):
    tools = [TOOLS.get(name) for name in (TOOLS.names() if names is None else names)]
    context = AgentContext(
        prompt=prompt(clips, asked, options),
        arm=Arm(name="tools", agent="react", **arm),
        model=ReferenceModel(ModelSpec(id="reference")),
        toolbox=Toolbox(tools, ToolContext(inputs=held(STREET))),
        trace=Trace(),
        seed=0,
    )
    text = await react.answer(context)
    return json.loads(text.splitlines()[-1]), context.trace


def told_s(said):
    return [span_s(told) for told in said["time_duration"]]


PASSED = f"infer which camera the target passed through between (c0, {span(0, 2)}) and (c4, {span(40, 42)})."
APPEARS = f"(c0, {span(0, 2)}) and (c4, {span(40, 42)}), the target passed camera c1, infer the time period."
MOTION = f"(c0, {span(0, 2)}) and (c4, {span(40, 42)}), infer the target's motion state."
QUESTIONS = {
    "passed": ([clip(1, "c0", 0), clip(2, "c4", 40)], PASSED, ["c9", "c2"], "B"),
    "appears": (
        [clip(1, "c0", 0), clip(2, "c4", 40)],
        APPEARS,
        [span(30, 32), span(20, 22), span(10, 12), span(4, 6)],
        "C",
    ),
    "motion": (
        [clip(1, "c0", 0), clip(2, "c4", 40)],
        MOTION,
        ["It moved west at 10 m/s for 380 meters.", "It moved east at 10 m/s for 380 meters."],
        "B",
    ),
    "order": (
        [clip(1, "c2", 20), clip(2, "c0", 0), clip(3, "c1", 10)],
        "infer the correct order in which the target passed through these cameras.",
        ["c0 → c2 → c1", "c1 → c2 → c0", "c0 → c1 → c2", "c2 → c1 → c0"],
        "C",
    ),
    "next": (
        [clip(1, "c2", 20)],
        "which camera will most likely capture the target next?",
        ["c1", "c9", "c3", "c4"],
        "C",
    ),
    "next two": (
        [clip(1, "c1", 10), clip(2, "c2", 20)],
        "predict the next two cameras",
        ["c0", "c4", "c9", "c3"],
        ["D", "B"],
    ),
    "meeting": (
        [clip(1, "c0", 0), clip(2, "c4", 0, target=2, east=False)],
        "predict where these two targets will most likely meet.",
        ["c1", "c3", "c2", "c9"],
        "C",
    ),
}


@pytest.mark.parametrize("name", QUESTIONS)
async def test_with_tools_the_street_is_understood(name):
    clips, asked, options, right = QUESTIONS[name]
    said, trace = await answer(clips, asked, options)
    assert said["answer"] == right
    assert not [step for step in trace.tool_steps if step.error]
    assert 1 <= len(trace.tool_steps) <= 12
    assert all(reply.text for reply in trace.replies), "each turn says why"


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (None, "By c2 the detour is 0 m, the shortest of the options."),
        ([name for name in TOOLS.names() if name != "interpolate"], "By c2 the way is "),
    ],
)
async def test_the_reason_names_the_length_that_was_compared(names, why):
    clips, asked, options, _ = QUESTIONS["passed"]
    _, trace = await answer(clips, asked, options, names=names)
    assert why in trace.replies[-1].text


async def test_the_next_passage_is_timed_to_the_view():
    clips, asked, options, _ = QUESTIONS["next"]
    said, _ = await answer(clips, asked, options)
    assert told_s(said) == [pytest.approx((NOON_S + 30, NOON_S + 32), abs=0.05)]


async def test_two_passages_are_timed_one_after_the_other():
    clips, asked, options, _ = QUESTIONS["next two"]
    said, _ = await answer(clips, asked, options)
    first, second = told_s(said)
    assert first == pytest.approx((NOON_S + 30, NOON_S + 32), abs=0.05)
    assert second == pytest.approx((NOON_S + 40, NOON_S + 42), abs=0.05)


@pytest.mark.parametrize("name", QUESTIONS)
async def test_without_tools_it_still_answers_in_form(name):
    clips, asked, options, right = QUESTIONS[name]
    said, trace = await answer(clips, asked, options, names=())
    assert len(trace.replies) == 1
    assert isinstance(said["answer"], type(right))


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("missing", ["list_cameras", "project_track", "distance", "camera_view", "bearing"])
async def test_with_a_tool_missing_it_goes_on_with_what_is_left(name, missing):
    clips, asked, options, right = QUESTIONS[name]
    rest = [tool for tool in TOOLS.names() if tool != missing]
    said, trace = await answer(clips, asked, options, names=rest)
    assert isinstance(said["answer"], type(right))
    assert missing not in {step.name for step in trace.tool_steps}


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("calls", [0, 1, 3])
async def test_with_few_calls_it_answers_in_time(name, calls):
    clips, asked, options, right = QUESTIONS[name]
    said, trace = await answer(clips, asked, options, max_tool_calls=calls)
    assert isinstance(said["answer"], type(right))
    assert len(trace.tool_steps) <= calls


async def test_it_is_deterministic():
    clips, asked, options, _ = QUESTIONS["meeting"]
    first, second = [(await answer(clips, asked, options))[0] for _ in range(2)]
    assert first == second
