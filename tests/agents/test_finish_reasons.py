"""How a reply ended decides whose it is: the model's answer, the model's fault, or the server's."""

import pytest

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.model import Request
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.litellm_model import LiteLLMModel
from gnomon_agents.models.openai_model import OpenAIModel

ASK = Request(messages=[{"role": "user", "content": "hi"}], tools=[], timeout_s=10.0)
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
NOTHING = {"prompt_tokens": 11, "completion_tokens": 0, "total_tokens": 11}
PRICE = {"input": 1_000, "output": 1_000}


@pytest.fixture(params=[LiteLLMModel, OpenAIModel])
async def model(provider, tmp_path, request):
    model = request.param(ModelSpec(id="openai/m", api_base=provider.url, price=PRICE), MediaStore(tmp_path))
    yield model
    await model.close()


def ending(provider, reason, content="", *, usage=USAGE, **choice):
    """Queue a reply that ended so."""
    message = {"role": "assistant", "content": content}
    choices = [{"index": 0, "finish_reason": reason, "message": message, **choice}]
    provider.says("", choices=choices, usage=usage)


@pytest.mark.parametrize("content", ["", "The answer is"])
@pytest.mark.parametrize("reason", ["error", "insufficient_system_resource", "network_error", "abort"])
async def test_a_server_that_broke_off_is_a_fault_that_passes_whatever_came_before(
    provider, model, reason, content
):
    ending(provider, reason, content)
    with pytest.raises(ProviderFault, match=reason) as caught:
        await model.reply(ASK)
    assert (caught.value.cause, caught.value.transient) == ("server_error", True)


@pytest.mark.parametrize(
    ("error", "cause", "transient"),
    [
        ({"code": 502, "message": "upstream died"}, "server_error", True),
        ({"code": 429, "message": "slow"}, "rate_limit", True),
        ({"code": 402, "message": "no credit"}, "quota", False),
        ({"message": "upstream died"}, "server_error", True),
        ("upstream died", "server_error", True),
    ],
)
async def test_the_error_of_a_choice_says_what_broke(provider, model, error, cause, transient):
    ending(provider, "error", error=error)
    with pytest.raises(ProviderFault) as caught:
        await model.reply(ASK)
    assert (caught.value.cause, caught.value.transient) == (cause, transient)


@pytest.mark.parametrize("reason", ["something_new", "OTHER"])
async def test_an_empty_reply_for_a_reason_that_nobody_knows_is_the_servers(provider, model, reason):
    ending(provider, reason)
    with pytest.raises(ProviderFault, match=reason) as caught:
        await model.reply(ASK)
    assert (caught.value.cause, caught.value.transient) == ("bad_response", True)


async def test_words_are_an_answer_even_if_nobody_knows_the_reason(provider, model):
    ending(provider, "something_new", "Paris")
    reply = await model.reply(ASK)
    assert (reply.text, reply.finish_reason) == ("Paris", "something_new")


@pytest.mark.parametrize("reason", ["length", "model_length", "stop", "max_tokens"])
async def test_a_reply_that_was_cut_for_its_length_is_an_answer_and_keeps_its_reason(provider, model, reason):
    ending(provider, reason, "The answer is")
    reply = await model.reply(ASK)
    assert (reply.text, reply.finish_reason) == ("The answer is", reason)


@pytest.mark.parametrize(
    "reason",
    [
        "content_filter",
        "SAFETY",
        "RECITATION",
        "PROHIBITED_CONTENT",
        "sensitive",
        "refusal",
        "content_filter: SAFETY",
    ],
)
async def test_what_a_filter_left_empty_is_refused_and_its_cost_is_kept(provider, model, reason):
    ending(provider, reason)
    with pytest.raises(ModelFault) as caught:
        await model.reply(ASK)
    assert caught.value.cause == "refused"
    assert caught.value.reply.usd == pytest.approx(0.018)


@pytest.mark.parametrize(
    "reason",
    ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "function_call_filter: MALFORMED_FUNCTION_CALL"],
)
async def test_a_call_that_the_model_wrote_wrongly_is_the_models(provider, model, reason):
    ending(provider, reason)
    with pytest.raises(ModelFault, match="CALL") as caught:
        await model.reply(ASK)
    assert caught.value.cause == "malformed_call"


async def test_openrouters_own_word_for_it_counts_too(provider, model):
    ending(provider, "stop", native_finish_reason="MALFORMED_FUNCTION_CALL")
    if isinstance(model, LiteLLMModel):
        pytest.skip("LiteLLM puts its own word in the place of OpenRouter's")
    with pytest.raises(ModelFault) as caught:
        await model.reply(ASK)
    assert caught.value.cause == "malformed_call"


async def test_a_signature_that_was_not_sent_back_is_no_fault_of_the_models(provider, model):
    ending(provider, "MISSING_THOUGHT_SIGNATURE")
    with pytest.raises(ProviderFault) as caught:
        await model.reply(ASK)
    assert (caught.value.cause, caught.value.transient) == ("bad_request", False)


async def test_an_empty_reply_of_some_tokens_is_the_models_answer(provider, model):
    ending(provider, "stop")
    assert (await model.reply(ASK)).text == ""


async def test_an_empty_reply_without_usage_is_the_models_answer(provider, model):
    ending(provider, "stop", usage=None)
    assert (await model.reply(ASK)).text == ""


async def test_an_empty_reply_of_no_token_at_all_is_the_servers(provider, model):
    ending(provider, "stop", usage=NOTHING)
    with pytest.raises(ProviderFault, match="zero tokens") as caught:
        await model.reply(ASK)
    assert (caught.value.cause, caught.value.transient) == ("bad_response", True)


async def test_a_refused_trial_counts_what_it_cost(provider, run):
    ending(provider, "SAFETY")
    models = [{"id": "openai/m", "api_base": provider.url, "price": PRICE}]
    row, trace = await run({"models": models, "arms": [{"name": "raw", "agent": "direct"}]}, "raw")
    assert (row.outcome, row.stop_reason, row.score) == ("model_failed", "model:refused", 0.0)
    assert (row.prompt_tokens, row.completion_tokens) == (11, 7)
    assert row.usd == pytest.approx(0.018)
    assert trace.replies[0].finish_reason == "SAFETY"
