"""The agent `code`: Python over the tools, whose calls count like any other."""

import asyncio
import json
from dataclasses import replace

import pytest

from gnomon.core.agent import AGENTS, LimitReached
from gnomon.core.errors import Unavailable
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon.trials.job_context import JobContext
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_plan import expand_trials
from gnomon_agents.code import CALL_REMINDER, CUT, FORBIDDEN, RAN, REMINDER, REPEATED, SAME, code
from gnomon_agents.code_runtime import interpreter
from gnomon_agents.core.tool_turn import LAST_TURN
from gnomon_agents.models.reference.model import ReferenceModel


def block(text, before="I compute.\n", after=""):
    return f"{before}```python\n{text}\n```{after}"


def told(context, turn=-1):
    """What the model was told before one of its turns, as one text."""
    content = context.model.requests[turn].messages[-1]["content"]
    return "\n".join(block["text"] for block in content)


class Listening:
    def __init__(self, model):
        self.model, self.id, self.requests = model, "s", []

    async def reply(self, request):
        self.requests.append(request)
        return await self.model.reply(request)

    async def close(self):
        return None


@pytest.fixture
def heard(new_context):
    def make(replies, **arm):
        context = new_context(replies, **arm)
        context.model = Listening(context.model)
        return context

    return make


async def test_tools_are_functions_and_their_calls_are_recorded(heard):
    context = heard(
        [block("said = [echo(word)['said'] for word in ('a', 'b')]\nprint(said)\nlen(said)"), "ab"]
    )
    assert await code.answer(context) == "ab"
    assert "def echo(word: str) -> dict:" in told(context, 0)
    assert not context.model.requests[0].tools
    assert [(step.name, json.loads(step.arguments), step.error) for step in context.trace.tool_steps] == [
        ("echo", {"word": "a"}, None),
        ("echo", {"word": "b"}, None),
    ]
    assert "['a', 'b']\nValue: 2" in told(context)
    assert context.trace.steps[3].text.startswith(RAN)


async def test_names_stay_from_block_to_block_and_a_final_answer_ends_the_trial(heard):
    context = heard([block("x = echo(word='Paris')"), block("final_answer(x['said'])"), "never asked"])
    assert await code.answer(context) == "Paris"
    assert len(context.trace.replies) == 2


async def test_a_block_that_holds_a_json_object_alone_is_the_answer(heard):
    context = heard([block("print(1)"), block('{"answer": "D"}'), "never asked"])
    assert await code.answer(context) == '{"answer": "D"}'
    assert len(context.trace.replies) == 2


@pytest.mark.parametrize(
    ("value", "answer"), [("'B'", "B"), ("{'a': [1, 2.5]}", '{"a": [1, 2.5]}'), ("None", "null"), ("3", "3")]
)
async def test_a_final_answer_is_text_or_json(heard, value, answer):
    assert await code.answer(heard([block(f"final_answer({value})")])) == answer


async def test_only_the_first_block_runs_and_what_follows_it_is_cut_off(heard):
    made_up = f"\nObservation:\nParis\n{block('echo(1)')}"
    context = heard([block("echo('a')", after=made_up), "end"])
    await code.answer(context)
    assert [json.loads(step.arguments)["word"] for step in context.trace.tool_steps] == ["a"]
    assert "Paris" not in str(context.model.requests[1].messages[1]["content"])


@pytest.mark.parametrize(
    "reply",
    ["```json\n{}\n```", "no code", "the `python` block", "```\nprint(1)\n```", "```pythonic\n1\n```"],
)
async def test_a_reply_without_a_block_of_python_is_the_answer(heard, reply):
    assert await code.answer(heard([reply])) == reply


async def test_a_block_that_was_cut_off_runs_as_far_as_it_goes(heard):
    context = heard(["```python\nprint('far')\nprint('fart", "end"])
    assert await code.answer(context) == "end"
    assert "SyntaxError" in told(context)


