"""What an arm shows beside the question: all facts, or the true steps, and never the answer."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.arm import Arm
from gnomon.core.benchmark import BENCHMARKS, HasOracle
from gnomon.core.sample import SHOWABLE, Part, Sample, SampleRef
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.trials.condition import Situation, prompt_of
from gnomon.trials.scene_facts import NO_SCENE, facts_of
from gnomon_tools.scene.format import read_scene
from gnomon_tools.scene.scene import Scene

EXAMPLES = Path(__file__).parents[2] / "examples" / "scenes"
REF = SampleRef(sample_id="s", task="t", cell="c", cluster="k")


def prompt_text(sample: Sample, *extra: Any, benchmark: Any = None) -> list[str]:
    arm = Arm(name="a", agent="react", show=(*SHOWABLE, *extra))
    (message,) = prompt_of(sample, Situation.of(arm, benchmark=benchmark or BENCHMARKS.get("worlds")))
    content = message["content"]
    assert isinstance(content, list)
    return [block["text"] if block["type"] == "text" else block["sha256"] for block in content]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    media = MediaStore(tmp_path_factory.mktemp("media"))
    opened = BENCHMARKS.get("worlds").open(
        data=None, select=Select(limit=42, seed=3), protocol="guarded", media=media
    )
    return [opened.get(ref.sample_id) for ref in opened.refs]


@pytest.mark.parametrize("name", ["small.geojson", "floors.geojson"])
def test_the_facts_hold_everything_that_a_scene_knows_by_name(name: str) -> None:
    scene = read_scene(EXAMPLES / name)
    text = facts_of(scene)
    things: tuple[Any, ...] = (scene.cameras, scene.places, scene.roads, scene.zones, scene.portals)
    for kind in things:
        for one in kind:
            assert f"\n- {one}:" in text
    for camera in scene.cameras.values():
        line = next(line for line in text.splitlines() if line.startswith(f"- {camera.id}:"))
        for value, words in (
            (camera.xy_m, "at ("),
            (camera.heading_deg, "looks to"),
            (camera.fov_deg, "angle of view"),
            (camera.range_m, "sees up to"),
            (camera.field_of_view, "sees the area"),
            (camera.homography, "homography [["),
        ):
            assert (words in line) == (value is not None)


def test_what_is_shown_besides_stands_before_the_prompt_and_changes_nothing_in_it(
    samples: list[Sample],
) -> None:
    sample = samples[0]
    own = prompt_text(sample)
    facts, *rest = prompt_text(sample, "facts")
    assert rest == own
    assert facts.startswith("Facts about the scene")
    facts_again, steps, *rest = prompt_text(sample, "facts", "oracle")
    assert (facts_again, rest) == (facts, own)
    assert steps.startswith("True intermediate steps")


def test_a_question_without_a_scene_says_that_no_facts_are_known() -> None:
    sample = Sample(ref=REF, parts=(Part(content="What?"),), target={})
    assert prompt_text(sample, "facts") == [NO_SCENE, "What?"]


def test_the_true_steps_hold_no_clock_time_and_the_view_of_every_camera_of_the_place(
    samples: list[Sample],
) -> None:
    worlds = BENCHMARKS.get("worlds")
    assert isinstance(worlds, HasOracle)
    for sample in samples:
        text = worlds.oracle_steps(sample)
        assert not re.search(r"\d:\d\d", text)
        assert isinstance(sample.scene, Scene)
        assert re.findall(r"^- view of (\S+):", text, re.MULTILINE) == sorted(sample.scene.cameras)


def test_the_true_steps_of_one_place_begin_alike_and_differ_in_the_last_lines_on_the_clips_alone(
    samples: list[Sample],
) -> None:
    worlds = BENCHMARKS.get("worlds")
    assert isinstance(worlds, HasOracle)
    beginnings: dict[str, set[str]] = defaultdict(set)
    for sample in samples:
        lines = worlds.oracle_steps(sample).splitlines()
        clips = len(sample.target["case"].clips)
        of_place, of_clips = lines[:-clips], lines[-clips:]
        assert all(re.match(r"- camera \S+: the (vehicle|pedestrian) came", line) for line in of_clips)
        beginnings[sample.ref.cluster].add("\n".join(of_place))
    assert all(len(texts) == 1 for texts in beginnings.values())


def test_the_true_steps_come_in_the_same_order_whatever_order_the_clips_have(samples: list[Sample]) -> None:
    worlds = BENCHMARKS.get("worlds")
    assert isinstance(worlds, HasOracle)
    for sample in samples:
        seen = re.findall(r"^- camera (\S+): the", worlds.oracle_steps(sample), re.MULTILINE)
        assert seen == sorted(seen)
        assert len(seen) == len(sample.target["case"].clips)
