"""An endpoint that demands its reasoning back scores both arms in full, in every dialect, on every path."""

import copy
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.message import Message
from gnomon.core.model import Reply, Request
from gnomon.core.row import Row
from gnomon.core.trace import Trace
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.catalog import open_model
from gnomon_agents.models.litellm_wire import Exchange, changes
from tests.agents.conformance import chat, litellm_only
from tests.agents.conformance.chat import DIALECTS, SIGNATURE, Chat, thought
from tests.agents.conformance.server import CALLS, ConformanceServer, Dialect, Refusal, conforming

Run = Callable[[dict[str, Any], str], Awaitable[tuple[Row, Trace]]]
FLY: dict[str, Any] = {
    "type": "function",
    "function": {"name": "fly", "description": "d", "parameters": {"type": "object", "properties": {}}},
}
# LiteLLM makes one text of Mistral's chunks: such a model is called directly, unless somebody insists.
NOT_CARRIED = {("mistral", "litellm")}
CARRIED = [
    (dialect, path)
    for dialect in (*DIALECTS, *litellm_only.DIALECTS)
    for path in ("direct", "litellm")
    if hasattr(dialect, path) and (dialect.name, path) not in NOT_CARRIED
]


def model_of(dialect: Any, server: ConformanceServer, path: str, **more: Any) -> dict[str, Any]:
    entry = {"id": getattr(dialect, path), "api_base": server.url, "api_key_env": "CONFORMANCE_KEY"}
    return {**entry, "client": path, "options": dict(dialect.options), **more}


def spec_of(model: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "models": [model],
        "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
        "limits": {"trial_seconds": 60},
        **more,
    }


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_KEY", "a-key-for-the-loopback")


@pytest.mark.parametrize(
    ("dialect", "path"), CARRIED, ids=[f"{dialect.name}-{path}" for dialect, path in CARRIED]
)
async def test_both_arms_are_scored_in_full_where_reasoning_must_come_back(
    dialect: Dialect, path: str, run: Run
) -> None:
    with conforming(dialect) as server:
        raw, _ = await run(spec_of(model_of(dialect, server, path)), "raw")
        tools, trace = await run(spec_of(model_of(dialect, server, path)), "tools")
    assert [refusal.body for refusal in server.refusals] == []
    assert (raw.outcome, raw.score, raw.stop_reason) == ("scored", 1.0, "answered")
    assert (tools.outcome, tools.score, tools.tool_calls) == ("scored", 1.0, sum(CALLS))
    assert (raw.answer, tools.answer) == ("Paris", "Paris")
    if dialect.name not in ("openai", "gemini-openai"):  # those show no words of theirs
        assert thought(0) in trace.replies[0].reasoning


@pytest.mark.parametrize("dialect", [one for one in DIALECTS if one.name not in ("openai", "groq")])
@pytest.mark.parametrize("history", ["auto", "none"])
async def test_the_server_refuses_a_client_that_keeps_role_content_and_calls_alone(
    dialect: Chat, history: str, run: Run
) -> None:
    with conforming(dialect) as server:
        spec = spec_of(model_of(dialect, server, "direct", reasoning_history=history))
        raw, _ = await run(spec, "raw")
        tools, _ = await run(spec, "tools")
    assert raw.score == 1.0
    assert tools.score == (1.0 if history == "auto" else None)
    assert {refusal.status for refusal in server.refusals} == (set() if history == "auto" else {400})


@pytest.mark.parametrize("dialect", [chat.Groq(), chat.Mistral(), chat.Cerebras()])
async def test_a_field_that_a_provider_does_not_know_is_refused(dialect: Chat) -> None:
    with conforming(dialect) as server:
        turn = {"role": "assistant", "content": "", "reasoning_content": "hm"}
        ask = {"role": "user", "content": "?"}
        with pytest.raises(Refusal, match=r"unsupported|not permitted"):
            server.dialect.answer({"messages": [ask, turn]}, {}, "")


async def test_what_litellm_drops_is_flagged_and_named_by_the_row(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat.Mistral, "check", lambda *_: None)  # as it is: it loses the reasoning in silence
    dialect = chat.Mistral()
    with conforming(dialect) as server:
        row, trace = await run(spec_of(model_of(dialect, server, "litellm")), "tools")
        direct, _ = await run(spec_of(model_of(dialect, server, "direct")), "tools")
    assert trace.replies[-1].request_changes == ("reasoning: dropped from 2 of 2 turns",)
    assert (row.flags, direct.flags) == (("adapter:reasoning", "repeated_calls"), ("repeated_calls",))


@pytest.mark.parametrize("path", ["direct", "litellm"])
async def test_reasoning_that_a_provider_does_not_take_back_is_flagged(run: Run, path: str) -> None:
    dialect = chat.Groq()
    with conforming(dialect) as server:
        raw, _ = await run(spec_of(model_of(dialect, server, path)), "raw")
        tools, trace = await run(spec_of(model_of(dialect, server, path)), "tools")
    assert trace.replies[-1].request_changes == ("reasoning: left out of 2 of 2 turns",)
    assert (raw.flags, tools.flags) == ((), ("adapter:reasoning", "repeated_calls"))


