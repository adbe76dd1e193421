"""An arm's own instructions: before the question for every agent, and frozen with the job."""

import pytest

from gnomon.benchmarks.questions import questions
from gnomon.core.agent import AGENTS, AgentContext
from gnomon.core.arm import Arm, differences
from gnomon.core.errors import SpecError
from gnomon.core.message import blocks_of
from gnomon.core.model import Reply, Request
from gnomon.core.select import Select
from gnomon.core.trace import Trace
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.rules import parse_spec
from gnomon.trials.condition import Situation, prompt_of, shown, toolbox_of

TEXT = "Measure before you answer."
WRITTEN = {
    "benchmark": "worlds",
    "models": [{"id": "reference"}],
    "arms": [
        {"name": "plain", "agent": "react", "tools": ["speed"]},
        {"name": "told", "agent": "react", "tools": ["speed"], "instructions": TEXT},
    ],
}


@pytest.mark.parametrize("agent", ["direct", "react", "text-react", "code", "plan", "vote", "in-steps"])
async def test_they_stand_right_before_the_question_for_every_agent(agent, tmp_path):
    (tmp_path / "q.csv").write_text("id,question,answer\n1,Where?,Oslo\n")
    samples = questions.open(
        data=tmp_path / "q.csv", select=Select(), protocol="guarded", media=MediaStore(tmp_path / "media")
    )
    sample = samples.get(samples.refs[0].sample_id)
    sent: list[Request] = []

    class Listening:
        id = "listening"

        async def reply(self, request):
            sent.append(request)
            return Reply(text="Answer: Oslo")

        async def close(self):
            return None

    arm = Arm(name="told", agent=agent, tools=("speed",), instructions=TEXT)
    now = Situation.of(arm, benchmark=questions)
    context = AgentContext(
        prompt=prompt_of(sample, now),
        arm=arm,
        model=Listening(),
        toolbox=shown(toolbox_of(sample, now), now),
        trace=Trace(),
        seed=1,
    )
    await AGENTS.get(agent).answer(context)
    blocks = [block["text"].strip() for block in blocks_of(sent[0].messages[0]["content"])]
    assert blocks[blocks.index(TEXT) + 1].startswith("Question: Where?")
    assert str(sent[0].messages).count(TEXT) == 1


def test_they_are_frozen_with_the_job_and_are_a_factor_of_contrasts():
    spec = parse_spec(WRITTEN, agents=("react",))
    assert JobSpec.model_validate_json(spec.model_dump_json()).arm("told").instructions == TEXT
    assert differences(spec.arm("plain"), spec.arm("told")) == ["instructions"]


def test_an_arm_without_them_is_stored_as_before():
    assert "instructions" not in parse_spec(WRITTEN, agents=("react",)).arm("plain").model_dump_json()


def test_too_long_ones_are_refused_with_the_field():
    arm = {"name": "long", "agent": "react", "instructions": "x" * 10_001}
    with pytest.raises(SpecError, match="has 10,001 characters; allowed: 10,000") as refused:
        parse_spec({**WRITTEN, "arms": [arm]}, agents=("react",))
    assert refused.value.field == "arms.0.instructions"
