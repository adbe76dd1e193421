"""Ground truth from boxes and poses by hand, and questions made of it."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.errors import DataError, SpecError
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_tools.geometry.pose import from_yaw_pitch_roll
from gnomon_worlds.recordings import truth
from gnomon_worlds.recordings.questions import lettered, write_questions
from gnomon_worlds.recordings.recording import Recording, read_recording
from gnomon_worlds.recordings.wrong_options import ANGLES, LENGTHS, difference, wrong_numbers
from tests.numbered import write_clip

# A usual camera: x right, y down, z ahead; here it looks along the world's x.
AHEAD_X = np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]])


def document(scene: str = "outdoor", frames: int = 21) -> dict[str, Any]:
    """A camera that drives 20 m along x in 4 s, turning left by 40°; a parked van; a car that overtakes."""
    moments = []
    for number in range(frames):
        share = number / (frames - 1)
        turned = from_yaw_pitch_roll(40 * share, 0, 0) @ AHEAD_X
        moments.append(
            {
                "time_s": 4 * share,
                "camera": {"position_m": [20 * share, 0, 1.5], "rotation": turned.round(6).tolist()},
                "boxes": {
                    "van": {"centre_m": [10, 3, 1], "size_m": [4.95, 2.36, 1.81], "heading_deg": 90},
                    "car": {"centre_m": [40 * share**2, -4, 0.7], "size_m": [4.2, 1.8, 1.4]},
                },
            }
        )
    objects = {"van": "the silver van", "car": "the red car"}
    return {
        "format": "gnomon-motion/1",
        "id": "drive",
        "clip": "camera_drive.mp4",
        "scene": scene,
        "objects": objects,
        "frames": moments,
    }


@pytest.fixture
def drive() -> Recording:
    return Recording.model_validate(document())


def test_sizes_and_distances(drive: Recording) -> None:
    frame = drive.frames[0]
    assert truth.distance_m(frame.boxes["van"], frame.camera.pose()) == pytest.approx(math.hypot(10, 3, 0.5))
    assert truth.distance_m(frame.boxes["van"], frame.boxes["car"]) == pytest.approx(math.hypot(10, 7, 0.3))


def test_sides_are_those_the_camera_sees(drive: Recording) -> None:
    first, later = drive.frames[0], drive.frames[15]
    assert truth.relation(drive, first, "van", "car") is None  # 10 m further and 7 m to the left: neither
    assert (
        truth.relation(drive, later, "car", "van") == "Right"
    )  # turned by 30°: 7 m behind, 12 m to the right
    assert truth.relation(drive, later, "van", "car") == "Left"


def test_a_box_in_camera_coordinates(drive: Recording) -> None:
    box = truth.camera_box(drive, drive.frames[0], "van")
    assert box.centre_m == pytest.approx((10.0, 3.0, -0.5), abs=1e-6)
    assert box.heading_deg == pytest.approx(90.0, abs=1e-4)
    turned = truth.camera_box(drive, drive.frames[-1], "van")
    assert turned.heading_deg == pytest.approx(50.0, abs=1e-4)
    assert turned.centre_m[0] == pytest.approx(
        -10 * math.cos(math.radians(40)) + 3 * math.sin(math.radians(40)), abs=1e-4
    )


def test_motion_of_camera_and_object(drive: Recording) -> None:
    times_s, camera = drive.track(None)
    assert truth.average_speed(camera, times_s) == pytest.approx(5.0)
    assert truth.average_acceleration(camera, times_s) == pytest.approx(0.0, abs=1e-9)
    times_s, car = drive.track("car")
    assert truth.average_speed(car, times_s) == pytest.approx(10.0)
    assert truth.average_acceleration(car, times_s) == pytest.approx(5.0)  # x = 2.5 t²
    assert truth.orientation_change_deg(drive, 0.0, 4.0) == pytest.approx(40.0, abs=1e-3)
    assert truth.pose_at(drive, 2.04).position_m.tolist() == [10.0, 0.0, 1.5]
    (leg,) = truth.trajectory(camera, 0.5)
    assert leg.length_m == pytest.approx(20.0)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("format",), "other", "Input should be 'gnomon-motion/1'"),
        (("frames", 1, "time_s"), 0.0, "must rise"),
        (("frames", 0, "camera", "rotation"), [[1, 0, 0], [0, 1, 0], [0, 0, 5]], "rotation"),
        (("frames", 0, "boxes", "van", "size_m"), [1, 2], "at least 3"),
        (("frames", 0, "boxes", "tree"), {"centre_m": [0, 0, 0], "size_m": [1, 1, 1]}, "no words for tree"),
        (("frames", 0, "camera", "position_m"), [0, 0, float("nan")], "finite"),
        (("camera_up",), "z", "different axes"),
    ],
)
def test_a_recording_that_makes_no_sense_is_refused_by_field(
    tmp_path: Path, path: tuple[Any, ...], value: Any, words: str
) -> None:
    given = document()
    place = given
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    file = tmp_path / "r.json"
    file.write_text(json.dumps(given))
    with pytest.raises(DataError, match=words):
        read_recording(file)
    file.write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        read_recording(file)


@given(seed=st.integers(0, 10**6), value=st.floats(0, 200), scene=st.sampled_from(sorted(LENGTHS)))
def test_wrong_numbers_differ_by_what_the_scene_allows(seed: int, value: float, scene: str) -> None:
    grain = LENGTHS[scene]
    wrong = wrong_numbers(np.random.default_rng(seed), value, grain, floor=0.0)
    assert len(set(wrong)) == 4
    for number in wrong:
        assert number >= 0
        assert grain.low - 10**-grain.digits <= abs(number - value) <= grain.high + 10**-grain.digits


def test_differences_are_even_in_their_logarithm_and_ranks_tell_nothing() -> None:
    rng = np.random.default_rng(3)
    drawn = [difference(rng, LENGTHS["outdoor"]) for _ in range(2000)]
    middle = math.sqrt(LENGTHS["outdoor"].low * LENGTHS["outdoor"].high)
    assert 0.45 < np.mean([step < middle for step in drawn]) < 0.55
    ranks = Counter(
        sum(number < 50.0 for number in wrong_numbers(rng, 50.0, LENGTHS["outdoor"])) for _ in range(1000)
    )
    assert set(ranks) == {0, 1, 2, 3, 4}
    assert max(ranks.values()) < 280
    letters = Counter(lettered(rng, "right", ["a", "b", "c", "d"])[1] for _ in range(1000))
    assert max(letters.values()) < 260
    assert ANGLES.low > 0


@pytest.mark.parametrize("scene", sorted(LENGTHS))
def test_generated_questions_run_as_sti_bench(tmp_path: Path, scene: str) -> None:
    (tmp_path / "drive.json").write_text(json.dumps(document(scene)))
    write_clip(tmp_path / "camera_drive.mp4", 40)
    counts = write_questions([tmp_path / "drive.json"], tmp_path / "out", seed=1)
    benchmark = BENCHMARKS.get("sti-bench")
    assert set(counts) == set(benchmark.tasks)
    samples = benchmark.open(
        data=tmp_path / "out", select=Select(), protocol="guarded", media=MediaStore(tmp_path / "media")
    )
    assert not samples.faults
    assert len(samples.refs) == sum(counts.values()) >= 15
    rows = pq.read_table(tmp_path / "out" / "qa.parquet").to_pylist()
    for row in rows:
        options = json.loads(row["Candidates"])
        assert len(set(options.values())) == 5
        assert {"scene": row["scene"], "answer": row["Answer"] in options} == {"scene": scene, "answer": True}
    orientation = next(row for row in rows if row["Task"] == "Ego-Centric Orientation")
    assert json.loads(orientation["Candidates"])[orientation["Answer"]] == "40°"
    again = write_questions([tmp_path / "drive.json"], tmp_path / "again", seed=1)
    assert again == counts
    assert pq.read_table(tmp_path / "again" / "qa.parquet").to_pylist() == rows
    with pytest.raises(SpecError, match="new or empty"):
        write_questions([tmp_path / "drive.json"], tmp_path / "out")
    with pytest.raises(DataError, match="another recording's"):
        write_questions([tmp_path / "drive.json"] * 2, tmp_path / "third")
