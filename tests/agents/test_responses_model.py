"""The Responses API: what is sent, how an answer is read, what its faults mean, who may be asked so."""

from pathlib import Path
from typing import Any

import pytest

from gnomon.core.decoding import Decoding
from gnomon.core.errors import ModelFault, ProviderFault, SpecError
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon.spec.rules import parse_spec
from gnomon_agents.models.catalog import open_model
from gnomon_agents.models.responses_model import ResponsesModel
from tests.agents.conformance.responses import ResponsesDialect
from tests.agents.conformance.server import conforming
from tests.agents.conftest import FakeProvider
from tests.agents.talk import ASK, FLY, asking, call, picture, result, turn_of

DIALECT = ResponsesDialect()
DONE = DIALECT.response(9)


@pytest.fixture
async def new_model(provider: FakeProvider, tmp_path: Path) -> Any:
    opened: list[ResponsesModel] = []

    def make(**spec: Any) -> ResponsesModel:
        given = {"id": "openai/o3", "api": "responses", "api_base": provider.url, **spec}
        model = open_model(ModelSpec(**given), MediaStore(tmp_path))
        assert isinstance(model, ResponsesModel)
        opened.append(model)
        return model

    yield make
    for model in opened:
        await model.close()


def turn(output: list[dict[str, Any]], *calls: dict[str, Any]) -> dict[str, Any]:
    return turn_of("responses", output, *calls)


async def test_a_plain_question_is_sent_and_nothing_is_stored(provider, new_model):
    provider.answers(200, DONE)
    reply = await new_model(max_tokens=90, options={"reasoning": {"effort": "low"}}).reply(
        asking({"role": "system", "content": "Be brief."}, ASK, seed=7)
    )
    assert (reply.text, reply.finish_reason, reply.reasoning) == ("Paris", "stop", "thought 90")
    assert provider.requests[0] == {
        "model": "o3",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "low"},
        "max_output_tokens": 90,
        "input": [
            {"role": "system", "content": [{"type": "input_text", "text": "Be brief."}]},
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        ],
    }
    assert provider.headers[0]["authorization"] == "Bearer none"


@pytest.mark.parametrize(
    ("model_id", "included"),
    [
        ("openai/o3", True),
        ("openai/gpt-5.4", True),
        ("openai/qwen3", True),
        ("openai/gpt-4o", False),
        ("openai/gpt-5-chat-latest", False),
        ("openai/ft:gpt-4.1:me", False),
    ],
)
async def test_sealed_reasoning_is_asked_of_models_that_reason(provider, new_model, model_id, included):
    provider.answers(200, DONE)
    await new_model(id=model_id).reply(asking())
    assert bool(provider.requests[0]["include"]) == included


async def test_tools_go_flat_and_not_strict(provider, new_model):
    provider.answers(200, DONE)
    await new_model().reply(asking(tools=[FLY], tool_choice="required"))
    assert provider.requests[0]["tools"] == [{"type": "function", **FLY["function"], "strict": False}]
    assert provider.requests[0]["tool_choice"] == "required"


async def test_what_a_protocol_draws_is_sent_where_the_model_takes_it(provider, new_model):
    provider.answers(200, DONE)
    decoding = Decoding(temperature=0, max_tokens=100)
    for model_id in ("openai/qwen", "openai/o3"):
        reply = await new_model(id=model_id).reply(asking(decoding=decoding))
    plain, reasoning = provider.requests
    assert (plain["temperature"], plain["max_output_tokens"]) == (0.0, 100)
    assert reasoning["max_output_tokens"] == 100
    assert "temperature" not in reasoning
    assert reply.request_changes == ("temperature: 0.0 → absent",)


async def test_a_turn_goes_back_item_by_item_under_the_ids_the_agent_gave(provider, new_model):
    provider.answers(200, DONE)
    came = DIALECT.output(1)
    history = [ASK, turn(came, call("new_a"), call("new_b", "{bad")), result("new_a"), result("new_b")]
    await new_model().reply(asking(*history))
    _, *said, _, _ = provider.requests[0]["input"]
    assert [item["id"] for item in said] == ["rs_10", "fc_10", "rs_11", "fc_11"]
    assert (said[0], said[2]) == (came[0], came[2])
    assert [item["call_id"] for item in said[1::2]] == ["new_a", "new_b"]
    assert said[3]["arguments"] == '{"not_a_json_object": "{bad"}'


