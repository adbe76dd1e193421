"""Trials of a model that writes calls as text: flagged alike on every path, run where its entry says so."""

import json

import pytest

from gnomon.core.reply_state import ReplyState
from gnomon.trials.recorded_steps import recorded_until

ARGUMENTS = {"distance_m": 6, "seconds": 2}
CALL = {"name": "speed", "arguments": ARGUMENTS}
HERMES = f"I work it out.\n<tool_call>\n{json.dumps(CALL)}\n</tool_call>"
FORMS = {
    "hermes": HERMES,
    "fenced_json": f"```json\n{json.dumps(CALL)}\n```",
    "bare_json": json.dumps(CALL),
    "mistral": f"[TOOL_CALLS] [{json.dumps(CALL)}]",
    "llama": f"<function=speed>{json.dumps(ARGUMENTS)}</function>",
    "pythonic": "[speed(distance_m=6, seconds=2)]",
    "invoke_xml": '<invoke name="speed"><parameter name="distance_m">6</parameter>'
    '<parameter name="seconds">2</parameter></invoke>',
}
CLIENTS = ["direct", "litellm"]


def spec(provider, mode="native", client="direct", **arm):
    tools = {"name": "tools", "agent": "react", "tools": ["speed"], "max_tool_calls": 3, **arm}
    return {
        "models": [
            {"id": "openai/m", "api_base": provider.url, "client": client, "tool_calls": mode},
        ],
        "arms": [tools],
        "limits": {"trial_seconds": 120},  # LiteLLM takes long to import
    }


def native(call_id="a", **arguments):
    function = {"name": "speed", "arguments": json.dumps(arguments or ARGUMENTS)}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("form", FORMS)
async def test_native_flags_a_call_in_text_and_does_not_run_it(provider, run, client, form):
    provider.says(FORMS[form])
    row, trace = await run(spec(provider, client=client), "tools")
    assert [flag for flag in row.flags if "text" in flag] == [f"call_in_text:{form}"]
    assert (row.tool_calls, row.model_calls, row.reply_state == ReplyState.READ) == (0, 1, form == "hermes")
    assert trace.replies[0].text == FORMS[form]


KNOWN_BY_NAME = {  # only as the name is that of a tool on offer
    "own_keys": json.dumps({"tool": "speed", "args": ARGUMENTS}),
    "python_fence": "```python\nspeed(distance_m=6, seconds=2)\n```",
    "python": "speed(distance_m=6, seconds=2)",
}


@pytest.mark.parametrize("agent", ["react", "text-react"])
@pytest.mark.parametrize("form", KNOWN_BY_NAME)
async def test_a_call_that_only_its_name_shows_is_one_in_the_state_as_well(provider, run, form, agent):
    provider.says(KNOWN_BY_NAME[form])
    row, _ = await run(spec(provider, agent=agent), "tools")
    assert row.reply_state == ReplyState.CALL_IN_TEXT


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("mode", ["text", "auto"])
@pytest.mark.parametrize("form", FORMS)
async def test_text_and_auto_run_it_and_send_sound_turns_back(provider, run, client, mode, form):
    provider.says(FORMS[form])
    provider.says("Paris")
    row, trace = await run(spec(provider, mode, client), "tools")
    assert (row.score, row.tool_calls, row.tool_errors, row.reply_state) == (1.0, 1, 0, "read")
    assert [flag for flag in row.flags if "text" in flag] == [f"call_in_text:{form}", "read_from_text"]
    assert json.loads(trace.tool_steps[0].arguments) == ARGUMENTS
    assert trace.replies[0].text == FORMS[form]
    asked, called, answered = provider.requests[1]["messages"]
    assert asked["role"] == "user"
    assert (called.get("content") or "") == ("I work it out." if form == "hermes" else "")
    (call,) = called["tool_calls"]
    assert (call["id"], call["function"]["name"]) == ("text00000", "speed")
    assert json.loads(call["function"]["arguments"]) == ARGUMENTS
    assert (answered["role"], answered["tool_call_id"]) == ("tool", "text00000")


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(("mode", "calls"), [("auto", 1), ("text", 2)])
async def test_auto_reads_text_only_until_the_model_calls_natively(provider, run, client, mode, calls):
    provider.says(native(), finish_reason="tool_calls")
    provider.says(HERMES)
    provider.says("Paris")
    row, _ = await run(spec(provider, mode, client), "tools")
    assert row.tool_calls == calls
    assert "call_in_text:hermes" in row.flags
    assert ("read_from_text" in row.flags) == (mode == "text")


async def test_a_call_that_is_quoted_is_no_call(provider, run):
    provider.says(f"One could call\n{FORMS['bare_json']}\nbut it is Paris.")
    row, _ = await run(spec(provider, "text"), "tools")
    assert (row.score, row.tool_calls, row.reply_state) == (1.0, 0, "read")
    assert "read_from_text" not in row.flags


async def test_json_that_is_none_comes_back_to_the_model_as_such(provider, run):
    provider.says('<tool_call>{"name": "speed", "arguments": {"distance_m": }}</tool_call>')
    provider.says("Paris")
    row, trace = await run(spec(provider, "text"), "tools")
    assert (row.score, row.tool_calls, row.tools_used["speed"]["bad_arguments"]) == (1.0, 1, 1)
    assert trace.tool_steps[0].error == "bad_json"


async def test_calls_that_are_forbidden_or_used_up_are_not_read(provider, run):
    provider.says(HERMES)
    row, _ = await run(spec(provider, "text", tool_choice="none"), "tools")
    assert (row.tool_calls, "call_in_text:hermes" in row.flags, "forbidden_call" in row.flags) == (
        0,
        True,
        False,
    )
    row, trace = await run(spec(provider, "text", max_tool_calls=2), "tools")
    assert (row.tool_calls, row.model_calls) == (2, 3)
    assert trace.response == HERMES


