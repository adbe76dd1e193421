"""Writes worlds to a folder in GTR-Bench's published layout, with maps and scene files.

The questions of a round, which share their places, are made together and written at once. So several
processes can make them side by side, and a run that was stopped goes on with the rounds that are missing.
"""

import json
import math
import multiprocessing
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gnomon.core.errors import SpecError, Unavailable
from gnomon.parent_death import die_with_parent
from gnomon.whole_file import PUBLIC, write_whole
from gnomon_tools.scene.format import sound_scene_text
from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.sample_making import MAP_VERSION, VERSION, Drawn, check_ranges, draw, map_of
from gnomon_worlds.sample_numbers import CELLS, Number, difficulties_of, offered
from gnomon_worlds.world import World

if TYPE_CHECKING:
    from gnomon_worlds.rendering.clip import Style

Progress = Callable[[int, int], None]  # samples done, samples in all

MAKING = ".making"  # the folder, within that of the questions, that holds finished rounds until all are there
ROUND_VERSION = 3  # a change of what a round's file holds changes it
WORTH_A_PROCESS = 4  # rounds without clips; with fewer, a process takes longer to start than to make them


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a folder is to hold; equal plans write equal files."""

    seed: int
    scenes: int | None
    samples: int
    difficulties: tuple[Difficulty | None, ...]  # that rounds have in turn
    clips: "Style | None"
    options: WorldOptions | None = None

    def document(self) -> Mapping[str, Any]:
        """As JSON, with the versions of what draws it."""
        tags = [difficulty and difficulty.tag for difficulty in self.difficulties]
        document: dict[str, Any] = {
            "version": [VERSION, MAP_VERSION, ROUND_VERSION],
            "seed": self.seed,
            "scenes": self.scenes,
            "samples": self.samples,
            "difficulty": tags[0] if len(tags) == 1 else tags,
            "clips": asdict(self.clips) if self.clips else None,
        }
        if self.options:
            document["world"] = self.options.tag
        read_again: dict[str, Any] = json.loads(json.dumps(document))
        return read_again

    @property
    def rounds(self) -> range:
        return range(len(self._ends))

    @cached_property
    def _ends(self) -> Sequence[int]:
        """How many samples there are up to the end of each round."""
        ends: list[int] = []
        while not ends or ends[-1] < self.samples:
            ends.append((ends or [0])[-1] + len(self._cells(len(ends))))
        return ends

    def _cells(self, round_: int) -> Sequence[int]:
        difficulty = self.difficulties[round_ % len(self.difficulties)]
        return offered(range(len(CELLS)), difficulty, self.options)

    def numbers(self, round_: int) -> Sequence[Number]:
        """The samples of a round; each difficulty counts its own rounds."""
        own, turn = divmod(round_, len(self.difficulties))
        cells = self._cells(round_)
        count = min(len(cells), self.samples - self._ends[round_] + len(cells))
        return [
            Number(self.seed, own * len(CELLS) + cell, self.difficulties[turn], self.options)
            for cell in cells[:count]
        ]

    def place(self, number: Number) -> int:
        """Which of the places of its difficulty a sample has."""
        return number.round % self.scenes if self.scenes else number.round


def generate(
    out: Path,
    *,
    seed: int = 0,
    scenes: int | None = None,
    samples: int | None = None,
    difficulty: Difficulty | Literal["mixed"] | None = None,
    clips: "Style | None" = None,
    options: WorldOptions | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> int:
    """Write the first `samples` questions of `seed` and return how many they are.

    `scenes` is the number of towns and likewise of buildings; questions go round them. Without it every 14
    questions have a town and a building of their own, and then the questions are those of the benchmark.
    Without `samples` there are 14 for each of `scenes`. Where `difficulty` is mixed, rounds of 14 have it as
    they come, easy, medium and hard in turn, and `scenes` counts the places of each. The folder gets
    `data/{outdoor,indoor}/{scene}_{Task}_{count}.json` and `data/…/map/*.png` as GTR-Bench publishes them,
    and beside each map its scene, `data/…/scenes/*.geojson`, so that `benchmark: gtr-bench` reads it all.
    With `clips` every clip is drawn in that style, as `data/…/clips/*.mp4`.

    Up to `workers` processes make them, and the files are the same however many do. A run that was stopped
    goes on where the same call is made again.

    Raises:
        SpecError: `out` holds something already that is no stopped run of this call, a number is out of
            bounds.
        DataError: no place holds a question within the ranges of `difficulty`.
        Unavailable: one of the processes was ended from outside.
    """
    for field, count in (("scenes", scenes), ("samples", samples), ("workers", workers)):
        if count is not None and count < 1:
            raise SpecError(f"at least 1, got {count}", field=field)
    in_turn = difficulties_of("mixed", options) if difficulty == "mixed" else (difficulty,)
    a_round = sum(len(offered(range(len(CELLS)), each, options)) for each in in_turn)
    total = samples or a_round * (scenes or 1)
    plan = Plan(seed=seed, scenes=scenes, samples=total, difficulties=in_turn, clips=clips, options=options)
    check_ranges(plan.numbers(0))
    _begin(out, plan)
    left = [round_ for round_ in plan.rounds if not _round_file(out, round_).exists()]
    there = total - sum(len(plan.numbers(round_)) for round_ in left)
    for done in range(1, there + 1):
        if progress is not None:
            progress(done, total)
    for done, _ in enumerate(_make_all(out, plan, left, workers), start=there + 1):
        if progress is not None:
            progress(done, total)
    _put_together(out, plan)
    return total


def _begin(out: Path, plan: Plan) -> None:
    """Note the plan in the folder, or go on where the same plan was stopped."""
    making = out / MAKING
    noted = making / "plan.json"
    is_new = not out.exists() or (out.is_dir() and all(entry == making for entry in out.iterdir()))
    if is_new and not noted.is_file():
        write_whole(noted, json.dumps(plan.document()).encode(), rights=PUBLIC)
    elif not noted.is_file():
        raise SpecError(f"{out} is there already; name a new or empty folder", field="out")
    elif (before := json.loads(noted.read_bytes())) != plan.document():
        others = [
            f"{name} {json.dumps(before.get(name))}"
            for name, value in plan.document().items()
            if before.get(name) != value
        ]
        message = f"{out} holds a stopped run with {', '.join(others)}: repeat that, or name another folder"
        raise SpecError(message, field="out")
    for part in out.rglob(".part-*"):  # what a process that was killed had not finished
        part.unlink()


def _round_file(out: Path, round_: int) -> Path:
    return out / MAKING / f"round-{round_:06d}.json"


def _make_all(out: Path, plan: Plan, rounds: Sequence[int], workers: int) -> Iterator[None]:
    """Make the rounds; yields for every question that is done."""
    worth = 1 if plan.clips else WORTH_A_PROCESS
    processes = min(workers, math.ceil(len(rounds) / worth))
    if processes <= 1:
        for round_ in rounds:
            yield from _make(out, plan, round_)
        return
    start = multiprocessing.get_context("fork" if _has_one_thread() else "spawn")
    pool = ProcessPoolExecutor(processes, start, _start_process, (os.getpid(),))
    try:
        made = [pool.submit(_count_made, out, plan, round_) for round_ in rounds]
        for round_made in as_completed(made):
            for _ in range(round_made.result()):
                yield
    except BrokenProcessPool:
        message = "a process that made questions was ended; the same command goes on where it stopped"
        raise Unavailable(message) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _has_one_thread() -> bool:
    """Whether this process has a single thread, also none of a library, so that a fork is safe."""
    return sys.platform == "linux" and len(list(Path("/proc/self/task").iterdir())) == 1


def _start_process(parent: int) -> None:
    """Prepare a process of the pool: it leaves Ctrl-C to its parent and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(parent=parent)()