async def test_reasoning_whose_call_was_dropped_is_dropped_too(provider, new_model):
    provider.answers(200, DONE)
    output = DIALECT.output(1)
    await new_model().reply(asking(ASK, turn(output, call("call_10")), result("call_10")))
    await new_model().reply(asking(ASK, turn(output), {"role": "user", "content": "Well?"}))
    first, second = (sent["input"] for sent in provider.requests)
    assert [item.get("id") for item in first] == [None, "rs_10", "fc_10", None]
    provider.requests.clear()
    await new_model().reply(asking(ASK, turn(output, call("call_11")), result("call_11")))
    assert [item.get("id") for item in provider.requests[0]["input"]] == [None, "rs_11", "fc_11", None]
    assert [item["role"] for item in second] == ["user", "user"]


async def test_without_reasoning_in_the_history_nothing_has_an_id_that_needs_it(provider, new_model):
    provider.answers(200, DONE)
    await new_model(reasoning_history="none").reply(
        asking(ASK, turn(DIALECT.output(0), call("call_00")), result("call_00"))
    )
    assert provider.requests[0]["input"][1:] == [
        {"type": "function_call", "call_id": "call_00", "name": "fly", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_00", "output": "{}"},
    ]


@pytest.mark.parametrize(
    ("reasoning", "goes_back"),
    [
        ({"encrypted_content": "x"}, True),
        ({"encrypted_content": None, "content": [{"type": "reasoning_text", "text": "hm"}]}, True),
        ({"encrypted_content": None}, False),
    ],
    ids=["sealed", "in the open, as vLLM has it", "an id alone"],
)
async def test_reasoning_that_is_only_an_id_stays_away_where_nothing_is_stored(
    provider, new_model, reasoning, goes_back
):
    provider.answers(200, DONE)
    thought = {"type": "reasoning", "id": "rs_00", "summary": [], **reasoning}
    history = [ASK, turn([thought, DIALECT.output(0)[1]], call("call_00")), result("call_00")]
    reply = await new_model().reply(asking(*history))
    assert reply.request_changes == (() if goes_back else ("reasoning: left out of 1 of 1 turns",))
    await new_model(options={"store": True}).reply(asking(*history))
    ids = [[item.get("id") for item in sent["input"]] for sent in provider.requests]
    assert ids[0] == ([None, "rs_00", "fc_00", None] if goes_back else [None, None, None])
    assert ids[1] == [None, "rs_00", "fc_00", None], "what is stored there is found by its id"


async def test_pictures_stand_in_the_prompt_and_in_a_tools_result(tmp_path):
    with conforming(DIALECT) as server:
        spec = ModelSpec(id="openai/o3", api="responses", api_base=server.root + "/v1")
        media = MediaStore(tmp_path)
        model = ResponsesModel(spec, media)
        block, _ = picture(media)
        seen = [{"type": "text", "text": "a view"}, block]
        history = [turn(DIALECT.output(0), call("call_00")), result("call_00", seen)]
        await model.reply(asking({"role": "user", "content": seen}, *history, tools=[FLY]))
        await model.close()
    sent = server.requests[0]["input"]
    assert sent[0]["content"] == sent[-1]["output"]
    assert sent[0]["content"][1]["image_url"].startswith("data:image/png;base64,")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"status": "completed"}, "stop"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "content_filter"),
        ({"status": "incomplete", "incomplete_details": None}, "incomplete"),
    ],
)
async def test_why_it_ended_is_told_as_it_is(provider, new_model, body, reason):
    provider.answers(200, {**DONE, **body})
    reply = await new_model().reply(asking())
    assert (reply.text, reply.finish_reason) == ("Paris", reason)