@pytest.mark.parametrize("came", [{}, {"reasoning_content": ""}], ids=["nothing", "empty"])
@pytest.mark.parametrize(("dialect", "sent"), [(chat.DeepSeek(), ""), (chat.Kimi(), " ")])
async def test_a_turn_with_calls_has_the_field_that_its_provider_demands_even_if_none_came(
    tmp_path: Path, dialect: Chat, sent: str, came: dict[str, str]
) -> None:
    call: Any = {"id": "call_0_0", "type": "function", "function": {"name": "fly", "arguments": "{}"}}
    turn: Message = {"role": "assistant", "content": None, "tool_calls": [call]}
    if came:
        turn["provider_turn"] = {"dialect": "chat", "body": came}
    answer: Message = {"role": "tool", "tool_call_id": "call_0_0", "content": "{}"}
    with conforming(dialect) as server:
        spec = ModelSpec(**model_of(dialect, server, "direct"))
        with pytest.raises(Exception, match="reasoning"):  # that turn had some
            await ask_once(spec, tmp_path, messages=[{"role": "user", "content": "?"}, turn, answer])
    assert server.requests[0]["messages"][1]["reasoning_content"] == sent


def test_a_turn_that_demands_its_reasoning_refuses_an_empty_one_from_kimi() -> None:
    with pytest.raises(Refusal, match="reasoning_content is missing"):
        chat.Kimi().check({"role": "assistant", "reasoning_content": ""}, 1, 1)


async def test_a_forced_choice_and_a_temperature_that_litellm_changes_are_named(tmp_path: Path) -> None:
    dialect = chat.Kimi()
    with conforming(dialect) as server:
        spec = ModelSpec(**model_of(dialect, server, "litellm", temperature=0.2))
        reply = await ask_once(spec, tmp_path, tool_choice="required")
    assert reply.request_changes == (
        "tool_choice: required → absent",
        "temperature: 0.2 → absent",
        "messages: 1 → 2",
    )


async def test_bounds_that_an_adapter_leaves_out_of_schemas_are_named(tmp_path: Path) -> None:
    dialect = litellm_only.Gemini()
    bounded = copy.deepcopy(FLY)
    bounded["function"]["parameters"]["properties"] = {
        "far": {"type": "number", "exclusiveMinimum": 0},
        "to": {"oneOf": [{"type": "string", "const": "here"}, {"type": "integer"}]},
    }
    with conforming(dialect) as server:
        spec = ModelSpec(**model_of(dialect, server, "litellm"))
        reply = await ask_once(spec, tmp_path, tools=[bounded])
    sent = server.requests[0]["tools"][0]
    declared = (sent.get("functionDeclarations") or sent.get("function_declarations"))[0]["parameters"]
    assert "here" in str(declared["properties"]["to"])
    assert reply.request_changes == ("temperature: unset → 1.0", "schemas: exclusiveMinimum dropped")


@pytest.mark.parametrize("sent", [{"messages": [7]}, {"messages": {}, "tools": 7}, {"messages": [{}]}])
def test_a_request_of_a_shape_that_nobody_has_met_costs_no_trial(sent: dict[str, Any]) -> None:
    exchange = Exchange(sent=sent, received={"choices": [{}]})
    assert changes({"messages": [{"role": "user", "content": "?"}]}, exchange) == (
        "request: in a shape that could not be compared",
    )


BEDROCK_TOOL = {"toolSpec": {"name": "fly", "description": "d", "inputSchema": {"json": {"type": "object"}}}}


@pytest.mark.parametrize(
    "sent",
    [
        {
            "options": {"num_predict": 9, "temperature": 0.5, "top_p": 1.0},
            "tools": [FLY],
            "tool_choice": "required",
        },
        {
            "inferenceConfig": {"maxTokens": 9, "temperature": 0.5, "topP": 1.0},
            "toolConfig": {"tools": [BEDROCK_TOOL], "toolChoice": {"any": {}}},
        },
    ],
    ids=["Ollama", "Bedrock"],
)
def test_a_request_in_a_providers_own_words_names_no_change(sent: dict[str, Any]) -> None:
    asked = {"temperature": 0.5, "top_p": 1.0, "max_tokens": 9, "tools": [FLY], "tool_choice": "required"}
    exchange = Exchange(sent={"messages": [], **sent}, received={"output": {}})
    assert changes({"messages": [], **asked}, exchange) == ()
    fewer = Exchange(sent={"messages": []}, received={"output": {}})
    assert len(changes({"messages": [], **asked}, fewer)) == 5, "what is left out is named all the same"


async def test_a_format_that_litellm_has_kept_by_a_tool_of_its_own_comes_back_as_text(tmp_path: Path) -> None:
    class Formatting(chat.Groq):
        def reply(self, body: dict[str, Any], turn: int) -> dict[str, Any]:
            answer = super().reply(body, turn)
            call = answer["choices"][0]["message"]["tool_calls"][0]
            call["function"]["arguments"] = '{"answer": "Paris"}'
            return answer

    schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
    wanted = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
    with conforming(Formatting()) as server:
        spec = ModelSpec(**model_of(server.dialect, server, "litellm", options={"response_format": wanted}))
        reply = await ask_once(spec, tmp_path, tools=[])
    assert "tools" in server.requests[0]
    assert (reply.text, reply.tool_calls) == ('{"answer": "Paris"}', ())


