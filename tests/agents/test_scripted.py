import pytest

from agents.models.catalog import open_model
from agents.models.scripted import ScriptedModel
from gnomon.errors import ModelFault, ProviderFault, SpecError
from gnomon.media import MediaStore
from gnomon.model import Request
from gnomon.spec import ModelSpec

FLY = {"type": "function", "function": {"name": "fly", "description": "d", "parameters": {}}}


def scripted(**options):
    return ScriptedModel(ModelSpec(id="scripted", options=options))


def request(turns=0, text="q", tools=(), seed=0):
    messages = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    messages += [{"role": "assistant", "content": "earlier"}] * turns
    return Request(messages=messages, tools=list(tools), seed=seed)


async def test_the_place_in_the_conversation_chooses_the_reply_and_the_last_one_stays():
    model = scripted(replies=["a", "b"])
    assert [(await model.reply(request(turns))).text for turns in (1, 0, 5)] == ["b", "a", "b"]


async def test_the_first_rule_that_fits_goes_before_the_replies():
    rules = [
        {"contains": "red", "tools": True, "replies": ["red with tools"]},
        {"contains": "red", "replies": ["red"]},
    ]
    model = scripted(rules=rules, replies=["other"])
    texts = [
        (await model.reply(request(text=text, tools=tools))).text
        for text, tools in (("a red car", [FLY]), ("a red car", ()), ("a car", ()))
    ]
    assert texts == ["red with tools", "red", "other"]


async def test_a_draw_keeps_to_its_weights_and_to_its_seed():
    model = scripted(replies=[{"draw": {"yes": 0.8, "no": 0.2}}])
    drawn = [(await model.reply(request(seed=seed))).text for seed in range(500)]
    again = [(await model.reply(request(seed=seed))).text for seed in range(500)]
    assert drawn == again
    assert 340 < drawn.count("yes") < 460  # 400 expected, standard deviation 9


async def test_faults_are_raised_as_written():
    model = scripted(replies=[{"fault": "rate_limit", "retry_after_s": 3}, {"model_fault": "refused"}])
    with pytest.raises(ProviderFault) as fault:
        await model.reply(request())
    assert (fault.value.cause, fault.value.transient, fault.value.retry_after_s) == ("rate_limit", True, 3)
    with pytest.raises(ModelFault) as refused:
        await model.reply(request(turns=1))
    assert refused.value.cause == "refused"


async def test_usage_is_what_the_script_says_and_else_unknown():
    assert (await scripted(replies=["a"]).reply(request())).usd is None
    reply = await scripted(replies=["a"], prompt_tokens=3, completion_tokens=2, usd=0.5).reply(request())
    assert (reply.prompt_tokens, reply.completion_tokens, reply.usd) == (3, 2, 0.5)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({}, "options"),
        ({"replies": []}, "options"),
        ({"reply": ["a"]}, "options.reply"),
        ({"replies": ["a"], "delay_s": -1}, "options.delay_s"),
        ({"rules": [{"replies": []}]}, "options.rules.0.replies"),
        ({"replies": [{"draw": {"a": 0}}]}, "options.replies.0.draw.a"),
    ],
)
def test_options_that_are_no_script_are_refused_by_name(options, field, tmp_path):
    with pytest.raises(SpecError) as error:
        open_model(ModelSpec(id="scripted", options=options), MediaStore(tmp_path))
    assert error.value.field == field


async def test_a_planted_effect_shows_between_arms(run):
    spec = {
        "models": [
            {
                "id": "scripted-effect",
                "options": {"rules": [{"tools": True, "replies": ["Paris"]}], "replies": ["Rome"]},
            }
        ],
        "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
    }
    rows = [(await run(spec, arm))[0] for arm in ("raw", "tools")]
    assert [(row.outcome, row.score) for row in rows] == [("scored", 0.0), ("scored", 1.0)]
