"""The worlds benchmark: numbers, selections, samples, and the written folder."""

import hashlib
import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.benchmark import BENCHMARKS, PromptProtocol
from gnomon.core.errors import NotFound, SpecError
from gnomon.core.ids import stable_hash
from gnomon.core.sample import ImageRef, Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.gtr_bench import gtr_bench
from gnomon_published.benchmarks.gtr_bench.case import SCENES, TASKS, Case
from gnomon_tools.scene.format import read_scene
from gnomon_worlds.benchmarks.worlds import worlds
from gnomon_worlds.benchmarks.worlds.benchmark import SAMPLES, WorldSamples
from gnomon_worlds.generate import generate
from gnomon_worlds.sample_making import draw, map_of, world_of
from gnomon_worlds.sample_numbers import CELLS, Number, number_of

FINGERPRINT = """
import hashlib
from gnomon.core.ids import stable_hash
from gnomon_worlds.sample_making import draw, map_of, world_of
from gnomon_worlds.sample_numbers import Number
for k in (3, 16):
    drawn = draw(Number(5, k))
    print(stable_hash(drawn.record), hashlib.sha256(map_of(drawn.world)).hexdigest())
"""


def opened(folder: Path, **select: object) -> WorldSamples:
    samples = worlds.open(
        data=None, select=Select(**select), protocol="guarded", media=MediaStore(folder / "media")
    )
    assert isinstance(samples, WorldSamples)
    return samples


def text(sample: Sample) -> str:
    return "\n".join(part.content for part in sample.parts if isinstance(part.content, str))


def test_worlds_is_found_as_a_benchmark() -> None:
    assert BENCHMARKS.get("worlds") is worlds
    assert not worlds.needs_data
    assert worlds.published() == ()


def test_another_process_draws_the_same_questions_and_maps() -> None:
    there = subprocess.run(
        [sys.executable, "-c", FINGERPRINT],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    ).stdout
    drawn = [draw(Number(5, k)) for k in (3, 16)]
    here = [(stable_hash(one.record), hashlib.sha256(map_of(one.world)).hexdigest()) for one in drawn]
    assert [tuple(line.split()) for line in there.splitlines()] == here


def test_a_sample_does_not_depend_on_what_was_drawn_before() -> None:
    alone = draw(Number(6, 18)).record
    for kept in (draw, world_of):
        kept.cache_clear()
    for k in (4, 32, 30):
        draw(Number(6, k))
    assert draw(Number(6, 18)).record == alone


def test_seeds_and_numbers_draw_different_questions() -> None:
    records = [draw(Number(seed, k)).record["camera_images"] for seed in (1, 2) for k in (8, 22)]
    assert len({stable_hash(record) for record in records}) == 4


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**7))
def test_an_id_leads_back_to_its_number(seed: int, k: int) -> None:
    assert number_of(Number(seed, k).sample_id) == Number(seed, k)


@pytest.mark.parametrize("junk", ["", "w7", "w7-1", "w07-00001", "w7-000001", "x7-00001", "w7-00001\n"])
def test_an_id_of_another_form_is_no_sample(junk: str) -> None:
    with pytest.raises(NotFound):
        number_of(junk)


def test_a_larger_limit_extends_a_smaller_one(tmp_path: Path) -> None:
    few, many = opened(tmp_path, limit=20, seed=3), opened(tmp_path, limit=50, seed=3)
    assert list(many.refs)[:20] == list(few.refs) == few.refs[:]


@pytest.mark.parametrize(("tasks", "scenes"), [(("GeoLocation", "MotionState"), ()), ((), ("indoor",))])
def test_filters_pick_from_the_same_samples(
    tmp_path: Path, tasks: tuple[str, ...], scenes: tuple[str, ...]
) -> None:
    picked = opened(tmp_path, limit=9, seed=3, tasks=tasks, scenes=scenes)
    everything = opened(tmp_path, limit=200, seed=3).refs
    fitting = (
        ref
        for ref in everything
        if (not tasks or ref.task in tasks) and ref.cell.startswith(scenes or SCENES)
    )
    assert list(picked.refs) == list(islice(fitting, 9))
    with pytest.raises(NotFound):
        picked.get(next(ref.sample_id for ref in everything if ref not in picked.refs))


