"""Neutral results say nothing, faults hit what they should, and all of it is the same in every run."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.conditions.faults import can_be_wrong, exchanged
from gnomon.core.arm import Arm, Faults
from gnomon.core.errors import SpecError
from gnomon.core.sample import Sample, SampleRef
from gnomon.media import MediaStore
from gnomon.spec.preset import plan_arms
from gnomon.trials.condition import Situation, toolbox_of
from gnomon.trials.corrupt_measurements import corrupt_measurements
from gnomon_published.gazetteer.japan import JAPAN
from gnomon_tools.core.inputs import held
from gnomon_tools.core.toolbox import TOOLS as ALL_TOOLS
from gnomon_tools.core.toolbox import Observation, Toolbox
from gnomon_tools.scene.format import read_scene

EXAMPLES = Path(__file__).parents[2] / "examples" / "scenes"
SMALL = read_scene(EXAMPLES / "small.geojson")
REF = SampleRef(sample_id="s", task="t", cell="c", cluster="k")
SAMPLE = Sample(ref=REF, parts=(), target={}, inputs=held(SMALL))
MEDIA = MediaStore(Path("unused"))
TOOLS = ("distance", "list_cameras", "bearing", "speed")
GOOD = json.dumps({"start": {"camera": "c1"}, "end": {"camera": "c2"}})


def box(seed: int = 1, **arm: Any) -> Toolbox:
    return toolbox_of(
        SAMPLE, Situation.of(Arm(name="a", agent="react", tools=TOOLS, **arm), media=MEDIA, seed=seed)
    )


def faulty(kind: Any, lasting: Any, rate: float, seed: int = 1) -> Toolbox:
    return box(seed, faults=Faults(kind=kind, lasting=lasting, rate=rate))


def hits(kind: Any, lasting: Any, *, rate: float = 0.5, seed: int = 1, of_each: int = 20) -> list[bool]:
    toolbox = faulty(kind, lasting, rate, seed)
    return [toolbox.call(name, GOOD).injected is not None for name in ("distance", "bearing") * of_each]


def test_neutral_results_are_no_errors_and_the_same_for_all_tools() -> None:
    toolbox = box(results="neutral")
    said = {toolbox.call("distance", GOOD), toolbox.call("list_cameras", "{}")}
    (only,) = said
    assert only.error is None
    assert json.loads(only.content)["result"] is None


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [("fly", "{}", "unknown_tool"), ("distance", "{", "bad_json"), ("distance", "{}", "bad_arguments")],
)
def test_a_bad_call_is_a_bad_call_under_every_arm(name: str, arguments: str, error: str) -> None:
    for toolbox in (box(), box(results="neutral"), faulty("explicit", "permanent", 1.0)):
        assert toolbox.call(name, arguments).error == error


def test_an_explicit_fault_is_an_error_and_a_silent_one_is_not() -> None:
    true = box().call("distance", GOOD)
    loud = faulty("explicit", "transient", 1.0).call("distance", GOOD)
    assert (loud.error, loud.injected) == ("injected", "explicit_transient")
    assert "error" in json.loads(loud.content)
    quiet = faulty("silent", "permanent", 1.0).call("distance", GOOD)
    assert (quiet.error, quiet.injected) == (None, "silent_permanent")
    assert json.loads(quiet.content).keys() == json.loads(true.content).keys()
    assert quiet.content != true.content


def told(name: str, given_: dict[str, Any], *, is_faulty: bool) -> Observation:
    """What a tool says on a sample without a scene, soundly or with a silent fault."""
    faults = Faults(kind="silent", lasting="permanent", rate=1.0) if is_faulty else None
    arm = Arm(name="a", agent="react", tools=(name,), faults=faults)
    sample = replace(SAMPLE, inputs=held(JAPAN))
    return toolbox_of(sample, Situation.of(arm, media=MEDIA, seed=1)).call(name, json.dumps(given_))


def test_a_lie_that_changes_nothing_is_not_counted() -> None:
    given_ = {"name": "Kamakura"}
    found = told("municipality_of", given_, is_faulty=True)
    assert found == told("municipality_of", given_, is_faulty=False)
    assert (found.error, found.injected) == (None, None)


WALK = {"positions_m": [[0.0, 0.0], [0.0, 4.0]], "times_s": [0.0, 2.0]}
WAY = {"start": {"name": "Kamakura", "within": "Kanagawa"}, "end": {"name": "Yokohama", "within": "Kanagawa"}}
BOX = {"boxes_px": [[10.0, 10.0, 20.0, 40.0]]}


@pytest.mark.parametrize(
    ("name", "given_", "true", "wrong"),
    [
        ("measure_motion", WALK, {"average_speed_mps": 2.0}, {"average_speed_mps": 3.0}),
        ("measure_motion", WALK, {"first_heading_deg": 90.0}, {"first_heading_deg": 180.0}),
        ("measure_motion", WALK, {"duration_s": 2.0}, {"duration_s": 2.0}),
        ("measure_image", BOX, {"width_px": 20.0, "area_px2": 800.0}, {"width_px": 30.0, "area_px2": 1800.0}),
    ],
)
def test_tools_without_a_scene_are_silently_wrong_in_what_they_measure(
    name: str, given_: dict[str, Any], true: dict[str, float], wrong: dict[str, float]
) -> None:
    sound, lie = (json.loads(told(name, given_, is_faulty=lying).content) for lying in (False, True))
    assert lie.keys() == sound.keys()
    for found, expected in ((sound, true), (lie, wrong)):
        flat = found["boxes"][0] if name == "measure_image" else found
        assert {field: flat[field] for field in expected} == expected


def test_the_gazetteer_is_silently_wrong_in_distances_and_directions() -> None:
    sound, lie = (told("how_far", WAY, is_faulty=lying) for lying in (False, True))
    assert lie.injected == "silent_permanent"
    one, other = json.loads(sound.content), json.loads(lie.content)
    assert other["distance_m"] == pytest.approx(1.5 * one["distance_m"])
    assert (other["start"], other["end"]) == (one["start"], one["end"])


def test_a_way_that_there_is_not_is_not_stretched() -> None:
    table = {"minutes": [[0, -1], [30, 0]], "minutes_error": 2, "at_m": [-4.0, 2.0]}
    assert json.loads(corrupt_measurements(json.dumps(table))) == {
        "minutes": [[0, -1], [45, 0]],
        "minutes_error": 2,
        "at_m": [-6.0, 3.0],
    }


def test_all_tools_can_be_silently_wrong_but_those_that_measure_nothing() -> None:
    honest = {tool.name for tool in ALL_TOOLS if not can_be_wrong(tool)}
    looking = {"look_at_frame", "look_between", "look_closer"}
    naming = {"municipality_of", "lies_in", "where_is", "check_plan", "map_contents", "map_place"}
    naming |= {"box_count", "box_direction", "box_view"}  # a count, a side, and the boxes in view
    planning = {"plan_trip"} | {tool.name for tool in ALL_TOOLS if tool.name.startswith("sandbox_")}
    assert honest == looking | naming | planning


def test_the_faults_of_tools_that_measure_nothing_are_refused_or_noted() -> None:
    found = plan_arms("faults", {}, benchmark="sti-bench")
    (note,) = found.notes
    assert "look_at_frame, look_between, look_closer" in note
    with pytest.raises(SpecError, match="look_closer") as error:
        plan_arms("faults", {"tools": ["look_closer"]}, benchmark="sti-bench")
    assert error.value.field == "arms.tools"


@settings(max_examples=20)  # each makes 160 calls
@given(st.integers(0, 2**31 - 1))
def test_the_same_trial_meets_the_same_faults_of_either_kind(seed: int) -> None:
    assert hits("explicit", "transient", seed=seed) == hits("explicit", "transient", seed=seed)
    assert hits("explicit", "transient", seed=seed) == hits("silent", "transient", seed=seed)


def test_passing_faults_come_at_their_rate_and_lasting_ones_stay() -> None:
    passing = [hit for seed in range(50) for hit in hits("explicit", "transient", rate=0.3, seed=seed)]
    assert 500 < sum(passing) < 700  # 600 of 2,000 expected, standard deviation 20
    broken = 0
    for seed in range(300):
        found = hits("explicit", "permanent", rate=0.3, seed=seed, of_each=4)
        assert len(set(found[::2])) == len(set(found[1::2])) == 1
        broken += found[0] + found[1]
    assert 130 < broken < 230  # 180 of 600 expected, standard deviation 11


@pytest.mark.parametrize("name", ["small.geojson", "floors.geojson"])
def test_an_exchanged_scene_has_the_same_ids_and_other_places_for_them(name: str) -> None:
    scene = read_scene(EXAMPLES / name)
    other = exchanged(scene)
    assert other.cameras.keys() == scene.cameras.keys()
    assert all(camera.id == key for key, camera in other.cameras.items())
    assert {place.name for place in other.places.values()} == {place.name for place in scene.places.values()}
    assert sorted(str(one.xy_m) for one in other.cameras.values()) == sorted(
        str(one.xy_m) for one in scene.cameras.values()
    )
    assert exchanged(scene) is other, "made once"


def test_without_a_scene_there_is_nothing_to_lie_about() -> None:
    faults = Faults(kind="silent", lasting="permanent", rate=1.0)
    arm = Arm(name="a", agent="react", tools=TOOLS, faults=faults)
    toolbox = toolbox_of(replace(SAMPLE, inputs={}), Situation.of(arm, media=MEDIA, seed=1))
    assert toolbox.call("distance", GOOD).error == "unknown_tool"
    assert toolbox.schemas == []
