"""Counts are bounded where they enter, and a call has one price, whoever asks for it."""

import importlib
import json
import random

import pytest

from gnomon.core.model import Request
from gnomon.media import MediaStore
from gnomon.price_table import Entry, _text, entry_of, price_entry
from gnomon.spec.model_spec import ModelSpec, Price
from gnomon_agents.models.litellm_model import LiteLLMModel, load
from gnomon_agents.models.openai_model import OpenAIModel
from gnomon_agents.models.usage import TokenUsage, chat_usage, price_of_call, pricing
from gnomon_service.trial_costs import Usage
from gnomon_workers.budget.cost_bound import price_of

ASK = Request(messages=[{"role": "user", "content": "hi"}], tools=[], timeout_s=10.0)
COUNTS = [
    *((10**30, 7), (-1, 7), (11, True), ("11", "7"), (11.5, 7), ({"a": 1}, 7), (11, 10**10), (1e30, 7)),
    (float("nan"), 7),
]
NONSENSE = [[], 3, "11", True, {"prompt_tokens": []}]
NONSENSE += [{"prompt_tokens": prompt, "completion_tokens": completion} for prompt, completion in COUNTS]


@pytest.mark.parametrize("usage", NONSENSE, ids=repr)
def test_a_count_that_is_none_is_unknown_and_says_so(usage):
    assert chat_usage(usage) == TokenUsage(is_unreadable=True)


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": None}]
)
def test_a_count_that_is_not_given_is_unknown_and_nothing_is_wrong(usage):
    assert chat_usage(usage) == TokenUsage()


@pytest.mark.parametrize(
    "details", [3, [], "4", {"cached_tokens": "4"}, {"cached_tokens": 12}, {"cached_tokens": -1}]
)
def test_details_of_nonsense_are_unknown_and_the_rest_is_kept(details):
    usage = chat_usage({"prompt_tokens": 11, "completion_tokens": 7, "prompt_tokens_details": details})
    assert (usage.prompt, usage.completion, usage.cached) == (11, 7, None)
    assert usage.is_unreadable == isinstance(details, dict)


@pytest.mark.parametrize(
    ("usage", "known"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 4}}, {"cached": 4}),
        ({"prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 7}, {"cached": 4}),  # DeepSeek
        ({"cached_tokens": 4}, {"cached": 4}),  # Kimi
        ({"prompt_tokens_details": {"cache_write_tokens": 4}}, {"cache_write": 4}),  # OpenRouter
        ({"prompt_tokens_details": {"cache_creation_tokens": 4}}, {"cache_write": 4}),  # LiteLLM
        ({"completion_tokens_details": {"reasoning_tokens": 4}}, {"reasoning": 4}),
        (
            {"completion_tokens_details": {"reasoning_tokens": 40}, "total_tokens": 58},
            {"reasoning": 40, "completion": 47},
        ),
        ({"completion_tokens_details": {"reasoning_tokens": 40}}, {"reasoning": 40, "completion": 47}),
        (
            {"total_tokens": 58},
            {"reasoning": 40, "completion": 47},
        ),  # Gemini's endpoint for OpenAI's protocol
        ({"completion_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 18}, {"reasoning": 5}),
        ({"total_tokens": 3}, {}),
        ({"cost": 0.25}, {"usd": 0.25}),  # OpenRouter
        ({"cost": 0.25, "is_byok": False, "cost_details": {"upstream_inference_cost": 1}}, {"usd": 0.25}),
        ({"cost": 0.25, "is_byok": True, "cost_details": {"upstream_inference_cost": 5}}, {"usd": 5.25}),
        ({"cost": 0.25, "is_byok": True}, {"is_charged_elsewhere": True}),
    ],
)
def test_each_provider_is_read_in_its_own_words(usage, known):
    wanted = TokenUsage(**{"prompt": 11, "completion": 7, **known})
    assert chat_usage({"prompt_tokens": 11, "completion_tokens": 7, **usage}) == wanted


@pytest.mark.parametrize("cost", [-1, float("inf"), 10**30, "0.25"])
def test_a_cost_of_nonsense_is_unknown(cost):
    usage = chat_usage({"prompt_tokens": 11, "completion_tokens": 7, "cost": cost})
    assert (usage.usd, usage.is_unreadable) == (None, True)


@pytest.mark.parametrize("kind", [LiteLLMModel, OpenAIModel])
async def test_a_count_that_no_database_holds_is_flagged_and_the_reply_is_kept(provider, tmp_path, kind):
    provider.says("Paris", usage={"prompt_tokens": 10**30, "completion_tokens": 7, "total_tokens": 10**30})
    model = kind(
        ModelSpec(id="openai/m", api_base=provider.url, price={"input": 1, "output": 1}), MediaStore(tmp_path)
    )
    reply = await model.reply(ASK)
    await model.close()
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens, reply.usd) == (
        "Paris",
        None,
        None,
        None,
    )
    assert reply.flags == ("usage_unreadable",)


@pytest.mark.parametrize("kind", [LiteLLMModel, OpenAIModel])
async def test_what_the_provider_charged_is_preferred_to_the_table_and_the_spec_to_both(
    provider, tmp_path, kind
):
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, "cost": 0.25}
    provider.says("Paris", usage=usage)
    for price, usd in ((None, 0.25), ({"input": 1e6, "output": 0}, 11.0)):
        model = kind(ModelSpec(id="openai/gpt-4o", api_base=provider.url, price=price), MediaStore(tmp_path))
        assert (await model.reply(ASK)).usd == pytest.approx(usd)
        await model.close()