async def test_agents_that_call_in_words_are_not_affected(provider, run):
    provider.says(FORMS["bare_json"])
    row, _ = await run(spec(provider, "text", agent="text-react"), "tools")
    assert (row.tool_calls, [flag for flag in row.flags if "text" in flag]) == (0, [])


async def test_thinking_in_the_text_goes_back_without_the_call(provider, run):
    provider.says(f"<think>3 m/s?</think>\n\n{FORMS['hermes']}")
    provider.says("Paris")
    row, _ = await run(spec(provider, "text"), "tools")
    assert row.tool_calls == 1
    assert provider.requests[1]["messages"][1]["content"] == "<think>3 m/s?</think>\n\nI work it out."


async def test_a_stored_trace_is_replayed_to_the_same(provider, run, new_context):
    from gnomon.trials.recorded_steps import Playback
    from gnomon_agents.react import react

    context = new_context([FORMS["bare_json"].replace("speed", "echo"), "It says nothing."])
    context.tool_calls = "text"
    answer = await react.answer(context)
    trace = context.trace.to_json()
    again = new_context(["unused"])
    again.tool_calls = "text"
    playback = Playback(recorded_until(trace, len(trace["steps"])))
    again.model, again.toolbox = playback.model(again.model), playback.toolbox(again.toolbox)
    assert await react.answer(again) == answer
    assert [reply.tool_calls for reply in again.trace.replies] == [
        reply.tool_calls for reply in context.trace.replies
    ]
    assert "read_from_text" in again.trace.replies[0].flags


class TestOutside:
    @pytest.mark.parametrize("form", FORMS)
    async def test_native_flags_it(self, provider, run, form):
        provider.says(FORMS[form])
        row, _ = await run(spec(provider, agent={"openai": provider.url}), "tools")
        assert [flag for flag in row.flags if "text" in flag] == [f"call_in_text:{form}"]
        assert row.tool_calls == 0

    @pytest.mark.parametrize("mode", ["text", "auto"])
    @pytest.mark.parametrize("form", FORMS)
    async def test_text_and_auto_run_it_and_tell_the_result_in_words(self, provider, run, mode, form):
        provider.says(FORMS[form])
        provider.says("Paris")
        row, trace = await run(spec(provider, mode, agent={"openai": provider.url}), "tools")
        assert (row.score, row.tool_calls, row.tool_errors) == (1.0, 1, 0)
        assert [flag for flag in row.flags if "text" in flag] == [f"call_in_text:{form}", "read_from_text"]
        said, told = provider.requests[1]["messages"][1:]
        assert (said["role"], said["content"]) == ("assistant", FORMS[form])
        assert told["role"] == "user"
        assert trace.tool_steps[0].observation in json.dumps(told["content"]).replace('\\"', '"')

    @pytest.mark.parametrize("keeps", [True, False])
    async def test_one_that_only_thinks_is_known_by_its_steps(self, provider, run, keeps):
        provider.says("", steps=[{"text": "", "reasoning": "North, I think."}])
        own = {**spec(provider, agent={"openai": provider.url}), "keep_reasoning": keeps}
        row, trace = await run(own, "tools")
        assert row.reply_state == ReplyState.THOUGHT_ONLY
        assert trace.replies[-1].reasoning == ("North, I think." if keeps else "")

    async def test_calls_that_are_forbidden_are_not_run(self, provider, run):
        provider.says(HERMES)
        row, _ = await run(
            spec(provider, "text", agent={"openai": provider.url}, tool_choice="none"), "tools"
        )
        assert (row.tool_calls, len(provider.requests)) == (0, 1)

    async def test_it_ends_when_calls_are_used_up(self, provider, run):
        provider.says(HERMES)
        row, trace = await run(spec(provider, "text", agent={"openai": provider.url}), "tools")
        assert (row.tool_calls, len(provider.requests), trace.response) == (3, 4, HERMES)


async def test_a_call_that_repeats_another_to_the_letter_is_counted(provider, run):
    provider.says(native("a"), finish_reason="tool_calls")
    provider.says(native("b"), finish_reason="tool_calls")
    provider.says(native("c", distance_m=7, seconds=2), finish_reason="tool_calls")
    provider.says("Paris")
    row, _ = await run(spec(provider), "tools")
    assert row.tools_used["speed"] == {"calls": 3, "bad_arguments": 0, "errors": 0, "repeated": 1}
    assert "repeated_calls" in row.flags


@pytest.mark.parametrize("client", CLIENTS)
async def test_the_version_that_the_provider_tells_is_in_the_row(provider, run, client):
    provider.says("Paris", model="m-2026-11-01", system_fingerprint="fp_abc")
    row, trace = await run(spec(provider, client=client), "tools")
    assert row.model_version == trace.replies[0].model_version == "m-2026-11-01 fp_abc"


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_call_that_the_provider_cannot_read_is_the_models_failure(provider, run, client):
    error = {
        "message": "Failed to call a function. See 'failed_generation' for more details.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": FORMS["llama"],
    }
    provider.answers(400, {"error": error})
    row, trace = await run(spec(provider, client=client), "tools")
    assert (row.outcome, row.stop_reason, row.score) == ("model_failed", "model:malformed_call", 0.0)
    assert (row.reply_state, row.model_calls, trace.replies[0].text) == ("unreadable", 1, FORMS["llama"])
    assert "call_in_text:llama" in row.flags
    assert len(provider.requests) == 1
