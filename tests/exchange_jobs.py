"""A small job with all that a trace can hold, to be written in the formats of others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gnomon.core.question_view import Option, QuestionView, ShownPicture
from gnomon.core.row import Row
from gnomon.core.sample import ImageRef, SampleRef
from gnomon.core.score import Outcome
from gnomon.core.trace import NoteStep, ReplyStep, ToolStep, Trace
from gnomon.exchange.job_export import ExportedJob
from gnomon.spec.job_spec import JobSpec

PNG = bytes.fromhex(  # one white pixel
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8ffff3f0005fe02fe0def46b80000000049454e44ae426082"
)
MAP, DRAWN = "ab" * 32, "cd" * 32
ROW = Row(
    job_id="j_1",
    trial_id="t_1",
    benchmark="worlds",
    task="GeoLocation",
    cell="outdoor.GL",
    sample_id="w/1",
    cluster="town",
    model="small",
    arm="tools",
    repeat=0,
    outcome=Outcome.SCORED,
    stop_reason="answered",
    score=1.0,
    metrics={"MCQacc": 1.0},
    answer="B",
    flags=("adapter:dropped seed",),
    model_calls=3,
    tool_calls=3,
    tool_errors=1,
    tools_used={"speed": {"calls": 3, "bad_arguments": 0, "errors": 1}},
    prompt_tokens=300,
    completion_tokens=30,
    cached_tokens=100,
    reasoning_tokens=7,
    usd=0.02,
    wall_s=3.5,
    tools_offered=2,
)
ROWS = (
    ROW,
    replace(ROW, trial_id="t_2", arm="raw", score=0.0, tool_calls=0, tool_errors=0, tools_used={}, usd=None),
    replace(
        ROW,
        trial_id="t_3",
        sample_id="w2",
        outcome=Outcome.INFRA_MISSING,
        score=None,
        answer=None,
        stop_reason="provider:timeout",
        error="no reply",
    ),
    replace(
        ROW,
        trial_id="t_4",
        arm="raw",
        sample_id="w2",
        outcome=Outcome.MODEL_FAILED,
        score=0.0,
        answer=None,
        stop_reason="unreadable",
        prompt_tokens=None,
        completion_tokens=None,
        cached_tokens=None,
        reasoning_tokens=None,
    ),
)
PROMPT: list[Any] = [
    {"role": "system", "content": "Answer with a letter."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "Which way?"},
            {"type": "image", "sha256": MAP, "media_type": "image/png"},
            {"type": "video", "sha256": "ef" * 32, "media_type": "video/mp4", "seconds": 2.5},
        ],
    },
    {"role": "assistant", "content": "(no answer)"},
    {"role": "user", "content": "And now?"},
]


def call(call_id: str, arguments: str, name: str = "speed") -> Any:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def reply(text: str, *calls: Any, **more: Any) -> ReplyStep:
    known: dict[str, Any] = {
        "finish_reason": "tool_calls" if calls else "stop",
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "usd": 0.01,
        "cached": False,
        "wall_s": 0.5,
        "tries": 1,
    }
    return ReplyStep(text=text, tool_calls=calls, **(known | more))


def result(arguments: str, said: str, **more: Any) -> ToolStep:
    known: dict[str, Any] = {"error": None, "wall_s": 0.25}
    return ToolStep(name="speed", arguments=arguments, observation=said, **(known | more))


ODD = '{"distance_m": 105,"seconds": 75}'  # without the spaces that a writer of JSON would add


def full_trace() -> dict[str, Any]:
    """Calls side by side, notes between results, arguments that are no JSON, ids that come twice, a call
    that was not run, a tool that the agent called by itself, pictures, a video, reasoning.
    """
    trace = Trace(prompt=PROMPT, response="B")
    for step in (
        NoteStep(text="waited"),
        reply("", call("c1", ODD), call("c1", '{"a": 1}'), reasoning="hm", reasoning_tokens=7, tries=2),
        result(ODD, "1.4 m/s", pictures=(DRAWN,)),
        NoteStep(text="between"),
        result('{"a": 1}', "no such argument", error="bad_arguments", injected="explicit"),
        reply("look", call("", "not json"), flags=("reply_cut",), cached=True, usd=None),
        result("not json", "", error="bad_arguments"),
        ToolStep(name="plan", arguments="{}", observation="a plan", error=None, wall_s=0.0),
        reply("B", call("c9", "{}", "other"), request_changes=("seed",), cached_tokens=3),
    ):
        trace.add(step)
    plain = trace.to_json()
    return {**plain, "steps": [_listed(step) for step in plain["steps"]]}


def _listed(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step as a store gives it back."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in step.items()}


def plain_trace() -> dict[str, Any]:
    trace = Trace(prompt=[{"role": "user", "content": "Which way?"}], response="A")
    trace.add(reply("A", usd=None, prompt_tokens=None, completion_tokens=None))
    plain = trace.to_json()
    return {**plain, "steps": [_listed(step) for step in plain["steps"]]}


TRACES: Mapping[str, Any] = {"t_1": full_trace(), "t_2": plain_trace(), "t_3": None, "t_4": plain_trace()}
SPEC = JobSpec.model_validate(
    {
        "name": "ways",
        "benchmark": "worlds",
        "models": [{"id": "openai/small", "name": "small", "temperature": 0.5}],
        "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": ["speed"]}],
    }
)
VIEW = QuestionView(
    question="Which way?",
    options=(Option(letter="A", text="left"), Option(letter="B", text="up", right="right")),
    truth_text="B. up",
    pictures=(
        ShownPicture(
            image=ImageRef(sha256=MAP, media_type="image/png", width=1, height=1), caption="Picture 1 of 1"
        ),
    ),
)
REPORT = {
    "arms": [
        {
            "model": "small",
            "arm": arm,
            "n": 2,
            "aggregate": mean,
            "aggregate_ci95": [0.0, 1.0],
            "by_task": {"outdoor.GL": {"n": 2, "mean": mean, "ci95": None}},
        }
        for arm, mean in (("raw", 0.0), ("tools", 1.0))
    ]
}


def small_job(
    rows: Sequence[Row] = ROWS, *, with_media: bool = False, view: QuestionView | None = VIEW
) -> ExportedJob:
    """The job of these rows."""

    def chosen(model: str | None, arm: str | None) -> Iterator[Row]:
        return (row for row in rows if model in (None, row.model) and arm in (None, row.arm))

    refs = {
        row.sample_id: SampleRef(sample_id=row.sample_id, task=row.task, cell=row.cell, cluster=row.cluster)
        for row in rows
    }
    return ExportedJob(
        job_id="j_1",
        spec=SPEC,
        created="2026-11-20T10:00:00+00:00",
        started="2026-11-20T10:00:05+00:00",
        version="0.1.0",
        rows=chosen,
        trace=TRACES.get,
        refs=lambda: list(refs.values()),
        question=lambda _sample_id, _arm: view,
        picture=lambda sha256: PNG if sha256 in (MAP, DRAWN) else None,
        report=lambda: REPORT,
        with_media=with_media,
    )
