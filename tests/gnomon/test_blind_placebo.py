"""A blind placebo answers about another scene, under the names of the question's own, and tells nothing."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gnomon.conditions.results import DOUBTS, PLACEBO
from gnomon.core.arm import Arm
from gnomon.core.benchmark import SampleSet
from gnomon.core.sample import Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.trials.condition import Situation, toolbox_of
from gnomon.trials.donors import Donors
from gnomon.trials.stand_in_scene import is_same_place, stand_in, without_marks
from gnomon_published.gazetteer.japan import JAPAN
from gnomon_tools.core.inputs import held
from gnomon_tools.core.toolbox import Toolbox
from gnomon_tools.scene.scene import Scene
from gnomon_worlds.benchmarks.worlds import worlds

TOOLS = ("camera_view", "distance", "list_cameras", "lookup", "speed", "municipality_of")
MEDIA = MediaStore(Path("unused"))


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    media = MediaStore(tmp_path_factory.mktemp("media"))
    return worlds.open(data=None, select=Select(limit=56, seed=3), protocol="guarded", media=media)


@pytest.fixture(scope="module", params=[0, 1], ids=["outdoor", "indoor"])
def asked(request: pytest.FixtureRequest, samples: SampleSet) -> Sample:
    return samples.get(samples.refs[request.param].sample_id)


def box(asked: Sample, samples: SampleSet | None, *, seed: int = 1, results: Any = "other_scene") -> Toolbox:
    arm = Arm(name="a", agent="react", tools=TOOLS, results=results)
    return toolbox_of(
        asked, Situation.of(arm, media=MEDIA, seed=seed, donors=Donors(asked, samples, seed=seed))
    )


def scene_of(sample: Sample) -> Scene:
    assert sample.scene is not None
    return sample.scene


def between(asked: Sample, first: int = 0, second: int = 1) -> str:
    cameras = list(scene_of(asked).cameras)
    return json.dumps({"start": {"camera": cameras[first]}, "end": {"camera": cameras[second]}})


def texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


def test_a_donor_is_of_the_same_cell_and_another_place(asked: Sample, samples: SampleSet) -> None:
    donors = list(Donors(asked, samples, seed=1))
    assert donors
    assert {donor.ref.cell for donor in donors} == {asked.ref.cell}
    assert asked.ref.cluster not in {donor.ref.cluster for donor in donors}
    assert not any(is_same_place(scene_of(asked), scene_of(donor)) for donor in donors)
    assert donors == list(Donors(asked, samples, seed=1))


def test_a_result_is_of_the_live_form_and_of_other_content(asked: Sample, samples: SampleSet) -> None:
    for name, arguments in (("list_cameras", "{}"), ("distance", between(asked))):
        live = box(asked, samples, results="live").call(name, arguments)
        other = box(asked, samples).call(name, arguments)
        assert (other.error, other.injected) == (None, "other_scene")
        assert other.content != live.content
        assert json.loads(other.content).keys() == json.loads(live.content).keys()


def test_all_cameras_are_listed_under_their_own_names(asked: Sample, samples: SampleSet) -> None:
    listed = json.loads(box(asked, samples).call("list_cameras", "{}").content)["cameras"]
    assert [row["camera"] for row in listed] == list(scene_of(asked).cameras)


def test_no_result_names_what_the_scene_lacks(asked: Sample, samples: SampleSet) -> None:
    scene, toolbox = scene_of(asked), box(asked, samples)
    names = {*scene.cameras, *scene.roads, *scene.zones, *scene.portals, *scene.places}
    names |= {item.name for items in (scene.roads, scene.zones, scene.places) for item in items.values()}
    for second in range(1, len(scene.cameras)):
        via = json.loads(toolbox.call("distance", between(asked, 0, second)).content).get("via", [])
        assert set(texts(via)) <= names


def test_the_same_trial_gets_the_same_results(asked: Sample, samples: SampleSet) -> None:
    first, again = (box(asked, samples).call("distance", between(asked)) for _ in range(2))
    assert first == again
    assert box(asked, samples, seed=2).call("distance", between(asked)) != first


def test_an_error_on_the_scene_is_the_same_error(asked: Sample, samples: SampleSet) -> None:
    missing = json.dumps({"start": {"camera": "no such"}, "end": {"camera": "no such"}})
    for arguments in (missing, "{", "{}"):
        live = box(asked, samples, results="live").call("distance", arguments)
        assert live.error is not None
        assert box(asked, samples).call("distance", arguments) == live


def test_without_another_scene_things_are_exchanged(asked: Sample) -> None:
    observation = box(asked, None).call("list_cameras", "{}")
    assert observation.injected == "same_scene"
    scene = scene_of(asked)
    exchanged = stand_in(scene, scene, 1)
    assert exchanged.cameras.keys() == scene.cameras.keys()
    assert all(exchanged.cameras[name].xy_m != camera.xy_m for name, camera in scene.cameras.items())


def test_a_calculator_is_given_other_numbers(asked: Sample, samples: SampleSet) -> None:
    arguments = json.dumps({"distance_m": 100.0, "seconds": 10.0})
    observation = box(asked, samples).call("speed", arguments)
    assert (observation.error, observation.injected) == (None, "perturbed")
    assert json.loads(observation.content)["speed_mps"] != 10.0


def test_a_result_without_numbers_says_nothing(asked: Sample, samples: SampleSet) -> None:
    sample = replace(asked, inputs={**asked.inputs, **held(JAPAN)})
    observation = box(sample, samples).call("municipality_of", json.dumps({"name": "Kamakura"}))
    live = box(sample, samples, results="live").call("municipality_of", json.dumps({"name": "Kamakura"}))
    assert live.error is None
    assert observation.content != live.content
    assert observation.injected in ("perturbed", "neutral")
    assert (observation.content == PLACEBO) == (observation.injected == "neutral")


def test_marks_of_ids_that_are_used_again_are_not_shown() -> None:
    assert without_marks('["r1\ue0002\ue001"]') == '["r1"]'


@dataclass
class Broken:
    """A set of samples that cannot be built but for their refs."""

    refs: Any
    faults: Any = ()

    def get(self, sample_id: str) -> Sample:
        from gnomon.core.errors import DataError

        raise DataError(f"{sample_id} is broken")


def test_broken_samples_are_no_donors(asked: Sample, samples: SampleSet) -> None:
    assert list(Donors(asked, Broken(refs=samples.refs), seed=1)) == []


@pytest.mark.parametrize(
    ("says", "doubts"),
    [
        ("The tool results do not fit the map.", True),
        ("These coordinates seem inconsistent with the picture.", True),
        ("The tool's output is about a different scene.", True),
        ("The distance is 12 m, which fits option B.", False),
        ("Option C does not fit.", False),
    ],
)
def test_a_reply_that_doubts_results_is_noticed(says: str, doubts: bool) -> None:
    assert (re.search(DOUBTS, says) is not None) is doubts