REFUSAL = {"type": "message", "content": [{"type": "refusal", "refusal": "I will not"}]}
FILTERED = {"output": [], "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}


@pytest.mark.parametrize("body", [{"output": [REFUSAL]}, FILTERED], ids=["refusal", "filter"])
async def test_a_refusal_is_the_models_failure(provider, new_model, body):
    provider.answers(200, {**DONE, **body})
    with pytest.raises(ModelFault) as caught:
        await new_model().reply(asking())
    assert caught.value.cause == "refused"


@pytest.mark.parametrize(
    ("status", "body", "cause", "transient"),
    [
        (200, {"status": "failed", "error": {"code": "server_error", "message": "no"}}, "server_error", True),
        (
            200,
            {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "no"}},
            "rate_limit",
            True,
        ),
        (200, {"status": "failed", "error": {"code": "insufficient_quota", "message": "no"}}, "quota", False),
        (200, {"status": "failed", "error": {"code": "invalid_api_key", "message": "no"}}, "auth", False),
        (200, {"status": "cancelled"}, "bad_response", True),
        (200, {"status": "in_progress"}, "bad_response", True),
        (200, {"output": None}, "bad_response", True),
        (200, {"output": [{"type": "message", "content": ["A"]}]}, "bad_response", True),
        (200, {"output": [{"type": "function_call"}]}, "bad_response", True),
        (200, {"output": [{**DIALECT.output(0)[1], "call_id": ["x"]}]}, "bad_response", True),
        (400, {"error": {"message": "no", "code": "invalid_encrypted_content"}}, "bad_request", False),
        (401, {"error": {"message": "no"}}, "auth", False),
        (404, {"error": {"message": "Item with id 'rs_1' not found."}}, "not_found", False),
        (429, {"error": {"message": "no", "code": "insufficient_quota"}}, "quota", False),
        (500, {"error": {"message": "no"}}, "server_error", True),
    ],
)
async def test_a_providers_fault_has_its_cause(provider, new_model, status, body, cause, transient):
    provider.answers(status, {**DONE, **body} if status == 200 else body)
    with pytest.raises(ProviderFault) as caught:
        await new_model().reply(asking())
    assert (caught.value.cause, caught.value.transient) == (cause, transient)


async def test_a_prompt_that_is_too_long_is_the_models_failure(provider, new_model):
    provider.answers(400, {"error": {"message": "no", "code": "context_length_exceeded"}})
    with pytest.raises(ModelFault) as caught:
        await new_model().reply(asking())
    assert caught.value.cause == "context_overflow"


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (DONE["usage"], (310, 50, 200, 40)),
        ({"input_tokens": 3, "output_tokens": 4}, (3, 4, None, None)),
        ({"input_tokens": "3", "output_tokens": 4}, (None,) * 4),
        (None, (None,) * 4),
    ],
)
async def test_usage_is_read_and_never_guessed(provider, new_model, usage, counts):
    provider.answers(200, {**DONE, "usage": usage})
    reply = await new_model().reply(asking())
    found = (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens, reply.reasoning_tokens)
    assert found == counts


async def test_cached_tokens_have_a_price_of_their_own(provider, new_model):
    provider.answers(200, DONE)
    reply = await new_model(id="openai/gpt-4o").reply(asking())
    assert reply.usd == pytest.approx((110 * 2.5 + 200 * 1.25 + 50 * 10) / 1e6)


async def test_the_usual_key_goes_to_openai_or_where_the_operator_points(provider, new_model, monkeypatch):
    provider.answers(200, DONE)
    monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
    monkeypatch.setenv("OPENAI_API_KEY", "usual")
    await new_model(api_base=None).reply(asking())
    assert provider.headers[0]["authorization"] == "Bearer usual"


def spec_of(**model: Any) -> dict[str, Any]:
    return {"benchmark": "worlds", "models": [model], "arms": [{"name": "raw", "agent": "direct"}]}


@pytest.mark.parametrize(
    ("model", "field", "words"),
    [
        ({"id": "anthropic/claude-opus-5"}, "api", "allowed: chat"),
        ({"id": "claude-opus-5"}, "api", "allowed: chat"),
        ({"id": "reference"}, "api", "allowed: chat"),
        ({"id": "scripted-a"}, "api", "allowed: chat"),
        ({"id": "xai/grok-4"}, "api", "api_base"),
        ({"id": "o3"}, "api", "api_base"),
        ({"id": "openai/o3", "client": "litellm"}, "client", "called directly"),
    ],
)
def test_an_api_that_a_model_does_not_speak_is_refused_with_the_field_named(model, field, words):
    with pytest.raises(SpecError, match=words) as caught:
        parse_spec(spec_of(api="responses", **model), agents=("direct",))
    assert caught.value.field == f"models.0.{field}"


@pytest.mark.parametrize(
    ("model_id", "name"),
    [("xai/grok-4", "grok-4"), ("openrouter/openai/o3", "openai/o3"), ("mine", "mine")],
)
async def test_any_model_may_be_asked_so_at_an_address_of_ones_own(provider, new_model, model_id, name):
    provider.answers(200, DONE)
    await new_model(id=model_id).reply(asking())
    assert provider.requests[0]["model"] == name


@pytest.mark.parametrize("name", ["input", "previous_response_id", "stream", "background"])
def test_what_is_said_is_no_option(tmp_path, name):
    spec = ModelSpec(id="openai/o3", api="responses", options={name: "x"})
    with pytest.raises(SpecError, match="may not be set") as caught:
        open_model(spec, MediaStore(tmp_path))
    assert caught.value.field == f"options.{name}"
