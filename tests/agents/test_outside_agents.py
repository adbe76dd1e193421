"""Agents from outside, over real processes: what they answer, what they tell, and how their faults end."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from gnomon.core.arm import Arm
from gnomon.core.errors import SpecError
from gnomon.core.score import Outcome
from gnomon.core.trace import ToolStep
from gnomon.spec.rules import Context, check_spec
from gnomon_outside.contract import account_of
from gnomon_workers.store import Store
from tests.workers import desk

PEER = Path(__file__).with_name("outside_peer.py")
GRAPH = "tests.agents.outside_graph"


@pytest.fixture(scope="module")
def peer() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, "-S", str(PEER)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    process.kill()
    process.wait()
    process.stdout.close()


def spec_of(agent, **more):
    arm = {"name": "theirs", "agent": agent, **more}
    return {"models": [{"id": "agent"}], "arms": [arm], "retry": {"base_s": 0, "max_attempts": 2}}


def command(mode, **more):
    return {"command": [sys.executable, "-S", str(PEER), mode], **more}


@pytest.fixture
def ask(run):
    async def one(agent, **more):
        return await run(spec_of(agent, **more), "theirs")

    return one


class TestWhatIsTold:
    async def test_steps_and_usage_are_in_the_trace_and_the_row(self, ask, peer):
        row, trace = await ask({"http": f"{peer}/http/told"})
        assert (row.outcome, row.score, row.answer) == (Outcome.SCORED, 1.0, "Paris")
        assert (row.model_calls, row.tool_calls, row.tool_errors) == (2, 2, 1)
        assert (row.prompt_tokens, row.completion_tokens, row.cached_tokens, row.usd) == (14, 3, 4, 0.25)
        assert [step.kind for step in trace.steps] == ["reply", "tool", "tool", "reply"]
        assert trace.tool_steps[0].observation == '{"capital": "Paris"}'
        assert trace.tool_steps[1].observation == "no such page"

    async def test_what_is_not_told_is_unknown(self, ask, peer):
        row, _ = await ask({"a2a": f"{peer}/message"})
        assert row.score == 1.0
        counts = (row.model_calls, row.tool_calls, row.tool_errors, row.prompt_tokens, row.usd)
        assert counts == (None,) * 5

    async def test_nonsense_is_kept_as_notes_and_counts_as_unknown(self, ask, peer):
        row, trace = await ask({"http": f"{peer}/http/odd"})
        assert (row.answer, row.prompt_tokens, row.usd) == ("7", None, None)
        assert [step.kind for step in trace.steps] == ["note", "note", "note", "reply"]

    async def test_the_question_is_by_the_contract_and_the_key_goes_along(self, ask, peer, monkeypatch):
        monkeypatch.setenv("PEER_KEY", "hunter2-hunter2")
        row, _ = await ask({"http": f"{peer}/http/seen", "api_key_env": "PEER_KEY"})
        keys, key, messages = json.loads(str(row.answer))
        expected = {"version", "sample_id", "model", "seed", "messages", "tools", "media", "limits", "mcp"}
        assert set(keys) == expected
        assert key == "Bearer [secret]"
        assert "capital of France" in messages[-1]["content"]


class TestFaults:
    @pytest.mark.parametrize(
        ("mode", "stop_reason"),
        [
            ("500", "provider:server_error"),
            ("401", "provider:auth"),
            ("429", "provider:rate_limit"),
            ("text", "agent:bad_json"),
            ("list", "agent:bad_shape"),
            ("nothing", "agent:bad_shape"),
            ("object", "agent:bad_shape"),
            ("failed", "agent:failed"),
            ("large", "agent:too_large"),
            ("hang", "agent:timeout"),
        ],
    )
    async def test_of_an_address(self, ask, peer, mode, stop_reason):
        row, _ = await ask({"http": f"{peer}/http/{mode}", "timeout_seconds": 3})
        assert (row.outcome, row.stop_reason, row.score) == (Outcome.INFRA_MISSING, stop_reason, None)
        assert row.error
        assert row.model_calls is None

    async def test_nobody_there(self, ask):
        row, _ = await ask({"openai": "http://127.0.0.1:9/v1"})
        assert row.stop_reason == "provider:connection"

    async def test_a_redirect_is_not_followed(self, ask, peer):
        row, _ = await ask({"http": f"{peer}/http/moved"})
        assert row.outcome is Outcome.INFRA_MISSING
        assert "302" in row.error

    async def test_a_variable_that_is_not_set(self, ask, peer):
        row, _ = await ask({"http": f"{peer}/http/told", "api_key_env": "NO_SUCH_KEY"})
        assert row.stop_reason == "provider:no_api_key"

    @pytest.mark.parametrize(
        ("mode", "stop_reason", "words"),
        [
            ("fails", "agent:exit", "exit code 3: ValueError: no idea"),
            ("flood", "agent:too_large", "bytes"),
            ("hungry", "agent:exit", "MemoryError"),
        ],
    )
    async def test_of_a_command(self, ask, mode, stop_reason, words):
        row, _ = await ask(command(mode, memory_mb=500))
        assert (row.outcome, row.stop_reason) == (Outcome.INFRA_MISSING, stop_reason)
        assert words in row.error

    async def test_a_command_that_a_signal_ends_says_which(self, ask):
        row, _ = await ask({"command": ["sh", "-c", "kill -SEGV $$"]})
        assert (row.stop_reason, "ended by SIGSEGV" in row.error) == ("agent:exit", True)

    async def test_a_command_that_is_not_there(self, ask):
        row, _ = await ask({"command": ["./no-such-agent"]})
        assert row.stop_reason == "agent:start"

    @pytest.mark.parametrize("begins", ["", "setsid "])
    async def test_a_command_that_hangs_is_ended_with_its_children(self, ask, tmp_path, begins):
        pid_file = tmp_path / "pid"
        script = f"{begins}sleep 60 & echo $! > {pid_file}; wait"
        row, _ = await ask({"command": ["sh", "-c", script], "timeout_seconds": 1})
        assert row.stop_reason == "agent:timeout"
        child = int(pid_file.read_text())
        for _ in range(100):
            if not _runs(child):
                break
            await asyncio.sleep(0.02)
        assert not _runs(child)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class TestCommand:
    async def test_it_reads_the_question_and_may_print_other_lines_first(self, ask):
        row, _ = await ask(command("echoes"))
        assert "capital of France" in str(row.answer)

    async def test_it_gets_only_the_variables_that_are_named(self, ask, monkeypatch):
        monkeypatch.setenv("A_SECRET_KEY", "hunter2")
        monkeypatch.setenv("WANTED", "yes")
        row, _ = await ask(command("env", env=["WANTED"]))
        names = str(row.answer).split(",")
        assert "WANTED" in names
        assert "A_SECRET_KEY" not in names

    async def test_one_that_is_kept_answers_question_after_question(self, new_context):
        from gnomon.core.agent import agent_of

        agent = agent_of(Arm(name="a", agent=command("lines", keep=True)))
        try:
            answers = [await agent.answer(new_context(["unused"], tools=False)) for _ in range(3)]
        finally:
            await agent.close()
        assert answers == ["Paris 1", "Paris 2", "Paris 3"]


class TestOpenAI:
    async def test_the_model_is_passed_on_and_its_usage_read(self, run, peer):
        spec = spec_of({"openai": f"{peer}/v1"})
        row, _ = await run({**spec, "models": [{"id": "openai/their-agent"}]}, "theirs")
        assert (row.answer, row.model_calls, row.tool_calls) == ("Paris their-agent None", None, None)
        assert (row.prompt_tokens, row.completion_tokens, row.cached_tokens) == (9, 3, 2)

    async def test_one_that_wants_its_caller_to_run_tools_is_no_agent(self, ask, peer):
        row, _ = await ask({"openai": f"{peer}/v1/asks"})
        assert row.stop_reason == "agent:asks_for_calls"

    async def test_tools_go_along_as_a_server(self, ask, peer):
        row, trace = await ask({"openai": f"{peer}/v1"}, tools=["speed"])
        assert trace.tool_steps[0].observation == '["mcp"]'
        assert row.tools_offered == 1


class TestA2A:
    @pytest.mark.parametrize("mode", ["task", "slow"])
    async def test_a_task_is_waited_for(self, ask, peer, mode):
        row, _ = await ask({"a2a": f"{peer}/{mode}"})
        assert row.answer == 'Paris\n{"sure": true}'

    @pytest.mark.parametrize(
        ("mode", "stop_reason"),
        [
            ("failed", "agent:failed"),
            ("asks", "agent:input_required"),
            ("refuses", "agent:failed"),
            ("older", "provider:bad_request"),
            ("elsewhere", "provider:bad_request"),
        ],
    )
    async def test_what_is_no_answer(self, ask, peer, mode, stop_reason):
        row, _ = await ask({"a2a": f"{peer}/{mode}"})
        assert (row.outcome, row.stop_reason) == (Outcome.INFRA_MISSING, stop_reason)


class TestLangGraph:
    async def test_its_messages_are_the_steps(self, ask):
        row, trace = await ask({"langgraph": f"{GRAPH}:graph"})
        assert (row.score, row.model_calls, row.tool_calls) == (1.0, 2, 1)
        assert (row.prompt_tokens, row.completion_tokens) == (19, 3)
        assert isinstance(trace.steps[1], ToolStep)
        assert trace.tool_steps[0].arguments == '{"of": "France"}'

    @pytest.mark.parametrize(
        ("path", "stop_reason"),
        [
            (f"{GRAPH}:broken", "agent:crash"),
            (f"{GRAPH}:NOT_A_GRAPH", "agent:start"),
            (f"{GRAPH}:nothing", "agent:start"),
            ("no_such_module:graph", "agent:start"),
        ],
    )
    async def test_its_faults(self, ask, path, stop_reason):
        row, _ = await ask({"langgraph": path})
        assert (row.outcome, row.stop_reason) == (Outcome.INFRA_MISSING, stop_reason)


async def test_handed_tools_are_recorded_limited_and_counted(new_context, peer):
    from gnomon.core.agent import agent_of

    arm = {"agent": {"http": f"{peer}/http/tools"}, "tools": ["speed"], "max_tool_calls": 3}
    context = new_context(["unused"])
    context.arm = Arm(name="a", **arm)
    agent = agent_of(context.arm)
    try:
        answers = (await agent.answer(context)).split(" | ")
    finally:
        await agent.close()
    assert [answer.partition(" ")[0] for answer in answers] == ["False", "True", "True", "True"]
    assert json.loads(answers[0].partition(" ")[2]) == {"said": "hello"}
    assert "No more calls" in answers[3]
    errors = [(step.name, step.error) for step in context.trace.tool_steps]
    assert errors == [("echo", None), ("echo", "tool_error"), ("shout", "unknown_tool")]
    assert (context.trace.tool_calls, context.trace.tool_errors, context.trace.model_calls) == (3, 2, None)


class TestOverRest:
    REQUEST = Context(agents=("direct",), is_request=True, is_trusted=True)

    @pytest.mark.parametrize(
        ("agent", "field"),
        [
            ({"langgraph": f"{GRAPH}:graph"}, "langgraph"),
            ({"command": ["sh", "-c", "id"]}, "command"),
            ({"http": "http://example.org/answer"}, "http"),
        ],
    )
    def test_only_what_the_operator_allows(self, agent, field):
        with pytest.raises(SpecError) as refused:
            check_spec({"benchmark": "worlds", "arms": [{"name": "a", "agent": agent}]}, self.REQUEST)
        assert refused.value.field == f"arms.0.agent.{field}"

    def test_an_allowed_command_is_taken_without_variables_of_the_workers(self):
        context = Context(agents=("direct",), commands=(("python3", "agent.py"),))
        arm = {"name": "a", "agent": {"command": ["python3", "agent.py", "--fast"]}}
        spec = check_spec({"benchmark": "worlds", "arms": [arm]}, context)
        assert [model.id for model in spec.models] == ["agent"]
        assert not spec.called_models
        arm["agent"]["env"] = ["OPENAI_API_KEY"]
        with pytest.raises(SpecError, match="not permitted over REST"):
            check_spec({"benchmark": "worlds", "arms": [arm]}, context)


class TestSpec:
    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"models": [{"id": "agent"}], "arms": [{"name": "a", "agent": "direct"}]}, "models.0.id"),
            ({"limits": {"usd": 1}}, "limits.usd"),
            ({"limits": {"tokens": 1000}}, "limits.tokens"),
        ],
    )
    def test_what_an_outside_agent_cannot_keep_to_is_refused(self, change, field):
        arm = {"name": "a", "agent": {"http": "http://127.0.0.1:1"}}
        context = Context(agents=("direct",), is_request=False, is_trusted=True)
        with pytest.raises(SpecError) as refused:
            check_spec({"benchmark": "worlds", "arms": [arm], **change}, context)
        assert refused.value.field == field

    def test_an_agent_is_stored_as_it_was_written(self):
        written = {"http": "http://127.0.0.1:1", "timeout_seconds": 9.0}
        arm = Arm(name="a", agent=written)
        assert arm.model_dump(mode="json")["agent"] == written
        assert Arm.model_validate(arm.model_dump(mode="json")) == arm


def test_a_job_asks_a_command_with_and_without_tools(tmp_path, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[2])
    spec = yaml.safe_load(Path("examples/outside-agents.yaml").read_text().replace("limit: 12", "limit: 2"))
    with Store(f"sqlite:///{tmp_path}/gnomon.db") as store:
        report = desk.run(store, tmp_path, desk.post(store, tmp_path, spec))
    alone, handed = report["cost"]["by_arm"]
    assert (alone["tool_calls"], handed["tool_calls"]) == (0, 2)
    assert (report["cost"]["usd"], report["cost"]["usd_unknown"]) == (None, 4)
    assert [arm["tools_offered"] for arm in report["arms"]] == [[0, 0], [2, 2]]


@pytest.mark.parametrize("count", [10**400, -1, float("nan"), float("inf"), 1.5, "7", True, None])
def test_a_count_that_cannot_be_one_is_unknown(count):
    usage = {"prompt_tokens": count, "usd": count if count != 1.5 else None}
    account = account_of(usage, steps=(), tells_steps=False, hands=False)
    assert (account.prompt_tokens, account.usd) == (None, None)
