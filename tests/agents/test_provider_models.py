"""What a model behind a provider must do, whether LiteLLM carries the call or the fast path."""

import asyncio
import base64
import gzip
import io
import json
import logging

import pytest
from PIL import Image

from gnomon.core.decoding import Decoding
from gnomon.core.errors import DataError, ModelFault, ProviderFault, SpecError
from gnomon.core.missing import TRIAL_IS_OVER, advice_on
from gnomon.core.model import Request
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.litellm_errors import Scrubber, fault_of
from gnomon_agents.models.litellm_model import LiteLLMModel, load
from gnomon_agents.models.openai_model import OpenAIModel

CANARY = "canary-4f1d-do-not-leak-7b2e"
ASK = [{"role": "user", "content": "hi"}]
FLY = {
    "type": "function",
    "function": {"name": "fly", "description": "d", "parameters": {"type": "object", "properties": {}}},
}


@pytest.fixture(params=[LiteLLMModel, OpenAIModel])
async def new_model(provider, tmp_path, request):
    opened = []

    def make(kind=request.param, **spec):
        spec = {"id": "openai/m", "api_base": provider.url, **spec}
        opened.append(kind(ModelSpec(**spec), MediaStore(tmp_path)))
        return opened[-1]

    yield make
    for model in opened:
        await model.close()


def asking(messages=ASK, tools=(), **more):
    return Request(messages=list(messages), tools=list(tools), timeout_s=more.pop("timeout_s", 10.0), **more)


async def test_text_and_usage_come_back(provider, new_model):
    provider.says("hello")
    reply = await new_model().reply(asking())
    assert (reply.text, reply.finish_reason) == ("hello", "stop")
    assert (reply.prompt_tokens, reply.completion_tokens) == (11, 7)


async def test_absent_usage_is_none_and_never_zero(provider, new_model):
    provider.says("hello", usage=None)
    reply = await new_model(price={"input": 1, "output": 1}).reply(asking())
    assert (reply.prompt_tokens, reply.completion_tokens, reply.usd) == (None, None, None)


async def test_an_unknown_price_is_none(provider, new_model):
    provider.says("hello")
    assert (await new_model().reply(asking())).usd is None


async def test_the_specs_price_is_dollars_for_a_million_tokens(provider, new_model):
    provider.says("hello")
    reply = await new_model(price={"input": 2.0, "output": 10.0}).reply(asking())
    assert reply.usd == pytest.approx((11 * 2 + 7 * 10) / 1e6)


async def test_a_price_of_zero_that_the_user_states_is_zero(provider, new_model):
    provider.says("hello")
    assert (await new_model(price={"input": 0, "output": 0}).reply(asking())).usd == 0.0


async def test_a_price_that_litellm_knows_is_used(provider, new_model):
    provider.says("hello")
    reply = await new_model(id="openai/gpt-4o-mini").reply(asking())
    assert reply.usd is not None
    assert 0 < reply.usd < 1e-4


async def test_what_the_spec_sets_is_sent_and_nothing_else(provider, new_model):
    provider.says("hello")
    model = new_model(temperature=0.1, max_tokens=50, options={"top_p": 0.5})
    await model.reply(asking(seed=7))
    sent = {name: value for name, value in provider.requests[0].items() if name != "messages"}
    assert sent == {"model": "m", "temperature": 0.1, "max_tokens": 50, "top_p": 0.5, "seed": 7}


@pytest.mark.parametrize(
    ("own", "sent"),
    [
        ({}, {"temperature": 0.0, "top_p": 1.0, "max_tokens": 100}),
        ({"temperature": 0.5}, {"temperature": 0.5, "top_p": 1.0, "max_tokens": 100}),
        ({"max_tokens": 9, "options": {"top_p": 0.5}}, {"temperature": 0.0, "top_p": 0.5, "max_tokens": 9}),
        (
            {"options": {"max_completion_tokens": 7}},
            {"temperature": 0.0, "top_p": 1.0, "max_completion_tokens": 7},
        ),
    ],
)
async def test_the_protocol_sets_what_the_models_entry_leaves_open(provider, new_model, own, sent):
    provider.says("hello")
    await new_model(**own).reply(asking(decoding=Decoding(temperature=0, top_p=1, max_tokens=100)))
    assert provider.requests[0].items() >= sent.items()
    assert ("max_tokens" in provider.requests[0]) == ("max_tokens" in sent)


