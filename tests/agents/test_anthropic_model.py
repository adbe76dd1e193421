"""Anthropic's Messages API: what is sent, how an answer is read, what its faults mean."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.decoding import Decoding
from gnomon.core.errors import DataError, ModelFault, ProviderFault, SpecError
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.anthropic_model import AnthropicModel
from gnomon_agents.models.anthropic_request import MessagesRequest
from gnomon_agents.models.catalog import open_model
from gnomon_agents.models.image_urls import PICTURES
from tests.agents.conformance.anthropic import AnthropicDialect
from tests.agents.conformance.server import conforming
from tests.agents.conftest import FakeProvider
from tests.agents.talk import ASK, FLY, asking, call, picture, result, turn_of

DIALECT = AnthropicDialect()
DONE = DIALECT.message(9, thinks=False)
MARK = {"type": "ephemeral"}


@pytest.fixture
async def new_model(provider: FakeProvider, tmp_path: Path) -> Any:
    opened: list[AnthropicModel] = []

    def make(**spec: Any) -> AnthropicModel:
        model = open_model(
            ModelSpec(**{"id": "anthropic/m", "api_base": provider.url, **spec}), MediaStore(tmp_path)
        )
        assert isinstance(model, AnthropicModel)
        opened.append(model)
        return model

    yield make
    for model in opened:
        await model.close()


def turn(number: int, *calls: dict[str, Any]) -> dict[str, Any]:
    return turn_of("anthropic", DIALECT.content(number), *calls)


async def test_a_plain_question_is_sent_with_its_system_a_limit_and_nothing_else(provider, new_model):
    provider.answers(200, DONE)
    reply = await new_model(api_key_env=None).reply(
        asking({"role": "system", "content": "Be brief."}, ASK, seed=7)
    )
    assert reply.text == "Paris"
    assert provider.requests[0] == {
        "model": "m",
        "max_tokens": 8192,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
    }
    headers = provider.headers[0]
    assert (headers["x-api-key"], headers["anthropic-version"]) == ("none", "2023-06-01")
    assert "authorization" not in headers


@pytest.mark.parametrize(
    ("spec", "decoding", "limit"),
    [
        ({}, {}, 8192),
        ({"id": "anthropic/claude-sonnet-4-5"}, {}, 32_000),
        ({}, {"max_tokens": 70}, 70),
        ({"max_tokens": 60}, {"max_tokens": 70}, 60),
        ({"options": {"thinking": {"type": "enabled", "budget_tokens": 1000}}}, {}, 9192),
    ],
)
async def test_a_limit_is_always_sent(provider, new_model, spec, decoding, limit):
    provider.answers(200, DONE)
    await new_model(**spec).reply(asking(decoding=Decoding(**decoding)))
    assert provider.requests[0]["max_tokens"] == limit


@pytest.mark.parametrize(
    ("model_id", "limit", "sent"),
    [("m", 70, 1070), ("m", 1000, 2000), ("m", 1001, 1001), ("claude-opus-4-1", 9, 1009)],
)
async def test_a_protocols_limit_that_thinking_would_fill_leaves_room_for_an_answer(
    provider, new_model, model_id, limit, sent
):
    provider.answers(200, DONE)
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1000}}
    model = new_model(id=f"anthropic/{model_id}", options=thinking)
    reply = await model.reply(asking(decoding=Decoding(max_tokens=limit)))
    await new_model(max_tokens=70, options=thinking).reply(asking())
    assert [request["max_tokens"] for request in provider.requests] == [sent, 70], (
        "a spec's own goes as it is"
    )
    assert reply.request_changes == ((f"max_tokens: {limit} → {sent}",) if limit != sent else ())


async def test_a_refusal_has_the_changes_of_its_request(provider, new_model):
    provider.answers(200, {**DONE, "stop_reason": "refusal"})
    with pytest.raises(ModelFault) as caught:
        await new_model(id="anthropic/claude-opus-4-8").reply(asking(decoding=Decoding(temperature=0)))
    assert caught.value.reply.request_changes == ("temperature: 0.0 → absent",)


async def test_a_bare_id_of_anthropics_is_called_by_its_whole_name(provider, new_model):
    provider.answers(200, DONE)
    await new_model(id="claude-sonnet-4-5").reply(asking())
    assert provider.requests[0]["model"] == "claude-sonnet-4-5"
    assert provider.requests[0]["max_tokens"] == 32_000


async def test_options_travel_in_the_body_and_betas_in_a_header(provider, new_model):
    provider.answers(200, DONE)
    options = {
        "output_config": {"effort": "low"},
        "betas": ["a-1", "b-2"],
        "parallel_tool_calls": False,
        "top_p": 0.5,
    }
    await new_model(options=options).reply(asking(tools=[FLY]))
    sent = provider.requests[0]
    assert (sent["output_config"], sent["top_p"]) == ({"effort": "low"}, 0.5)
    assert not {"betas", "parallel_tool_calls"} & sent.keys()
    assert sent["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert provider.headers[0]["anthropic-beta"] == "a-1,b-2"


@pytest.mark.parametrize(("choice", "sent"), [("auto", "auto"), ("required", "any"), ("none", "none")])
async def test_tools_go_in_anthropics_shape_with_the_choice_in_its_words(provider, new_model, choice, sent):
    provider.answers(200, DONE)
    await new_model(prompt_cache="off").reply(asking(tools=[FLY], tool_choice=choice))
    schema = {"type": "object", "properties": {}}
    assert provider.requests[0]["tools"] == [{"name": "fly", "description": "d", "input_schema": schema}]
    assert provider.requests[0]["tool_choice"] == {"type": sent}


async def test_a_turn_goes_back_block_by_block_as_it_came_under_the_ids_the_agent_gave(provider, new_model):
    provider.answers(200, DONE)
    history = [ASK, turn(1, call("new_a"), call("new_b")), result("new_a"), result("new_b")]
    await new_model(prompt_cache="off").reply(asking(*history, tools=[FLY]))
    _, said, seen = provider.requests[0]["messages"]
    came = DIALECT.content(1)
    assert [block["type"] for block in came] == [
        *("thinking", "tool_use", "redacted_thinking", "thinking", "tool_use")
    ]
    assert said["content"] == [came[0], {**came[1], "id": "new_a"}, *came[2:4], {**came[4], "id": "new_b"}]
    assert [block["tool_use_id"] for block in seen["content"]] == ["new_a", "new_b"]


async def test_a_call_that_the_agent_dropped_is_dropped_with_the_thinking_before_it(provider, new_model):
    provider.answers(200, DONE)
    await new_model(prompt_cache="off").reply(asking(ASK, turn(1, call("toolu_10")), result("toolu_10")))
    await new_model().reply(asking(ASK, turn(1), {"role": "user", "content": "Well?"}))
    first, second = (sent["messages"] for sent in provider.requests)
    assert first[1]["content"] == DIALECT.content(1)[:2]
    assert [message["role"] for message in second] == ["user"], "a turn of nothing is no turn"


async def test_a_turn_of_another_protocol_goes_as_text_and_calls(provider, new_model):
    provider.answers(200, DONE)
    foreign = {**turn(0, call("a", "{bad"), call("b", '{"x": NaN}')), "content": "Hm."}
    foreign["provider_turn"] = {"dialect": "responses", "body": []}
    await new_model(prompt_cache="off").reply(asking(ASK, foreign, result("a"), result("b")))
    assert provider.requests[0]["messages"][1]["content"] == [
        {"type": "text", "text": "Hm."},
        {"type": "tool_use", "id": "a", "name": "fly", "input": {"not_a_json_object": "{bad"}},
        {"type": "tool_use", "id": "b", "name": "fly", "input": {"not_a_json_object": '{"x": NaN}'}},
    ]


async def test_results_and_what_the_user_adds_are_one_turn_and_empty_texts_are_left_out(provider, new_model):
    provider.answers(200, DONE)
    history = [ASK, turn(0, call("toolu_00")), result("toolu_00"), {"role": "user", "content": " "}]
    await new_model(prompt_cache="off").reply(asking(*history, {"role": "user", "content": "So?"}))
    assert provider.requests[0]["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "toolu_00", "content": "{}"},
        {"type": "text", "text": "So?"},
    ]


async def test_pictures_stand_in_the_prompt_and_in_a_tools_result(tmp_path):
    with conforming(AnthropicDialect()) as server:
        media = MediaStore(tmp_path)
        model = AnthropicModel(ModelSpec(id="anthropic/m", api_base=server.root), media)
        block, data = picture(media)
        prompt = {"role": "user", "content": [{"type": "text", "text": "see"}, block]}
        seen = [{"type": "text", "text": "a view"}, block]
        await model.reply(asking(prompt, turn(0, call("toolu_00")), result("toolu_00", seen), tools=[FLY]))
        await model.close()
    first, _, last = server.requests[0]["messages"]
    in_result = last["content"][0]["content"]
    assert in_result[0] == {"type": "text", "text": "a view"}
    for found in (first["content"][1], in_result[1]):
        assert found["source"]["media_type"] == "image/png"
        assert base64.b64decode(found["source"]["data"]) == data


async def test_a_picture_is_sent_from_the_bytes_that_all_models_share(tmp_path):
    media = MediaStore(tmp_path)
    block, _ = picture(media)
    pieces, _ = MessagesRequest(ModelSpec(id="anthropic/m"), media).pieces(
        asking({"role": "user", "content": [block]})
    )
    shared = PICTURES.url(block, media)
    assert any(isinstance(piece, memoryview) and piece.obj is shared for piece in pieces)
    assert json.loads(b"".join(pieces))["messages"][0]["content"][0]["type"] == "image"


async def test_words_stand_where_a_model_takes_no_pictures_and_a_missing_one_is_a_fault(provider, new_model):
    provider.answers(200, DONE)
    block = {"type": "image", "sha256": "0" * 64, "media_type": "image/png"}
    await new_model(pictures=False).reply(asking({"role": "user", "content": [block]}))
    assert "takes text only" in provider.requests[0]["messages"][0]["content"][0]["text"]
    with pytest.raises(DataError, match="missing"):
        await new_model().reply(asking({"role": "user", "content": [block]}))


async def test_marks_end_tools_system_prompt_and_conversation_and_stand_on_no_thinking(provider, new_model):
    provider.answers(200, DONE)
    system = {"role": "system", "content": "Be brief."}
    history = [system, ASK, turn(0, call("toolu_00")), result("toolu_00"), turn(1, call("a"), call("b"))]
    await new_model().reply(asking(*history, result("a"), result("b"), tools=[FLY]))
    sent = provider.requests[0]
    assert str(sent).count("cache_control") == 4
    marked = [sent["tools"][-1], sent["system"][-1]]
    marked += [sent["messages"][0]["content"][-1], sent["messages"][-1]["content"][-1]]
    assert [block["cache_control"] for block in marked] == [MARK] * 4


@pytest.mark.parametrize(
    ("spec", "tools", "count"),
    [
        ({}, [], 0),
        ({"prompt_cache": "off"}, [FLY], 0),
        ({"options": {"cache_control": {"type": "ephemeral", "ttl": "1h"}}}, [FLY], 1),
    ],
    ids=["one turn only", "switched off", "the user's own"],
)
async def test_no_marks_where_nobody_would_read_what_they_keep(provider, new_model, spec, tools, count):
    provider.answers(200, DONE)
    await new_model(**spec).reply(asking(tools=tools))
    assert str(provider.requests[0]).count("cache_control") == count


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "model_context_window_exceeded"),
        ("pause_turn", "pause_turn"),
        ("something_new", "something_new"),
        (None, "stop"),
    ],
)
async def test_a_stop_reason_is_told_as_it_is(provider, new_model, reason, told):
    provider.answers(200, {**DONE, "stop_reason": reason})
    reply = await new_model().reply(asking())
    assert (reply.text, reply.finish_reason) == ("Paris", told)


@pytest.mark.parametrize(
    ("reason", "content", "cause"),
    [
        ("refusal", [], "refused"),
        ("refusal", [{"type": "text", "text": "To build"}], "refused"),
        ("model_context_window_exceeded", [], "context_overflow"),
    ],
)
async def test_a_refusal_and_a_full_context_are_the_models_failures(
    provider, new_model, reason, content, cause
):
    details = {"type": "refusal", "category": "cyber", "explanation": "no"}
    provider.answers(200, {**DONE, "stop_reason": reason, "stop_details": details, "content": content})
    with pytest.raises(ModelFault) as caught:
        await new_model().reply(asking())
    assert caught.value.cause == cause
    assert ("cyber: no" in str(caught.value)) == (cause == "refused")


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ({**DONE, "stop_reason": "pause_turn", "content": []}, "bad_response"),
        ({**DONE, "content": None}, "bad_response"),
        ({**DONE, "content": ["text"]}, "bad_response"),
        ({**DONE, "content": [{"type": "text", "text": None}]}, "bad_response"),
        ({**DONE, "content": [{"type": "tool_use", "name": "fly", "input": {}}]}, "bad_response"),
        ({**DONE, "content": [{"type": "tool_use", "id": [], "name": "fly", "input": {}}]}, "bad_response"),
        ({}, "bad_response"),
        ([], "bad_response"),
        ("no JSON", "bad_response"),
    ],
)
async def test_an_answer_that_cannot_be_read_is_the_providers_fault(provider, new_model, body, cause):
    provider.answers(200, body)
    with pytest.raises(ProviderFault) as caught:
        await new_model().reply(asking())
    assert (caught.value.cause, caught.value.transient) == (cause, True)


async def test_an_empty_answer_is_an_answer(provider, new_model):
    provider.answers(200, {**DONE, "content": []})
    assert (await new_model().reply(asking())).text == ""


@pytest.mark.parametrize(
    ("status", "kind", "cause", "transient"),
    [
        (400, "invalid_request_error", "bad_request", False),
        (401, "authentication_error", "auth", False),
        (402, "billing_error", "quota", False),
        (403, "permission_error", "auth", False),
        (404, "not_found_error", "not_found", False),
        (413, "request_too_large", "bad_request", False),
        (429, "rate_limit_error", "rate_limit", True),
        (500, "api_error", "server_error", True),
        (504, "timeout_error", "timeout", True),
        (529, "overloaded_error", "server_error", True),
    ],
)
async def test_an_error_has_its_cause(provider, new_model, status, kind, cause, transient):
    error = {"type": "error", "error": {"type": kind, "message": "So it is."}}
    provider.answers(status, error, {"retry-after": "7"})
    with pytest.raises(ProviderFault, match="So it is") as caught:
        await new_model().reply(asking())
    assert (caught.value.cause, caught.value.transient) == (cause, transient)
    if transient:
        assert caught.value.retry_after_s == 7.0


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"input_tokens": 10, "output_tokens": 5}, (10, 5, None, None, None)),
        ({"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 0}, (10, 5, 0, None, None)),
        (
            {
                "input_tokens": 10,
                "output_tokens": 5,
                "cache_creation_input_tokens": 100,
                "cache_read_input_tokens": 200,
                "output_tokens_details": {"thinking_tokens": 4},
            },
            (310, 5, 200, 100, 4),
        ),
        ({"input_tokens": "many", "output_tokens": 5}, (None,) * 5),
        ({"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": -1}, (None,) * 5),
        (None, (None,) * 5),
        ("nonsense", (None,) * 5),
    ],
)
async def test_usage_counts_what_the_cache_held_and_is_never_guessed(provider, new_model, usage, counts):
    provider.answers(200, {**DONE, "usage": usage})
    reply = await new_model().reply(asking())
    found = (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens, reply.cache_write_tokens)
    assert (*found, reply.reasoning_tokens) == counts


async def test_cached_tokens_have_prices_of_their_own(provider, new_model):
    provider.answers(200, DONE)
    reply = await new_model(id="anthropic/claude-sonnet-4-5").reply(asking())
    assert reply.usd == pytest.approx((10 * 3 + 100 * 3.75 + 200 * 0.3 + 50 * 15) / 1e6)


@pytest.mark.parametrize("name", ["model", "messages", "system", "tools", "stream"])
def test_what_is_said_is_no_option(tmp_path, name):
    spec = ModelSpec(id="anthropic/m", client="direct", options={name: "x"})
    with pytest.raises(SpecError, match="may not be set") as caught:
        open_model(spec, MediaStore(tmp_path))
    assert caught.value.field == f"options.{name}"


async def test_the_usual_key_goes_to_anthropic_or_where_the_operator_points_and_nowhere_else(
    provider, new_model, monkeypatch
):
    provider.answers(200, DONE)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url.removesuffix("/v1"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "usual")
    await new_model(api_base=None).reply(asking())
    await new_model().reply(asking())
    assert [headers["x-api-key"] for headers in provider.headers] == ["usual", "none"]
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ProviderFault, match="ANTHROPIC_API_KEY") as caught:
        await new_model(api_base=None).reply(asking())
    assert caught.value.cause == "no_api_key"