@pytest.mark.parametrize(
    ("text", "says", "errors"),
    [
        ("echo('hush')", "RuntimeError: say something louder", ["tool_error"]),
        ("echo(3)", "RuntimeError: word: Input should be a valid string", ["bad_arguments"]),
        ("echo(volume=3)", "RuntimeError: word: Field required", ["bad_arguments"]),
        ("echo('a', 'b')", "TypeError: echo() takes 1 positional arguments but 2 were given", []),
        ("echo('a', word='b')", "TypeError: echo() got multiple values for argument 'word'", []),
        ("echo('a' * 200_000)", "TypeError: echo() takes arguments of at most 100,000 characters", []),
        ("shout('a')", "NameError: name 'shout' is not defined", []),
        ("1 +", "SyntaxError", []),
        ("1\n\n1 / 0", "line 3", []),
    ],
)
async def test_what_goes_wrong_in_the_code_is_told_with_its_line(heard, text, says, errors):
    context = heard([block(text), "so be it"])
    assert await code.answer(context) == "so be it"
    assert says in told(context)
    assert "python-input" not in told(context)
    assert [step.error for step in context.trace.tool_steps] == errors


async def test_code_may_catch_what_a_tool_refuses(heard):
    text = "try:\n    echo('hush')\nexcept RuntimeError as error:\n    print('refused:', error)\n"
    context = heard([block(text), "end"])
    await code.answer(context)
    assert "refused: say something louder" in told(context)


async def test_calls_in_loops_end_at_the_limit(heard):
    context = heard([block("for word in range(100):\n    echo(str(word))"), "end"], max_tool_calls=3)
    assert await code.answer(context) == "end"
    assert len(context.trace.tool_steps) == 3
    assert "All 3 tool calls are used up" in told(context)
    assert "All calls of functions are used up." in told(context)


async def test_a_call_that_repeats_an_earlier_one_is_told_so_once(heard):
    context = heard([block("echo('a')"), block("echo('a')"), block("echo('b')"), "end"])
    assert await code.answer(context) == "end"
    assert [REPEATED in told(context, turn) for turn in range(4)] == [False, False, True, False]


async def test_the_last_turn_is_told_with_the_form_of_the_answer(heard):
    context = heard([block("1"), block("2"), "3"], max_turns=3)
    assert await code.answer(context) == "3"
    assert [LAST_TURN in told(context, turn) for turn in range(3)] == [False, False, True]


async def test_a_model_that_only_writes_code_ends_at_its_turns(heard):
    with pytest.raises(LimitReached, match="max_turns"):
        await code.answer(heard([block("1")], max_turns=3))


@pytest.mark.parametrize("arm", [{"tool_choice": "none"}, {"max_tool_calls": 0}])
async def test_functions_that_are_forbidden_are_shown_and_not_there(heard, arm):
    context = heard([block("echo('a')"), "so be it"], **arm)
    assert await code.answer(context) == "so be it"
    assert FORBIDDEN in told(context, 0)
    assert "def echo(word: str) -> dict:" in told(context, 0)
    assert "NameError: name 'echo' is not defined" in told(context)
    assert not context.trace.tool_steps


@pytest.mark.parametrize(
    ("words", "arm", "example"),
    [
        (6, {}, "print(echo(word=...))"),
        (5, {}, "print(echo(...))"),
        (3, {}, "print(6 * 7)"),
        (6, {"tool_choice": "none"}, "print(6 * 7)"),
    ],
)
async def test_the_example_calls_a_function_where_there_is_one(heard, words, arm, example):
    context = heard(["so be it"], **arm)
    context.words = words
    assert await code.answer(context) == "so be it"
    assert f"such as this:\n```python\n{example}\n```\nYou will" in told(context, 0)
    last_line = CALL_REMINDER if "word=" in example else REMINDER
    assert told(context, 0).endswith(last_line)


class Cut(Listening):
    """Ends each reply at a limit of tokens."""

    async def reply(self, request):
        return replace(await super().reply(request), finish_reason="length")


@pytest.mark.parametrize(
    ("words", "reply", "says"),
    [
        (6, "```python\necho('a')\nprint('fart", CUT),
        (6, block("echo('a')"), "Value: {'said': 'a'}"),
        (5, "```python\necho('a')\nprint('fart", "SyntaxError"),
    ],
)
async def test_a_block_that_a_limit_cut_does_not_run_and_the_model_is_told_why(heard, words, reply, says):
    context = heard([reply, "end"])
    context.words, context.model = words, Cut(context.model.model)
    assert await code.answer(context) == "end"
    assert says in told(context)


