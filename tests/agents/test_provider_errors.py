"""What a provider's error stands for is the same on both paths, and follows from one table."""

import pytest

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.model import Request
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.error_body import read_error
from gnomon_agents.models.fault_table import blames_reply_limit, verdict_on
from gnomon_agents.models.litellm_model import LiteLLMModel
from gnomon_agents.models.openai_model import OpenAIModel
from gnomon_agents.models.retry_after import MAX_RETRY_AFTER_S, retry_after_s
from tests.agents.provider_errors import ANSWERS, openai

ASK = Request(messages=[{"role": "user", "content": "hi"}], tools=[], timeout_s=10.0)
# Of an answer of 200 that holds an error LiteLLM keeps the status and the words alone.
ENDPOINTS = [
    "anthropic/claude-x",
    "gemini/gemini-2.5-flash",
    "openrouter/x",
    "deepseek/x",
    "groq/x",
    "mistral/x",
]


@pytest.mark.parametrize("kind", [LiteLLMModel, OpenAIModel])
@pytest.mark.parametrize("name", ANSWERS)
async def test_an_error_stands_for_the_same_on_both_paths(provider, tmp_path, kind, name):
    answer = ANSWERS[name]
    provider.answers(answer.status, answer.body, answer.headers)
    model = kind(ModelSpec(id="openai/m", api_base=provider.url), MediaStore(tmp_path))
    try:
        with pytest.raises((ProviderFault, ModelFault)) as caught:
            await model.reply(ASK)
    finally:
        await model.close()
    fault = caught.value
    assert (fault.cause, getattr(fault, "transient", None)) == (answer.cause, answer.transient)
    assert getattr(fault, "retry_after_s", None) == answer.wait_s
    assert len(provider.requests) == 1


@pytest.mark.parametrize("model_id", ENDPOINTS)
@pytest.mark.parametrize(
    "name",
    [
        "Kimi quota",
        "503 that says bad request",
        "OpenRouter moderation",
        "vLLM decoder overflow",
        "Gemini delay",
        "xAI key",
    ],
)
async def test_an_error_stands_for_the_same_with_every_adapter_of_litellm(provider, tmp_path, model_id, name):
    answer = ANSWERS[name]
    provider.answers(answer.status, answer.body, answer.headers)
    base = provider.url.removesuffix("/v1") if model_id.startswith("anthropic") else provider.url
    model = LiteLLMModel(
        ModelSpec(id=model_id, api_base=base, api_key_env="MY_TEST_KEY"), MediaStore(tmp_path)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MY_TEST_KEY", "a-key-for-the-test")
        try:
            with pytest.raises((ProviderFault, ModelFault)) as caught:
                await model.reply(ASK)
        finally:
            await model.close()
    assert caught.value.cause == answer.cause


def test_the_words_of_the_provider_come_first_in_the_message():
    error = read_error(openai("Your input was flagged", code=403, metadata={"raw": "{}"}))
    assert error.message == "Your input was flagged"


def test_what_a_fast_api_echoes_of_the_prompt_is_not_read():
    assert "too long" not in read_error({"detail": [{"msg": "bad", "input": "prompt is too long"}]}).words


@pytest.mark.parametrize(
    "body",
    [
        None,
        7,
        "text",
        [],
        {},
        {"error": None},
        {"error": {"code": {}, "message": []}},
        [[[[[[[[[[{}]]]]]]]]]],
    ],
)
def test_nonsense_says_nothing_and_raises_nothing(body):
    assert verdict_on(400, read_error(body)).cause == "bad_request"


def test_a_body_of_a_million_errors_is_read_in_part():
    body = {"error": {"errors": [{"message": "x" * 100, "type": f"t{number}"} for number in range(100_000)]}}
    assert len(read_error(body).codes) <= 100


@pytest.mark.parametrize("said", ["nan", "soon", "", "-", "1e", "²", "9" * 5_000])
def test_a_wait_of_nonsense_is_none_or_bounded(said):
    names = ("retry-after", "retry-after-ms", "x-ratelimit-reset-tokens")
    headers = {**dict.fromkeys(names, said), "x-ratelimit-remaining-tokens": "0"}
    wait_s = retry_after_s(headers, read_error({"retryDelay": said, "message": f"try again in {said}s"}))
    assert wait_s is None or 0 <= wait_s <= MAX_RETRY_AFTER_S


@pytest.mark.parametrize("kind", [LiteLLMModel, OpenAIModel])
@pytest.mark.parametrize(
    "more", [{"error": None}, {"base_resp": {"status_code": 0, "status_msg": ""}}], ids=["error", "base_resp"]
)
async def test_a_reply_that_says_it_is_no_error_is_a_reply(provider, tmp_path, kind, more):
    provider.says("Paris", **more)
    model = kind(ModelSpec(id="openai/m", api_base=provider.url), MediaStore(tmp_path))
    reply = await model.reply(ASK)
    await model.close()
    assert reply.text == "Paris"


async def test_the_words_of_an_error_under_the_status_of_a_success_are_kept(provider, tmp_path):
    provider.answers(*ANSWERS["MiniMax 1008 insuffici, 200"][:2])
    model = OpenAIModel(ModelSpec(id="minimax/m", api_base=provider.url), MediaStore(tmp_path))
    with pytest.raises(ProviderFault, match="insufficient balance"):
        await model.reply(ASK)
    await model.close()


@pytest.mark.parametrize("words", ["9" * 2_000_000, "max_" * 500_000, "of " + "x" * 2_000_000])
def test_words_without_end_are_searched_for_a_limit_in_one_pass(words):
    assert not blames_reply_limit(words)
    assert blames_reply_limit(f"max_tokens {words}")
