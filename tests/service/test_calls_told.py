"""What is told of calls in a text is the same, word for word, as a trial runs and when its trace is read."""

import io
from dataclasses import asdict

import pytest
from rich.console import Console

from gnomon.core.trace import ReplyStep, Trace
from gnomon.traces.turns import read_turns
from gnomon_workbench.trace_text import print_step, print_trace


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("call_in_text:hermes",), "call in text (hermes): not run; tool_calls: text runs such calls"),
        (("call_in_text:hermes", "read_from_text"), "read from text (hermes)"),
    ],
)
def test_a_call_in_a_text_is_told_in_the_same_words(flags: tuple[str, ...], words: str) -> None:
    step = ReplyStep(
        text="<tool_call>",
        tool_calls=(),
        finish_reason="stop",
        prompt_tokens=1,
        completion_tokens=1,
        usd=None,
        cached=False,
        wall_s=0.1,
        tries=1,
        flags=flags,
    )
    live, read = (Console(file=io.StringIO(), highlight=False) for _ in range(2))
    print_step(1, asdict(step), live, full=True)
    trace = Trace(steps=[step]).to_json()
    names = ("sample_id", "arm", "model", "trial_id", "job_id", "cell")
    print_trace({**dict.fromkeys(names, "x"), "trace": trace}, read)
    for console in (live, read):
        assert isinstance(console.file, io.StringIO)
        assert words in console.file.getvalue()
    assert read_turns(trace)[0].flags == flags
