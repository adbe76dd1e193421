"""The tool calls of a stored trace as sketches: whatever the trace holds, each call has its line."""

import json
from dataclasses import replace

import pytest

from gnomon.core.sample import Sample, SampleRef
from gnomon.core.trace import NoteStep, ReplyStep, ToolStep, Trace
from gnomon.drawing.trace_sketches import LONGEST, step_sketches
from gnomon_tools.core.inputs import held
from gnomon_tools.core.sketch import Dot, Sketch
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Camera, Scene

SCENE = Scene(
    id="s",
    frame=Frame(),
    kind="outdoor",
    cameras={name: Camera(id=name, xy_m=(x_m, 0.0)) for name, x_m in (("c1", 0.0), ("c2", 30.0))},
)
SAMPLE = Sample(
    ref=SampleRef(sample_id="q", task="t", cell="c", cluster="k"), parts=(), target={}, inputs=held(SCENE)
)
ARGUMENTS = json.dumps({"start": {"camera": "c1"}, "end": {"camera": "c2"}})


def trace_of(*steps):
    """The steps as they are stored and read again."""
    return json.loads(json.dumps(Trace(steps=list(steps)).to_json()))


def call(name="distance", arguments=ARGUMENTS, observation="{}", error=None):
    return ToolStep(name=name, arguments=arguments, observation=observation, error=error, wall_s=0.0)


def real_call():
    tools = Toolbox([TOOLS.get("distance")], ToolContext(inputs=held(SCENE)))
    return call(observation=tools.call("distance", ARGUMENTS).content)


@pytest.fixture
def sketching(monkeypatch):
    """Gives the tool `distance` a sketch function of the test's own."""

    def use(function):
        tool = replace(TOOLS.get("distance"), sketch=function)
        monkeypatch.setattr(TOOLS, "get", lambda name: tool)

    return use


def test_a_call_is_sketched_from_its_checked_arguments_and_its_recorded_result(sketching):
    def sketch(context, args, result):
        camera = context.scene.cameras[args.end.camera]
        return Sketch(summary=f"{result['straight_m']:.0f} m", marks=(Dot(at=camera.xy_m),))

    sketching(sketch)
    (step,) = step_sketches(SAMPLE, trace_of(real_call()))
    assert (step.step, step.tool, step.summary, step.error) == (0, "distance", "30 m", None)
    assert step.sketch.marks == (Dot(at=(30.0, 0.0)),)


def test_steps_are_counted_with_those_that_are_no_calls():
    reply = ReplyStep(
        text="Hm.",
        tool_calls=(),
        finish_reason="stop",
        prompt_tokens=1,
        completion_tokens=1,
        usd=0.0,
        cached=False,
        wall_s=0.0,
        tries=1,
    )
    steps = step_sketches(SAMPLE, trace_of(reply, real_call(), NoteStep(text="retried"), real_call()))
    assert [step.step for step in steps] == [1, 3]


def test_without_a_summary_of_its_own_a_call_is_described_by_its_arguments_and_result(sketching):
    sketching(lambda context, args, result: Sketch(marks=(Dot(at=(0.0, 0.0)),)))
    (step,) = step_sketches(SAMPLE, trace_of(call(observation='{"distance_m": 30.0, "legs": [1, 2]}')))
    assert step.summary == "start c1, end c2 → distance m 30, 2 legs"
    assert step.sketch.marks


def test_a_failed_call_says_why():
    failed = call(observation='{"error": "There is no camera \'c9\'."}', error="tool_error")
    (step,) = step_sketches(SAMPLE, trace_of(failed))
    assert (step.summary, step.error) == ("failed: There is no camera 'c9'.", "tool_error")
    assert not step.sketch


def boom(context, args, result):
    raise ZeroDivisionError


@pytest.mark.parametrize(
    "step",
    [
        call(name="a_tool_of_old"),
        call(arguments="{not JSON"),
        call(arguments="[1]"),
        call(arguments='{"start": 5}'),
        call(arguments=""),
        call(observation="not JSON"),
        call(observation="[" * 100_000),
        call(observation="", error="tool_crash"),
    ],
    ids=["gone", "unreadable", "no-object", "unfit", "none", "result", "deep", "crash"],
)
def test_a_call_that_cannot_be_sketched_has_its_line_and_no_sketch(step):
    (sketch,) = step_sketches(SAMPLE, trace_of(step))
    assert not sketch.sketch
    assert 0 < len(sketch.summary) <= LONGEST


def test_a_sketch_function_that_raises_costs_its_sketch_alone(sketching):
    sketching(boom)
    steps = step_sketches(SAMPLE, trace_of(real_call(), real_call()))
    assert [bool(step.sketch) for step in steps] == [False, False]
    assert all("→" in step.summary for step in steps)


def test_a_summary_is_one_line(sketching):
    sketching(lambda context, args, result: Sketch(summary="far\n away " * 100))
    (step,) = step_sketches(SAMPLE, trace_of(real_call()))
    assert "\n" not in step.summary
    assert len(step.summary) <= LONGEST
    assert step.summary.endswith("…")


@pytest.mark.parametrize("trace", [{}, {"steps": None}, {"steps": [None, 3, {"kind": "tool"}]}])
def test_odd_traces_raise_nothing(trace):
    assert all(not step.sketch for step in step_sketches(SAMPLE, trace))