@pytest.mark.parametrize(
    ("model_id", "limit"),
    [("openai/o3-mini", "max_completion_tokens"), ("moonshot/kimi-k2.5", "max_tokens")],
)
async def test_of_a_protocol_a_model_gets_what_it_takes_and_the_rest_is_named(
    provider, new_model, model_id, limit
):
    provider.says("hello")
    reply = await new_model(id=model_id).reply(
        asking(decoding=Decoding(temperature=0, top_p=1, max_tokens=100))
    )
    assert provider.requests[0][limit] == 100
    assert not {"temperature", "top_p", "max_tokens", "max_completion_tokens"} - {limit} & set(
        provider.requests[0]
    )
    assert reply.request_changes == ("temperature: 0.0 → absent", "top_p: 1.0 → absent")


async def test_models_of_openais_that_do_not_reason_are_drawn_as_the_protocol_says(provider, new_model):
    provider.says("hello")
    reply = await new_model(id="openai/ft:gpt-4o-mini:me::1").reply(asking(decoding=Decoding(temperature=0)))
    assert (provider.requests[0]["temperature"], reply.request_changes) == (0.0, ())


async def test_a_fault_that_holds_a_reply_has_the_changes_of_its_request(provider, new_model):
    provider.says("", finish_reason="content_filter")
    with pytest.raises(ModelFault) as caught:
        await new_model(id="openai/o3-mini").reply(asking(decoding=Decoding(temperature=0)))
    assert caught.value.reply.request_changes == ("temperature: 0.0 → absent",)


@pytest.mark.parametrize("name", ["stream", "messages", "api_key", "n", "Base_URL"])
async def test_what_is_said_and_to_whom_is_no_option(new_model, name):
    with pytest.raises(SpecError, match="may not be set") as caught:
        new_model(options={name: "x"})
    assert caught.value.field == f"options.{name}"


async def test_the_line_end_of_a_key_is_no_part_of_it(provider, new_model, monkeypatch):
    monkeypatch.setenv("MY_KEY", " a-key-of-mine\n")
    provider.says("hello")
    await new_model(api_key_env="MY_KEY").reply(asking())
    assert provider.headers[0]["authorization"] == "Bearer a-key-of-mine"


async def test_numbers_that_no_json_holds_go_back_wrapped(provider, new_model):
    provider.says("hello")
    call = {"id": "a", "type": "function", "function": {"name": "fly", "arguments": '{"far": NaN}'}}
    turn = {"role": "assistant", "content": None, "tool_calls": [call]}
    await new_model().reply(asking([turn, {"role": "tool", "tool_call_id": "a", "content": "{}"}]))
    sent = provider.requests[0]["messages"][0]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"not_a_json_object": '{"far": NaN}'}


async def test_tools_are_offered_only_where_there_are_some(provider, new_model):
    provider.says("hello")
    model = new_model()
    await model.reply(asking())
    await model.reply(asking(tools=[FLY], tool_choice="required"))
    assert "tools" not in provider.requests[0]
    assert "tool_choice" not in provider.requests[0]
    assert provider.requests[1]["tools"] == [FLY]
    assert provider.requests[1]["tool_choice"] == "required"


async def test_tool_calls_come_back_as_written_even_when_they_are_broken(provider, new_model):
    calls = [
        {"id": "x", "type": "function", "function": {"name": "fly", "arguments": "{bad"}},
        {"id": "x", "type": "function", "function": {"name": "nosuch", "arguments": "{}"}},
    ]
    provider.says({"role": "assistant", "content": None, "tool_calls": calls}, finish_reason="tool_calls")
    reply = await new_model().reply(asking(tools=[FLY]))
    assert [call["function"]["arguments"] for call in reply.tool_calls] == ["{bad", "{}"]
    assert reply.text == ""


