"""The reference answers questions about moving cameras and hard ones with tools, and guesses without."""

import pytest

from gnomon.core.agent import AgentContext
from gnomon.core.arm import Arm
from gnomon.core.select import Select
from gnomon.core.trace import Trace
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.reference.model import ReferenceModel
from gnomon_agents.react import react
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_worlds.benchmarks.worlds import worlds
from gnomon_worlds.benchmarks.worlds_motion import worlds_motion

COUNT = 51  # three questions of each task
NEXT = "NextSpotForecasting"
WAYS = ("list_cameras", "project_track", "forecast_arrival")


async def scored(benchmark, sample, names):
    texts = [part.content for part in sample.parts if isinstance(part.content, str)]
    context = AgentContext(
        prompt=[{"role": "user", "content": [{"type": "text", "text": text} for text in texts]}],
        arm=Arm(name="tools", agent="react"),
        model=ReferenceModel(ModelSpec(id="reference")),
        toolbox=Toolbox([TOOLS.get(name) for name in names], ToolContext(inputs=held(sample.scene))),
        trace=Trace(),
        seed=0,
    )
    return benchmark.score(sample, await react.answer(context), scoring="strict")


async def answered(sample, names):
    return (await scored(worlds_motion, sample, names)).value


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    opened = worlds_motion.open(
        data=None,
        select=Select(limit=COUNT, seed=3),
        protocol="guarded",
        media=MediaStore(tmp_path_factory.mktemp("media")),
    )
    return [opened.get(ref.sample_id) for ref in opened.refs]


async def test_with_four_tools_it_answers_nearly_all_of_every_task(samples):
    names = ("measure_motion", "compose_poses", "describe_path", "lookup")
    assert sum([await answered(sample, names) for sample in samples]) >= COUNT - 1


async def test_without_the_tools_that_it_needs_it_guesses_in_form(samples):
    values = [await answered(sample, ("pinhole",)) for sample in samples]
    assert sum(values) < COUNT / 2


async def test_with_all_tools_it_names_the_next_camera_where_straight_lines_do_not_tell_it(tmp_path):
    select = Select.model_validate({"limit": 8, "seed": 4242, "difficulty": "hard", "tasks": [NEXT]})
    opened = worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    scores = [await scored(worlds, opened.get(ref.sample_id), WAYS) for ref in opened.refs]
    assert all(score.metrics["MCQacc"] == 1 for score in scores)