async def test_a_block_that_comes_to_the_same_again_is_told_so(heard):
    context = heard([block("1 / 0"), block("1 / 0"), block("x = 1"), block("x"), "end"])
    assert await code.answer(context) == "end"
    assert [SAME in told(context, turn) for turn in range(5)] == [False, False, True, False, False]


@pytest.mark.parametrize("arm", [{"tool_choice": "none"}, {"max_tool_calls": 0}, {}])
async def test_without_tools_it_is_python_alone_as_where_earlier_words_forbid_them(heard, arm):
    context = heard([block("sum(range(10))"), "45"], **arm)
    if arm:
        context.words = 2
    else:
        context.toolbox = type(context.toolbox)((), None)
    assert await code.answer(context) == "45"
    assert "def echo" not in told(context, 0)
    assert "Value: 45" in told(context)


async def test_time_and_memory_are_bounded_and_the_trial_goes_on(heard, monkeypatch):
    monkeypatch.setattr(interpreter, "RUN_SECONDS", 0.2)
    loop, much, name = block("x = 1\nwhile True:\n    pass"), block("[0] * 10**9"), block("x")
    context = heard([loop, name, much, block("print('a' * 10**6, end='')"), "end"])
    assert await code.answer(context) == "end"
    [timed_out], [gone], [too_much], [cut] = (
        [block["text"] for block in request.messages[-1]["content"] if block["text"] != "Observation:"]
        for request in context.model.requests[1:]
    )
    assert "TimeoutError" in timed_out
    assert "Python was started anew" in timed_out
    assert "NameError" in gone
    assert "MemoryError" in too_much
    assert cut.endswith("(980,000 more characters)")


async def test_the_same_code_gives_the_same_result(heard):
    text = "import random, datetime, time\ntime.sleep(1e6)\n(random.random(), time.time())"
    notes = set()
    for _ in range(2):
        await code.answer(context := heard([block(text), "end"]))
        notes.add(context.trace.steps[1].text)
    assert len(notes) == 1


async def test_a_cancelled_trial_leaves_no_process_that_runs(heard, monkeypatch):
    monkeypatch.setattr(interpreter, "RUN_SECONDS", 0.3)
    context = heard([block("while True:\n    pass")])
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(code.answer(context), 0.1)
    context = heard([block("1 + 1"), "end"])  # the pool lives on
    assert await code.answer(context) == "end"


async def test_more_trials_than_there_are_interpreters_take_turns(heard, monkeypatch):
    monkeypatch.setattr(interpreter, "PROCESSES", 2)
    contexts = [heard([block("echo('a')"), "end"]) for _ in range(6)]
    assert await asyncio.gather(*(code.answer(context) for context in contexts)) == ["end"] * 6


async def test_an_interpreter_that_does_not_start_is_no_fault_of_the_model(heard, monkeypatch):
    def fails(_):
        raise FileNotFoundError("no such binary")

    monkeypatch.setattr(interpreter, "_enter", fails)
    with pytest.raises(Unavailable, match="does not start: no such binary"):
        await code.answer(heard([block("1")]))


@pytest.mark.parametrize("agent", ["react", "text-react", "code"])
async def test_the_reference_acts_alike_by_every_interface(agent, tmp_path):
    arm = {"name": "a", "agent": agent, "tools": "all"}
    spec = JobSpec.model_validate(
        {
            "benchmark": "worlds",
            "select": {"limit": 7, "seed": 1},
            "models": [{"id": "reference"}],
            "arms": [arm],
        }
    )
    media = MediaStore(tmp_path)
    worlds = spec.plugin()
    samples = worlds.open(data=None, select=spec.select, protocol="guarded", media=media)
    scores, calls = [], []
    for trial in expand_trials("j", spec, samples.refs):
        row, trace = await run_trial(
            trial,
            bench=JobContext(spec=spec, benchmark=worlds, media=media),
            sample=lambda ref=trial.ref: samples.get(ref.sample_id),
            agent=AGENTS.get(agent),
            model=ReferenceModel(ModelSpec(id="reference")),
        )
        scores.append(row.score)
        calls += [step.name for step in trace.tool_steps]
        assert not row.tool_errors
    assert sum(scores) / len(scores) > 0.7
    assert calls.count("list_cameras") == 7
