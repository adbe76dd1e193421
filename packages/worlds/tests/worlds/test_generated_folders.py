"""Folders of generated worlds, however they were made: by one process or two, at once or after a stop."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon.core.errors import SpecError, Unavailable
from gnomon_worlds import generate as generating
from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.generate import MAKING, generate
from gnomon_worlds.sample_making import draw
from gnomon_worlds.sample_numbers import CELLS, HARD, Number, Numbers, number_of

ROUND = len(CELLS)


def contents(folder: Path) -> dict[str, bytes]:
    """By path all files of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Three rounds, made without a stop by one process."""
    out = tmp_path_factory.mktemp("whole") / "out"
    generate(out, seed=4, samples=3 * ROUND)
    return contents(out)


def stop_after(count: int) -> Callable[[int, int], None]:
    def progress(done: int, _: int) -> None:
        if done == count:
            raise KeyboardInterrupt

    return progress


def test_two_processes_write_what_one_writes(
    tmp_path: Path, at_once: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generating, "WORTH_A_PROCESS", 1)
    told: list[int] = []
    generate(
        tmp_path / "out", seed=4, samples=3 * ROUND, workers=2, progress=lambda done, _: told.append(done)
    )
    assert contents(tmp_path / "out") == at_once
    assert told == list(range(1, 3 * ROUND + 1))


def test_a_stopped_run_goes_on_with_the_rounds_that_are_missing(
    tmp_path: Path, at_once: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        generate(out, seed=4, samples=3 * ROUND, progress=stop_after(ROUND + 3))
    left = out / "data" / "outdoor" / ".part-of-a-process-that-was-killed"
    left.write_bytes(b"half a ma")
    asked: list[int] = []
    draw = generating.draw

    def noted(number: Number, *, place: int | None = None) -> generating.Drawn:
        asked.append(number.k)
        return draw(number, place=place)

    monkeypatch.setattr(generating, "draw", noted)
    told: list[int] = []
    generate(out, seed=4, samples=3 * ROUND, progress=lambda done, _: told.append(done))
    assert asked == list(range(ROUND, 3 * ROUND))
    assert told == list(range(1, 3 * ROUND + 1))
    assert contents(out) == at_once


def test_a_run_whose_processes_are_ended_says_so_and_goes_on(
    tmp_path: Path, at_once: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = generating.draw

    def ended(number: Number, *, place: int | None = None) -> generating.Drawn:
        if number.k >= ROUND:
            os.kill(os.getpid(), signal.SIGKILL)
        return draw(number, place=place)

    with monkeypatch.context() as patch:
        patch.setattr(generating, "WORTH_A_PROCESS", 1)
        patch.setattr(generating, "_has_one_thread", lambda: True)  # forks have what is patched here
        patch.setattr(generating, "draw", ended)
        with pytest.raises(Unavailable, match="goes on where it stopped"):
            generate(tmp_path / "out", seed=4, samples=3 * ROUND, workers=2)
    generate(tmp_path / "out", seed=4, samples=3 * ROUND)
    assert contents(tmp_path / "out") == at_once


def test_a_stopped_run_is_not_gone_on_with_as_another(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        generate(tmp_path / "out", seed=4, samples=2 * ROUND, progress=stop_after(1))
    before = contents(tmp_path / "out")
    with pytest.raises(SpecError, match="a stopped run with seed 4, difficulty null: repeat that"):
        generate(tmp_path / "out", seed=5, samples=2 * ROUND, difficulty=Difficulty(level="hard"))
    assert contents(tmp_path / "out") == before


def test_a_run_that_was_stopped_before_its_plan_was_noted_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "out" / MAKING).mkdir(parents=True)
    (tmp_path / "out" / MAKING / ".part-0a").write_bytes(b'{"see')
    assert generate(tmp_path / "out", samples=2) == 2
    assert not (tmp_path / "out" / MAKING).exists()


def test_questions_of_a_difficulty_are_written_under_its_name(tmp_path: Path) -> None:
    hard = Difficulty(level="hard")
    generate(tmp_path / "out", seed=4, samples=2, difficulty=hard)
    files = [json.loads(path.read_text()) for path in sorted((tmp_path / "out").glob("data/*/*.json"))]
    written = {case["case_id"] for file in files for case in file["cases"]}
    assert written == {Number(4, k, hard).sample_id for k in range(2)}


def test_rounds_of_a_mixed_folder_are_those_of_a_mixed_job(tmp_path: Path) -> None:
    generate(tmp_path / "out", seed=4, samples=2 * ROUND, difficulty="mixed")
    published = {
        case["case_id"]: case
        for path in (tmp_path / "out" / "data").rglob("*.json")
        for case in json.loads(path.read_text())["cases"]
    }
    series = Difficulty.in_turn("mixed", has_four_maps=True)
    job = Numbers(4, tuple(range(ROUND)), 2 * ROUND, series)
    assert sorted(published) == sorted(ref.sample_id for ref in job)
    easy = next(name for name in published if "easy" in name)
    assert published[easy] == draw(number_of(easy)).record


def test_a_mixed_folder_has_places_of_each_level(tmp_path: Path) -> None:
    assert generate(tmp_path / "out", seed=4, scenes=1, difficulty="mixed") == 3 * ROUND + len(HARD)
    towns = [path.stem for path in (tmp_path / "out" / "data" / "outdoor" / "scenes").iterdir()]
    assert {town.split("-outdoor-0")[0] for town in towns} == {"w4", "w4-easy", "w4-medium", "w4-hard5"}
