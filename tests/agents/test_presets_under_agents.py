"""Presets mean the same under every agent that calls tools: what an arm shows is what its model is sent."""

import itertools
import json

import pytest

from gnomon.core.agent import AGENTS, AgentContext
from gnomon.core.arm import Arm
from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.errors import SpecError
from gnomon.core.model import Reply, Request
from gnomon.core.select import Select
from gnomon.core.trace import Trace
from gnomon.media import MediaStore
from gnomon.spec.preset import plan_arms
from gnomon.trials.condition import Situation, asked, prompt_of, shown, toolbox_of

IN_ALL = ["react", "text-react", "code"]
SEEN = ("agent", "tools", "tool_choice", "show")  # fields that change what a model is sent


class Listening:
    """Answers at once, and keeps what it is sent."""

    id = "listening"

    def __init__(self) -> None:
        self.requests: list[Request] = []

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        return Reply(text="Answer: A")

    async def close(self) -> None:
        return None


@pytest.fixture(scope="module")
def questions(tmp_path_factory):
    store = MediaStore(tmp_path_factory.mktemp("media"))
    samples = BENCHMARKS.get("worlds").open(
        data=None, select=Select(limit=2), protocol="guarded", media=store
    )
    return [samples.get(ref.sample_id) for ref in samples.refs[:2]]


async def first_request(arm: Arm, sample) -> str:
    """The first request of a trial, as text in the order in which a provider reads it: tools first."""
    now = Situation.of(arm, benchmark=BENCHMARKS.get("worlds"))
    sample = asked(sample, now)
    context = AgentContext(
        prompt=prompt_of(sample, now),
        arm=arm,
        model=(model := Listening()),
        toolbox=shown(toolbox_of(sample, now), now),
        trace=Trace(),
        seed=1,
    )
    await AGENTS.get(arm.agent).answer(context)
    request = model.requests[0]
    return json.dumps([request.tool_choice, request.tools, request.messages], ensure_ascii=False)


@pytest.mark.parametrize("agent", IN_ALL)
@pytest.mark.parametrize("preset", ["ladder", "leave_one_out", "told_or_fetched", "choice", "interfaces"])
async def test_arms_are_sent_something_else_where_they_differ_in_what_they_show(agent, preset, questions):
    options = {"tools": ["bearing", "distance", "speed"]}
    options |= {} if preset == "interfaces" else {"agent": agent}
    arms = plan_arms(preset, options, benchmark="worlds").arms
    sent = {arm.name: await first_request(arm, questions[0]) for arm in arms}
    for one, other in itertools.combinations(arms, 2):
        is_other = any(getattr(one, field) != getattr(other, field) for field in SEEN)
        assert (sent[one.name] != sent[other.name]) == is_other, (one.name, other.name)


@pytest.mark.parametrize("agent", IN_ALL)
async def test_what_two_questions_of_an_arm_share_holds_all_schemas(agent, questions):
    arm = Arm(name="live", agent=agent, tools=("bearing", "distance", "speed"))
    first, second = [await first_request(arm, sample) for sample in questions]
    end = next(at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other)
    shared = first[:end]
    assert len(shared) < len(first)
    for tool in arm.toolset():
        assert json.dumps(tool.description)[1:-1].split("\\")[0] in shared
        for name in tool.schema()["function"]["parameters"]["properties"]:
            assert first.count(name) == shared.count(name) or name in str(questions[0].parts)


@pytest.mark.parametrize("agent", ["direct", "vote", "in-steps"])
@pytest.mark.parametrize("preset", ["ladder", "interfaces", "leave_one_out", "told_or_fetched", "mcp_card"])
def test_an_agent_that_runs_no_tools_is_refused_where_a_preset_is_about_calls(agent, preset):
    with pytest.raises(SpecError, match=r"runs no tools.*allowed: .*react") as refused:
        plan_arms(preset, {"agent": agent}, benchmark="worlds")
    assert refused.value.field == "arms.agent"


@pytest.mark.parametrize("agent", ["text-react", "code"])
def test_interfaces_of_an_agent_that_is_told_in_words_are_refused(agent):
    with pytest.raises(SpecError, match=r"told of tools in words.*allowed: plan, react"):
        plan_arms("interfaces", {"agent": agent}, benchmark="worlds")