def _count_made(out: Path, plan: Plan, round_: int) -> int:
    return sum(1 for _ in _make(out, plan, round_))


def _make(out: Path, plan: Plan, round_: int) -> Iterator[None]:
    """Write a round's places and clips, then its questions; yields for every question."""
    records = []
    for number in plan.numbers(round_):
        drawn = draw(number, place=plan.place(number))
        records.append(drawn.record if plan.clips is None else _with_clips(out, drawn, number, plan.clips))
        _write_place(out, drawn.world)
        yield
    write_whole(_round_file(out, round_), json.dumps(records).encode(), rights=PUBLIC)


def _put_together(out: Path, plan: Plan) -> None:
    """Write the questions of all rounds, a file a task, and forget the rounds."""
    cases: defaultdict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for round_ in plan.rounds:
        records = json.loads(_round_file(out, round_).read_bytes())
        for number, record in zip(plan.numbers(round_), records, strict=True):
            cases[number.scene, number.task_id].append(record)
    for (scene, task_id), published in cases.items():
        path = out / "data" / scene / f"{scene}_{task_id}_{len(published)}.json"
        whole = json.dumps({"cases": published}, ensure_ascii=False, indent=1)
        write_whole(path, whole.encode(), rights=PUBLIC)
    for round_ in plan.rounds:
        _round_file(out, round_).unlink()
    (out / MAKING / "plan.json").unlink()
    (out / MAKING).rmdir()


def _with_clips(out: Path, drawn: Drawn, number: Number, style: "Style") -> Mapping[str, Any]:
    """Write a question's clips; its record with their paths, as seen from the folder that holds `data`."""
    from gnomon_worlds.rendering.clip import clips_of
    from gnomon_worlds.rendering.film import film

    folder = Path("data") / number.scene / "clips"
    images = []
    made = clips_of(drawn.question, drawn.world, seed=number.seed, style=style)
    for order, (clip, image) in enumerate(zip(made, drawn.record["camera_images"], strict=True), start=1):
        path = folder / f"{number.sample_id}-{order}.mp4"
        write_whole(out / path, film(clip.pictures(), clip.times_s), rights=PUBLIC)
        images.append({**image, "video_path": f"./{path.as_posix()}"})
    return {**drawn.record, "camera_images": images}


def _write_place(out: Path, world: World) -> None:
    """Write a place's map, then its scene. If the scene is there, both are, and nothing is written."""
    scene = world.scene
    folder = out / "data" / scene.kind
    scene_file = folder / "scenes" / f"{scene.id}.geojson"
    if not scene_file.exists():
        write_whole(folder / "map" / f"{scene.id}.png", map_of(world), rights=PUBLIC)
        write_whole(scene_file, sound_scene_text(scene).encode(), rights=PUBLIC)