async def test_broken_arguments_in_the_history_travel_wrapped(provider, new_model):
    provider.says("hello")
    call = {"id": "x", "type": "function", "function": {"name": "fly", "arguments": "{bad"}}
    history = [*ASK, {"role": "assistant", "content": None, "tool_calls": [call]}]
    history.append({"role": "tool", "tool_call_id": "x", "content": "{}"})
    await new_model().reply(asking(history, tools=[FLY]))
    sent = provider.requests[0]["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"not_a_json_object": "{bad"}
    assert call["function"]["arguments"] == "{bad"


async def test_pictures_travel_as_data_urls(provider, new_model, tmp_path):
    provider.says("hello")
    model = new_model()
    file = io.BytesIO()
    Image.new("RGB", (4, 3)).save(file, "PNG")
    ref = MediaStore(tmp_path).put(file.getvalue())
    block = {"type": "image", "sha256": ref.sha256, "media_type": ref.media_type}
    await model.reply(asking([{"role": "user", "content": [{"type": "text", "text": "see"}, block]}]))
    text, picture = provider.requests[0]["messages"][0]["content"]
    head, _, body = picture["image_url"]["url"].partition(",")
    assert text == {"type": "text", "text": "see"}
    assert head == "data:image/png;base64"
    assert base64.b64decode(body) == file.getvalue()


async def test_a_picture_that_is_not_stored_is_a_fault_of_the_data(provider, new_model):
    block = {"type": "image", "sha256": "0" * 64, "media_type": "image/png"}
    with pytest.raises(DataError, match="missing"):
        await new_model().reply(asking([{"role": "user", "content": [block]}]))
    assert not provider.requests


@pytest.mark.parametrize(
    ("status", "body", "cause", "transient"),
    [
        (429, {"error": {"message": "slow down"}}, "rate_limit", True),
        (429, {"error": {"message": "broke", "code": "insufficient_quota"}}, "quota", False),
        (500, {"error": {"message": "boom"}}, "server_error", True),
        (503, "<html>busy</html>", "server_error", True),
        (401, {"error": {"message": "who?"}}, "auth", False),
        (403, {"error": {"message": "not you"}}, "auth", False),
        (404, {"error": {"message": "no such model"}}, "not_found", False),
        (400, {"error": {"message": "no such parameter"}}, "bad_request", False),
        (200, "certainly not JSON", "bad_response", True),
        (200, "", "bad_response", True),
        (200, "[1, 2]", "bad_response", True),
        (200, "null", "bad_response", True),
        (200, {}, "bad_response", True),
        (200, {"choices": []}, "bad_response", True),
        (200, {"choices": "none"}, "bad_response", True),
    ],
)
async def test_a_providers_fault_has_its_cause_and_is_tried_once(
    provider, new_model, status, body, cause, transient
):
    provider.answers(status, body)
    with pytest.raises(ProviderFault) as caught:
        await new_model().reply(asking())
    assert (caught.value.cause, caught.value.transient) == (cause, transient)
    assert len(provider.requests) == 1


async def test_retry_after_is_read(provider, new_model):
    provider.answers(429, {"error": {"message": "slow"}}, {"Retry-After": "7"})
    with pytest.raises(ProviderFault) as caught:
        await new_model().reply(asking())
    assert caught.value.retry_after_s == 7.0


@pytest.mark.parametrize(
    ("code", "cause"),
    [("context_length_exceeded", "context_overflow"), ("content_policy_violation", "refused")],
)
async def test_what_is_the_models_own_fault_is_told_apart(provider, new_model, code, cause):
    provider.answers(400, {"error": {"message": "no", "code": code}})
    with pytest.raises(ModelFault) as caught:
        await new_model().reply(asking())
    assert caught.value.cause == cause


@pytest.mark.parametrize(
    ("message", "reason"),
    [({"role": "assistant", "content": None, "refusal": "I will not"}, "stop"), ("", "content_filter")],
)
async def test_a_refusal_is_the_models_fault(provider, new_model, message, reason):
    provider.says(message, finish_reason=reason)
    with pytest.raises(ModelFault) as caught:
        await new_model().reply(asking())
    assert caught.value.cause == "refused"


async def test_silence_ends_as_a_timeout(provider, new_model):
    provider.hangs()
    with pytest.raises(ProviderFault) as caught:
        await new_model().reply(asking(timeout_s=0.2))
    assert (caught.value.cause, caught.value.transient) == ("timeout", True)


async def test_nobody_listening_is_a_lost_connection(new_model):
    with pytest.raises(ProviderFault) as caught:
        await new_model(api_base="http://127.0.0.1:1/v1").reply(asking())
    assert (caught.value.cause, caught.value.transient) == ("connection", True)
    assert caught.value.message == "nothing answers at 127.0.0.1:1: Connection refused"


async def test_text_that_no_database_takes_is_cleaned(provider, new_model):
    body = json.dumps({"choices": [{"message": {"role": "assistant", "content": "a\ud800b\0c"}}]})
    provider.answers(200, body)
    assert (await new_model().reply(asking())).text == "a�b�c"


async def test_the_key_named_by_the_spec_is_sent_and_appears_in_no_message(
    provider, new_model, monkeypatch, caplog
):
    monkeypatch.setenv("MY_TEST_KEY", CANARY)
    model = new_model(api_key_env="MY_TEST_KEY")
    told = []
    with caplog.at_level(logging.DEBUG):
        for status in (400, 401, 403, 404, 429, 500):
            provider.answers(status, {"error": {"message": f"bad key {CANARY}", "code": CANARY}})
            with pytest.raises((ProviderFault, ModelFault)) as caught:
                await model.reply(asking())
            told += [str(caught.value), repr(caught.value), str(caught.value.__cause__)]
    assert provider.headers[0]["authorization"] == f"Bearer {CANARY}"
    assert CANARY not in " ".join([*told, caplog.text])


async def test_an_unset_key_variable_is_named_and_nobody_is_called(provider, new_model, monkeypatch):
    monkeypatch.delenv("MY_TEST_KEY", raising=False)
    with pytest.raises(ProviderFault, match="MY_TEST_KEY") as caught:
        await new_model(api_key_env="MY_TEST_KEY").reply(asking())
    assert (caught.value.cause, caught.value.transient) == ("no_api_key", False)
    assert not provider.requests


async def test_a_general_key_of_the_environment_is_not_sent_to_an_endpoint_of_ones_own(
    provider, new_model, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    provider.says("hello")
    await new_model().reply(asking())
    assert CANARY not in str(provider.headers)


@pytest.mark.parametrize("name", ["api_key", "base_url", "fallbacks", "mock_response", "messages"])
def test_options_cannot_change_who_answers(name, tmp_path):
    with pytest.raises(SpecError) as caught:
        LiteLLMModel(ModelSpec(id="openai/m", options={name: "x"}), MediaStore(tmp_path))
    assert caught.value.field == f"options.{name}"


async def test_a_parameter_the_model_does_not_take_is_refused_not_dropped(provider, new_model):
    with pytest.raises(ProviderFault, match="temperature") as caught:
        await new_model(LiteLLMModel, id="openai/o3-mini", temperature=0.1).reply(asking())
    assert caught.value.cause == "bad_request"
    assert not provider.requests


def test_secrets_are_struck_out_by_value_by_name_and_by_shape(monkeypatch):
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "a-token-value-123")
    scrub = Scrubber("abc123")
    assert scrub("abc123 a-token-value-123 sk-proj-abcdefgh12") == "[secret] [secret] [secret]"


def test_an_error_that_nobody_knows_is_a_providers_fault():
    fault = fault_of(RuntimeError("strange"), Scrubber())
    assert isinstance(fault, ProviderFault)
    assert fault.cause == "bad_response"


# A trial, whole


def spec(provider, **more):
    return {
        "models": [{"id": "openai/m", "api_base": provider.url, **more}],
        "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
        "limits": {"trial_seconds": 20},
    }


async def test_a_right_answer_over_http_is_scored_with_tokens_and_price(provider, run):
    provider.says("Paris")
    row, trace = await run(spec(provider, price={"input": 1, "output": 1}), "raw")
    assert (row.outcome, row.score, row.stop_reason) == ("scored", 1.0, "answered")
    assert (row.prompt_tokens, row.completion_tokens) == (11, 7)
    assert row.usd == pytest.approx(18e-6)
    assert trace.replies[0].text == "Paris"


async def test_an_unknown_tool_over_http_is_counted_and_survived(provider, run):
    call = {"id": "x", "type": "function", "function": {"name": "nosuch", "arguments": "{}"}}
    provider.says({"role": "assistant", "content": None, "tool_calls": [call]}, finish_reason="tool_calls")
    provider.says("Paris")
    row, _ = await run(spec(provider), "tools")
    assert (row.outcome, row.score, row.tool_errors, row.model_calls) == ("scored", 1.0, 1, 2)
    assert row.usd is None


@pytest.mark.parametrize(
    "model",
    [{}, {"client": "litellm"}, {"id": "openai/m", "api": "responses"}, {"id": "anthropic/claude-m"}],
)
async def test_a_call_takes_as_long_as_the_models_entry_allows_on_every_path(provider, run, model):
    load()  # its import is no part of a call
    provider.hangs()
    retry = {"max_attempts": 1}
    row, _ = await run({**spec(provider, call_seconds=0.4, **model), "retry": retry}, "raw")
    assert (row.stop_reason, row.error) == ("provider:timeout", "no reply within 0.4 s")
    assert row.wall_s < 5
    assert "`call_seconds`" in advice_on(row.stop_reason, row.error)


async def test_where_the_trials_clock_ends_a_call_the_advice_names_that(provider, run):
    provider.hangs()
    row, _ = await run({**spec(provider), "limits": {"trial_seconds": 0.4}}, "raw")
    assert (row.stop_reason, row.error) == ("provider:timeout", TRIAL_IS_OVER)
    assert "`limits.trial_seconds`" in advice_on(row.stop_reason, row.error)


async def test_a_refused_key_ends_as_missing_and_never_as_wrong(provider, run):
    provider.answers(401, {"error": {"message": "no"}})
    row, _ = await run(spec(provider), "raw")
    assert (row.outcome, row.score, row.stop_reason) == ("infra_missing", None, "provider:auth")


async def test_a_fault_that_passes_costs_a_try_and_nothing_else(provider, run):
    provider.answers(429, {"error": {"message": "slow"}}, {"Retry-After": "0"})
    provider.says("Paris")
    row, trace = await run(spec(provider), "raw")
    assert (row.outcome, row.score, row.model_calls) == ("scored", 1.0, 1)
    assert trace.replies[0].tries == 2


async def test_an_empty_reply_is_the_models_failure(provider, run):
    provider.says("")
    row, _ = await run(spec(provider), "raw")
    assert (row.outcome, row.score, row.stop_reason) == ("model_failed", 0.0, "no_answer")


async def test_closing_one_model_leaves_another_its_connections(provider, new_model):
    provider.says("hello")
    one, other = new_model(), new_model()
    await one.reply(asking())
    await other.reply(asking())
    await one.close()
    assert (await other.reply(asking())).text == "hello"
    await other.close()
    assert (await other.reply(asking())).text == "hello"


async def test_a_reply_without_end_is_cut(provider, new_model):
    provider.says("x" * 3_000_000)
    assert len((await new_model().reply(asking())).text) == 1_000_000


async def test_many_calls_at_once_come_back_each_with_its_own_answer(provider, new_model):
    provider.says("hello")
    model = new_model()
    replies = await asyncio.gather(*(model.reply(asking()) for _ in range(40)))
    assert [reply.text for reply in replies] == ["hello"] * 40
    assert len(provider.requests) == 40


@pytest.mark.parametrize("new_model", [OpenAIModel], indirect=True)
async def test_a_small_reply_that_unpacks_without_end_is_not_unpacked_whole(provider, new_model, monkeypatch):
    monkeypatch.setattr("gnomon_agents.models.http_client.MAX_BODY_BYTES", 1_000_000)
    packed = gzip.compress(b" " * 30_000_000)
    provider.answers(200, packed, {"Content-Encoding": "gzip"})
    with pytest.raises(ProviderFault, match="more than 1,000,000 bytes") as caught:
        await new_model().reply(asking())
    assert caught.value.cause == "bad_response"


@pytest.mark.parametrize("name", ["openai", "groq"])  # one by OpenAI's library, one by LiteLLM's own client
async def test_litellm_unpacks_no_reply_without_end(provider, tmp_path, monkeypatch, name):
    load()
    monkeypatch.setattr("gnomon_agents.models.litellm_session.MAX_BODY_BYTES", 1_000_000)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("GROQ_API_KEY", "k")
    provider.answers(200, gzip.compress(b" " * 30_000_000), {"Content-Encoding": "gzip"})
    model = LiteLLMModel(ModelSpec(id=f"{name}/m", api_base=provider.url), MediaStore(tmp_path))
    with pytest.raises(ProviderFault, match=r"more than 1,000,000 bytes|Connection error"):
        await model.reply(asking())
    await model.close()


async def test_a_provider_that_litellm_calls_by_a_client_of_its_own_is_refused(provider, tmp_path):
    provider.says("hello")
    model = LiteLLMModel(ModelSpec(id="aiohttp_openai/m", api_base=provider.url), MediaStore(tmp_path))
    with pytest.raises(ProviderFault, match="uses no HTTP client that it is given") as caught:
        await model.reply(asking())
    assert (caught.value.cause, caught.value.transient) == ("bad_request", False)
    await model.close()