async def test_a_request_that_goes_out_as_it_was_asked_names_no_change(tmp_path: Path) -> None:
    dialect = chat.Qwen()
    with conforming(dialect) as server:
        for path in ("direct", "litellm"):
            spec = ModelSpec(**model_of(dialect, server, path, temperature=0.2, max_tokens=9))
            assert (await ask_once(spec, tmp_path)).request_changes == ()


async def test_reasoning_and_cached_tokens_are_counted_apart_in_the_row(run: Run) -> None:
    dialect = chat.Qwen()
    with conforming(dialect) as server:
        row, _ = await run(spec_of(model_of(dialect, server, "direct")), "tools")
    turns = len(CALLS) + 1
    assert (row.completion_tokens, row.reasoning_tokens) == (20 * turns, 12 * turns)
    assert (row.prompt_tokens, row.cached_tokens) == (100 * turns, 64 * turns)


@pytest.mark.parametrize("keeps", [True, False])
async def test_a_trace_keeps_the_reasoning_unless_the_spec_says_no(run: Run, keeps: bool) -> None:
    dialect = chat.MiniMax()
    with conforming(dialect) as server:
        spec = spec_of(model_of(dialect, server, "direct"), keep_reasoning=keeps)
        row, trace = await run(spec, "tools")
    assert row.score == 1.0
    assert (thought(0) in str(trace.to_json())) == keeps


async def test_a_turn_goes_back_under_other_ids_with_each_signature_on_its_call(tmp_path: Path) -> None:
    dialect = chat.GeminiOpenAI()
    with conforming(dialect) as server:
        spec = ModelSpec(**model_of(dialect, server, "direct"))
        reply = await ask_once(spec, tmp_path)
        renamed = [{**call, "id": f"renamed_{call['id']}"} for call in reply.tool_calls]
        talk: list[Message] = [{"role": "user", "content": "?"}, reply.message(calls=renamed)]
        with pytest.raises(Exception, match="calls"):
            await ask_once(spec, tmp_path, messages=talk)
    sent = server.requests[-1]["messages"][1]["tool_calls"][0]
    assert sent["id"] == "renamed_call_0_0"
    assert sent["extra_content"] == {"google": {"thought_signature": f"{SIGNATURE}0"}}


@pytest.mark.parametrize(
    ("history", "sent"), [("auto", 3), ("all", 3), ("last", 2), ("none", 0)], ids=lambda value: str(value)
)
async def test_a_history_of_the_last_loop_holds_the_turns_since_the_user_last_spoke(
    tmp_path: Path, history: Any, sent: int
) -> None:
    turn: Message = {
        "role": "assistant",
        "content": "so",
        "provider_turn": {"dialect": "chat", "body": {"reasoning": "hm"}},
    }
    user: Message = {"role": "user", "content": "?"}
    with conforming(Chat()) as server:
        spec = ModelSpec(id="openai/m", api_base=server.url, reasoning_history=history)
        with pytest.raises(Exception, match="calls"):
            await ask_once(spec, tmp_path, messages=[user, turn, user, turn, turn])
    assert sum("reasoning" in message for message in server.requests[0]["messages"]) == sent


async def test_a_turn_of_another_protocol_is_not_sent(tmp_path: Path) -> None:
    turn: Message = {
        "role": "assistant",
        "content": "so",
        "provider_turn": {"dialect": "anthropic", "body": [{"type": "thinking", "thinking": "hm"}]},
    }
    with conforming(Chat()) as server:
        spec = ModelSpec(id="openai/m", api_base=server.url)
        with pytest.raises(Exception, match="calls"):
            await ask_once(spec, tmp_path, messages=[{"role": "user", "content": "?"}, turn])
    assert server.requests[0]["messages"][1] == {"role": "assistant", "content": "so"}


async def test_prefixes_are_marked_where_the_provider_keeps_them_only_then(tmp_path: Path) -> None:
    marks = {}
    for model_id, cache in (
        ("openrouter/anthropic/claude-sonnet-4.5", "auto"),
        ("openrouter/anthropic/claude-sonnet-4.5", "off"),
        ("openrouter/google/gemini-3-pro", "auto"),
    ):
        with conforming(Chat()) as server:
            spec = ModelSpec(id=model_id, api_base=server.url, prompt_cache=cache)
            await ask_once(spec, tmp_path)
            await ask_once(spec, tmp_path, tools=[])
        marks[model_id, cache] = [str(request).count("cache_control") for request in server.requests]
    assert list(marks.values()) == [[1, 0], [0, 0], [0, 0]]


async def ask_once(spec: ModelSpec, folder: Path, **more: Any) -> Reply:
    model = open_model(spec, MediaStore(folder))
    request = {"messages": [{"role": "user", "content": "?"}], "tools": [FLY], "timeout_s": 20.0, **more}
    try:
        return await model.reply(Request(**request))
    finally:
        await model.close()
