"""The reference model on questions about places: the same rules on facts and on tool results."""

import asyncio
import json
from pathlib import Path

import pytest

from gnomon.core.benchmark import PromptProtocol, SampleSet
from gnomon.core.message import Message
from gnomon.core.model import Request
from gnomon.core.sample import Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.reference.model import ReferenceModel
from gnomon_published.benchmarks.mapeval import mapeval
from gnomon_published.map_record.record import MapRecord
from gnomon_published.solver.map_words import clock_minutes, is_open, mentions, open_spans, spans_in
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from tests.published_maps import ROWS, written

MAP_TOOLS = [tool for tool in TOOLS if tool.needs is MapRecord]


@pytest.fixture
def made_up(tmp_path: Path) -> Path:
    """A folder with the made-up file."""
    return written(tmp_path)


def opened(folder: Path, protocol: PromptProtocol = "guarded") -> SampleSet:
    return mapeval.open(data=folder, select=Select(), protocol=protocol, media=MediaStore(folder / "media"))


def asked(sample: Sample, *, facts: bool = False, tools: bool = False) -> tuple[str, int]:
    """The reply, and the number of calls before it."""
    model = ReferenceModel(ModelSpec(id="reference"))
    toolbox = Toolbox(MAP_TOOLS if tools else [], ToolContext(inputs=held(sample.find(MapRecord))))
    messages: list[Message] = sample.messages(("facts",) if facts else ())
    for calls in range(13):
        reply = asyncio.run(model.reply(Request(messages=messages, tools=toolbox.schemas)))
        if not reply.tool_calls:
            return reply.text, calls
        messages.append({"role": "assistant", "content": reply.text, "tool_calls": list(reply.tool_calls)})
        for call in reply.tool_calls:
            seen = toolbox.call(call["function"]["name"], call["function"]["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": seen.content})
    raise AssertionError("it never answers")


@pytest.mark.parametrize("protocol", ["guarded", "official"])
@pytest.mark.parametrize("sample_id", [str(row["id"]) for row in ROWS])
def test_each_kind_is_answered_alike_from_facts_and_from_tools(
    made_up: Path, sample_id: str, protocol: PromptProtocol
) -> None:
    sample = opened(made_up, protocol).get(sample_id)
    told, no_calls = asked(sample, facts=True)
    fetched, turns = asked(sample, tools=True)
    assert told == fetched
    assert no_calls == 0 < turns
    assert mapeval.score(sample, told, scoring="strict").value == 1.0
    if protocol == "official":
        assert mapeval.score(sample, told, scoring="official").value == 1.0


def test_without_evidence_it_guesses_and_never_from_the_key(tmp_path: Path) -> None:
    replies = []
    for correct in (0, 1, -1):
        rows = [{**ROWS[0], "answer": {**ROWS[0]["answer"], "correct": correct}}]
        (tmp_path / "dataset.json").write_text(json.dumps(rows))
        sample = opened(tmp_path).get("1")
        replies.append((asked(sample), asked(sample, facts=True), asked(sample, tools=True)))
    assert replies[0] == replies[1] == replies[2]
    assert "guess" in replies[0][0][0]


def test_hours_reach_past_midnight_and_days_may_be_closed() -> None:
    hours = {"Friday": open_spans("6:00 PM - 2:00 AM") or [], "Saturday": open_spans("Closed") or []}
    assert is_open(hours, "Saturday", 60) is True
    assert is_open(hours, "Saturday", 180) is False
    assert is_open(hours, "Friday", None) is True
    assert is_open(hours, "Monday", None) is None


def test_times_lengths_and_names_are_read_from_words() -> None:
    assert clock_minutes("leave at 8 pm, not 8.15 a.m.") == [1200, 495]
    assert [minutes for *_, minutes in spans_in("for 1 hour 30 minutes, then half an hour")] == [90.0, 30.0]
    names = ["Amberlow Museum", "Brine Castle Hotel"]
    assert [hit.name for hit in mentions("from brine castle to Amberlow Museum", names)] == names[::-1]


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.soak)])
def test_it_is_right_on_three_quarters_of_the_published_questions(mapeval_dir: Path, every: int) -> None:
    samples = opened(mapeval_dir)
    right, refs = {"facts": 0.0, "tools": 0.0}, samples.refs[::every]
    for ref in refs:
        sample = samples.get(ref.sample_id)
        right["facts"] += mapeval.score(sample, asked(sample, facts=True)[0], scoring="strict").value or 0.0
        right["tools"] += mapeval.score(sample, asked(sample, tools=True)[0], scoring="strict").value or 0.0
    assert right["tools"] >= 0.75 * len(refs)
    assert right["facts"] == right["tools"]