def test_cells_come_evenly_and_a_place_is_a_cluster(tmp_path: Path) -> None:
    refs = list(opened(tmp_path).refs)
    assert len(refs) == SAMPLES
    assert {ref.cell for ref in refs} == {
        f"{scene}.{task.short}" for scene in SCENES for task in TASKS.values()
    }
    assert all(sum(ref.cell == one.cell for ref in refs) == SAMPLES // len(CELLS) for one in refs[:14])
    assert len({ref.cluster for ref in refs}) == SAMPLES // len(TASKS)


def test_ten_million_references_cost_nothing(tmp_path: Path) -> None:
    refs = opened(tmp_path, limit=10_000_000).refs
    assert len(refs) == 10_000_000
    assert refs[-1].sample_id == "w0-9999999"
    with pytest.raises(IndexError):
        refs[10_000_000]


def test_a_sample_has_a_map_a_scene_and_nothing_missing(tmp_path: Path) -> None:
    samples = opened(tmp_path, limit=14, seed=8)
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        assert sample.ref == ref
        assert sample.missing == ()
        assert sample.scene is not None
        case = sample.target["case"]
        assert isinstance(case, Case)
        assert {clip.camera_id for clip in case.clips} <= sample.scene.cameras.keys()
        images = [part.content for part in sample.parts if isinstance(part.content, ImageRef)]
        assert [image.media_type for image in images] == ["image/png"]
        assert samples.media.read(images[0].sha256) == map_of(draw(number_of(ref.sample_id)).world)


@pytest.mark.parametrize("protocol", ["guarded", "official"])
def test_no_map_is_drawn_for_rules_that_read_words(tmp_path: Path, protocol: PromptProtocol) -> None:
    media = MediaStore(tmp_path / "media")
    samples = worlds.open(data=None, select=Select(limit=14, seed=8), protocol=protocol, media=media)
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        assert worlds.heuristic_scores(sample)
        sample.messages(["camera_data"])
    assert not (media.folder / "drawn").exists()
    sample.messages(["map"])
    assert (media.folder / "drawn").exists()


def test_all_questions_of_a_place_have_one_scene_so_it_tells_of_none(tmp_path: Path) -> None:
    samples = opened(tmp_path, limit=14, seed=8)
    scenes = {ref.cluster: set() for ref in samples.refs}
    for ref in samples.refs:
        scenes[ref.cluster].add(samples.get(ref.sample_id).scene)
    assert [len(each) for each in scenes.values()] == [1, 1]


def test_the_prompt_tells_neither_ids_nor_truth(tmp_path: Path) -> None:
    samples = opened(tmp_path, limit=14, seed=8)
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        drawn = draw(number_of(ref.sample_id))
        assert ref.sample_id not in text(sample)
        assert drawn.world.scene.id not in text(sample)
        for trip, _ in drawn.question.clip_sightings:
            assert str(trip.target) not in text(sample)
        if ref.task == "CausalReordering":
            assert "12:" not in text(sample)


def test_the_true_answer_scores_one_and_another_letter_zero(tmp_path: Path) -> None:
    samples = opened(tmp_path, limit=14, seed=8)
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        case = sample.target["case"]
        letters = [gold[0] for gold in case.gold]
        right = {
            "answer": letters if len(letters) > 1 else letters[0],
            "time_duration": case.correct_time_str,
        }
        wrong = right | {"answer": next(letter for letter in "ABCD" if letter not in letters)}
        assert worlds.score(sample, json.dumps(right), scoring="strict").value == 1.0
        assert worlds.score(sample, json.dumps(wrong), scoring="strict").value == 0.0


def test_worlds_take_no_data_and_know_their_tasks(tmp_path: Path) -> None:
    media = MediaStore(tmp_path)
    with pytest.raises(SpecError, match="data"):
        worlds.open(data=tmp_path, select=Select(), protocol="guarded", media=media)
    for select, field in (
        (Select(tasks=("Fly",)), "select.tasks"),
        (Select(scenes=("sea",)), "select.scenes"),
    ):
        with pytest.raises(SpecError) as error:
            worlds.open(data=None, select=select, protocol="guarded", media=media)
        assert error.value.field == field


def test_a_generated_folder_is_read_as_gtr_bench(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    count = generate(tmp_path / "out", seed=4, samples=16, progress=lambda *at: told.append(at))
    assert count == 16
    assert told == [(done, 16) for done in range(1, 17)]
    samples = gtr_bench.open(
        data=tmp_path / "out", select=Select(), protocol="guarded", media=MediaStore(tmp_path / "media")
    )
    assert {ref.sample_id for ref in samples.refs} == {Number(4, k).sample_id for k in range(16)}
    assert {fault.kind for fault in samples.faults} == {"media"}  # no frames; maps are all there
    published = samples.get("w4-00003")
    own = opened(tmp_path, limit=16, seed=4).get("w4-00003")
    assert published.parts == own.parts
    assert published.scene is not None
    assert own.scene is not None
    assert published.scene.id == own.scene.id
    assert set(published.scene.cameras) == set(own.scene.cameras)
    scenes = sorted((tmp_path / "out").glob("data/*/scenes/*.geojson"))
    for path in scenes:
        scene = read_scene(path)
        assert scene.map_image is not None
        assert (tmp_path / "out" / "data" / scene.kind / "map" / scene.map_image.file).is_file()
    assert len(scenes) == 4


def test_questions_go_round_a_given_number_of_places(tmp_path: Path) -> None:
    generate(tmp_path / "out", seed=4, scenes=1, samples=30)
    names = [path.stem for path in (tmp_path / "out").glob("data/*/scenes/*")]
    assert {name.removesuffix("-1") for name in names} == {"w4-outdoor-0", "w4-indoor-0"}


def test_generate_keeps_out_of_a_used_folder_and_refuses_nothing_to_do(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep me")
    with pytest.raises(SpecError, match="empty folder"):
        generate(tmp_path)
    with pytest.raises(SpecError, match="at least 1"):
        generate(tmp_path / "out", samples=0)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