def test_the_fee_for_a_key_of_ones_own_is_no_price_of_a_call():
    usage = chat_usage({"prompt_tokens": 11, "completion_tokens": 7, "cost": 0.25, "is_byok": True})
    assert pricing(ModelSpec(id="openai/gpt-4o"))(usage) is None
    stated = ModelSpec(id="openai/gpt-4o", price={"input": 1e6, "output": 0})
    assert pricing(stated)(usage) == pytest.approx(11.0)


@pytest.mark.parametrize(
    ("model_id", "options", "factors"),
    [
        ("openai/gpt-5", {"service_tier": "flex"}, (0.5, 0.5)),
        ("openai/gpt-5", {"service_tier": "priority"}, (2, 2)),
        ("openai/gpt-5", {"service_tier": "auto"}, (1, 1)),
        ("openai/gpt-5", {"service_tier": "scale"}, None),
        ("anthropic/claude-sonnet-4-5", {"service_tier": "priority"}, None),
        ("anthropic/claude-opus-4-8", {"inference_geo": "us"}, (1.1, 1.1)),
        ("anthropic/claude-opus-4-8", {"inference_geo": "us", "speed": "fast"}, (2.2, 2.2)),
        ("anthropic/claude-opus-4-8", {"inference_geo": "global"}, (1, 1)),
        ("anthropic/claude-sonnet-4-5", {"inference_geo": "us"}, None),
        ("anthropic/claude-sonnet-4-5", {"cache_control": {"type": "ephemeral"}}, (1, 1)),
    ],
)
def test_an_option_that_changes_what_is_charged_changes_the_price_or_makes_it_unknown(
    model_id, options, factors
):
    usual = entry_of(model_id).rates
    entry = price_entry(ModelSpec(id=model_id, options=options))
    found = None if entry is None else (entry.rates.input / usual.input, entry.rates.output / usual.output)
    assert found == (None if factors is None else pytest.approx(factors))


def test_a_prefix_that_is_kept_for_an_hour_costs_more_to_write():
    kept = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    entry = price_entry(ModelSpec(id="anthropic/claude-sonnet-4-5", options=kept))
    assert (entry.rates.input, entry.rates.cache_write) == pytest.approx((3e-6, 6e-6))
    assert price_entry(ModelSpec(id="openai/gpt-4o", options=kept)) is None


def test_cached_and_written_tokens_have_prices_of_their_own():
    usage = TokenUsage(prompt=100, completion=10, cached=60, cache_write=20, reasoning=4)
    plain = Price(input=10, output=100)
    assert price_of_call(usage, Entry.of(plain), is_stated=True) == pytest.approx((100 * 10 + 10 * 100) / 1e6)
    full = Price(input=10, output=100, cached_input=1, cache_write=12.5, reasoning=200)
    wanted = 20 * 10 + 60 * 1 + 20 * 12.5 + 6 * 100 + 4 * 200
    assert price_of_call(usage, Entry.of(full), is_stated=True) == pytest.approx(wanted / 1e6)


def chat_models():
    """Every chat model of the table, as a LiteLLM id."""
    table = json.loads(_text()).items()
    return [key for key, found in table if found.get("mode") in ("chat", "responses") and "/" in key]


def priced(ids):
    """Those that have a price; to look for one takes milliseconds."""
    return [key for key in ids if entry_of(key) is not None]


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.soak)])
def test_plan_limits_and_replies_have_one_price_for_every_model_of_the_table(every):
    ids = ["openai/gpt-4o", "anthropic/claude-sonnet-4-5", *priced(chat_models()[::every])]
    assert len(ids) > 2_000 / every
    for model_id in ids:
        spec = ModelSpec(id=model_id)
        usage = TokenUsage(prompt=1_000, completion=100)
        usd = pricing(spec)(usage)
        assert usd is not None, model_id
        assert Usage(prompt=1_000, completion=100).usd(spec) == pytest.approx(usd), model_id
        dearest = price_of(spec)
        assert dearest is not None, model_id
        assert usd <= 1_000 * dearest[0] + 100 * dearest[1] + 1e-12, model_id


@pytest.mark.parametrize("prompt", [1_000, 300_000])
def test_the_price_is_litellms(prompt):
    """For models of the table at random, of providers whose prices do not change by the hour or the place."""
    litellm = load()
    types = importlib.import_module("litellm.types.utils")
    known = [
        "openai/gpt-4o",
        "openai/o3-mini",
        "anthropic/claude-sonnet-4-5",
        "gemini/gemini-2.5-pro",
        "xai/grok-4-0709",
    ]
    others = [
        key
        for key in chat_models()
        if key.split("/")[0]
        in ("openai", "anthropic", "gemini", "xai", "mistral", "groq", "openrouter", "azure")
    ]
    usage = types.Usage(
        prompt_tokens=prompt,
        completion_tokens=100,
        total_tokens=prompt + 100,
        prompt_tokens_details=types.PromptTokensDetailsWrapper(cached_tokens=400),
        completion_tokens_details=types.CompletionTokensDetailsWrapper(reasoning_tokens=30),
    )
    compared = 0
    for model_id in [*known, *random.Random(1).sample(others, 70)]:
        response = types.ModelResponse(usage=usage, model=model_id.partition("/")[2])
        try:
            theirs = litellm.completion_cost(completion_response=response, model=model_id)
        except Exception:
            continue
        entry = price_entry(ModelSpec(id=model_id))
        if entry is None:
            continue
        ours = entry.usd(prompt=prompt, cached=400, completion=100, reasoning=30)
        assert ours == pytest.approx(theirs), model_id
        compared += 1
    assert compared > 40
