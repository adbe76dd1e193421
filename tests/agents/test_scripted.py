import pytest

from gnomon.core.errors import ModelFault, ProviderFault, SpecError
from gnomon.core.model import Request
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon.spec.script import read_script
from gnomon_agents.models.catalog import open_model
from gnomon_agents.models.scripted import ScriptedModel

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


def test_a_field_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(SpecError, match="not permitted; allowed here: contains, tools, tool_choice, replies"):
        read_script({"rules": [{"prompt": "Tokyo", "replies": ["A"]}]})
    with pytest.raises(SpecError, match="not permitted; allowed here: name, arguments, id"):
        read_script({"replies": [{"tool_calls": [{"name": "x", "args": {}}]}]})


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


CALL = {"text": "", "tool_calls": [{"name": "fly"}]}


@pytest.mark.parametrize(
    ("choice", "replies", "said"),
    [
        ("auto", ["a", CALL, "b"], "a"),
        ("required", ["a", CALL, "b"], "call"),
        ("required", ["a", "b"], "a"),
        ("none", [CALL, "b"], "b"),
        ("none", [CALL], "call"),
    ],
)
async def test_it_does_as_tool_choice_says_where_its_script_lets_it(choice, replies, said):
    asked = Request(messages=[{"role": "user", "content": "q"}], tools=[FLY], tool_choice=choice)
    reply = await scripted(replies=replies).reply(asked)
    assert ("call" if reply.tool_calls else reply.text) == said


async def test_without_tools_there_is_nothing_to_choose():
    asked = Request(messages=[{"role": "user", "content": "q"}], tools=[], tool_choice="none")
    assert (await scripted(replies=["a", "b"]).reply(asked)).text == "a"


async def test_a_rule_may_ask_how_tools_may_be_used():
    model = scripted(rules=[{"tool_choice": "none", "replies": ["quiet"]}], replies=["free"])
    texts = []
    for choice in ("none", "auto"):
        asked = Request(messages=[{"role": "user", "content": "q"}], tools=[FLY], tool_choice=choice)
        texts.append((await model.reply(asked)).text)
    assert texts == ["quiet", "free"]


# A model that can calculate but not read: what it does under each arm of the ladder is known.
LADDER = {
    "models": [
        {
            "id": "scripted",
            "options": {
                "rules": [
                    {"contains": "says nothing about", "replies": [CALL, "Rome"]},  # a placebo confuses it
                    {"tools": True, "tool_choice": "none", "replies": ["Paris"]},
                    {"tools": True, "replies": [{"tool_calls": [{"name": "list_cameras"}]}, "Paris"]},
                    {"contains": "Facts about", "replies": ["Rome"]},
                ],
                "replies": ["Paris"],
            },
        }
    ],
    "arms": [
        {"name": "raw", "agent": "react"},
        {"name": "facts", "agent": "react", "show": ["facts"]},
        {"name": "schema_only", "agent": "react", "tools": "all", "tool_choice": "none"},
        {"name": "placebo", "agent": "react", "tools": "all", "results": "neutral"},
        {"name": "live", "agent": "react", "tools": "all"},
    ],
}


@pytest.mark.parametrize(
    ("arm", "score", "calls"),
    [("raw", 1, 0), ("facts", 0, 0), ("schema_only", 1, 0), ("placebo", 0, 1), ("live", 1, 1)],
)
async def test_planted_effects_show_on_each_step_of_the_ladder(run, arm, score, calls):
    row, _ = await run(LADDER, arm)
    assert (row.outcome, row.score, row.tool_calls, row.tool_errors) == ("scored", score, calls, 0)


async def test_injected_faults_are_counted_by_tool_and_marked_in_the_trace(run):
    faults = {"kind": "explicit", "lasting": "permanent", "rate": 1.0}
    row, trace = await run(
        {**LADDER, "arms": [{"name": "f", "agent": "react", "tools": "all", "faults": faults}]}, "f"
    )
    assert row.tools_used == {"list_cameras": {"calls": 1, "bad_arguments": 0, "errors": 1, "injected": 1}}
    assert [step.injected for step in trace.tool_steps] == ["explicit_permanent"]
    assert row.outcome == "scored", "a fault of ours on purpose is never a missing trial"


@pytest.mark.parametrize(
    ("arm", "replies", "flags"),
    [
        (
            {"tool_choice": "none"},
            [{"text": "Paris", "tool_calls": [{"name": "fly"}]}],
            ("forbidden_call",),
        ),
        ({"tool_choice": "required"}, ["Paris"], ("required_call_missing",)),
        ({"tool_choice": "required"}, [CALL, "Paris"], ()),
        ({"contract": "0123456789ab"}, ["Paris"], ("tools_changed",)),
    ],
)
async def test_a_trial_that_was_not_what_its_arm_says_is_flagged(run, arm, replies, flags):
    spec = {
        "models": [{"id": "scripted", "options": {"replies": replies}}],
        "arms": [{"name": "a", "agent": "react", "tools": "all", **arm}],
    }
    row, _ = await run(spec, "a")
    assert (row.flags, row.score) == (flags, 1.0)
