"""How often rules of thumb find the answers of generated questions: `python -m bench.difficulty`.

Draws fresh questions of each level and prints, for each rule of thumb, for an adversary that learns without
the map (by six boxes of each clip, or by those in FRAMES of its pictures) and with it, and each level, the
rate with Wilson's 95 % interval; then what was measured of the questions and the CPU milliseconds that one
took with its place's map. The adversary takes the extra `audit`.
"""

import math
import multiprocessing
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from bench.tables import head_of, line_of, parser_of, tell
from gnomon.core.option_features import Floats
from gnomon.core.select import AS_IT_COMES, LEVELS
from gnomon.statistics.estimate import wilson
from gnomon_analyses.audit.adversary import choices
from gnomon_published.benchmarks.gtr_bench.case import TASKS
from gnomon_published.benchmarks.gtr_bench.option_features import option_features
from gnomon_published.benchmarks.gtr_bench.rules_of_thumb import Evidence, scores_of, taken
from gnomon_published.benchmarks.gtr_bench.way_features import way_features
from gnomon_published.homography import to_ground
from gnomon_tools.scene.scene import Point
from gnomon_worlds.difficulty import CHANCE, Difficulty
from gnomon_worlds.features import features_of
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.question import Question, box, evidence_in
from gnomon_worlds.sample_making import draw, map_of
from gnomon_worlds.sample_numbers import CELLS, Number, difficulties_of, offered
from gnomon_worlds.trajectory import Sighting, Trip
from gnomon_worlds.world import World

FRAMES = 16  # of a clip's pictures in which its target is looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One question: what rules get right of it, what makes it hard, its options' features, CPU seconds."""

    task: str
    place: str
    rules: Mapping[str, float]
    features: Mapping[str, float]
    options: Mapping[str, Floats]  # by what is seen: options × features, the right one first
    took_s: float


Work = tuple[int, Difficulty | None, int, WorldOptions | None, tuple[str, ...]]


def measured(work: Work) -> list[Measured]:
    """The questions of one round, in one town and one building."""
    seed, difficulty, round_, options, tasks = work
    questions = []
    for cell in offered(range(len(CELLS)), difficulty, options):
        task = TASKS[CELLS[cell][1]].short
        if task not in tasks:
            continue
        began_s = time.process_time()
        number = Number(seed, round_ * len(CELLS) + cell, difficulty, options)
        drawn = draw(number)
        map_of(drawn.world)
        took_s = time.process_time() - began_s
        question = drawn.question
        evidence = evidence_in(drawn.world, question)
        right, rates = question.options.index(question.right[0]), {}
        for rule, by_option in scores_of(evidence, question.options).items():
            left = taken([by_option[option] for option in question.options]) or range(len(question.options))
            rates[rule] = (right in left) / len(left)
        shuffled = [right, *(at for at in range(len(question.options)) if at != right)]
        looked_at = (evidence, [question.options[at] for at in shuffled])
        names, blind = option_features([looked_at])
        _, sighted = way_features([(looked_at, drawn.world.scene)], names, blind)
        filmed = of_clips(drawn.world, question, looked_at)
        questions.append(
            Measured(
                task=task,
                place=number.cluster,
                rules=rates,
                features=features_of(drawn.world, question),
                options={
                    "without the map": blind[0],
                    "without the map, by pictures": filmed,
                    "with the map": sighted[0],
                },
                took_s=took_s,
            )
        )
    return questions


def of_clips(world: World, question: Question, looked_at: tuple[Evidence, Sequence[str]]) -> Floats:
    """Options × features by the target's boxes in the clips' pictures; and how its speed changes in view."""
    evidence, options = looked_at
    paths = [path_in_pictures(world, *clip) for clip in question.clip_sightings]
    tracks = [replace(track, path_m=path) for track, path in zip(evidence.tracks, paths, strict=True)]
    _, features = option_features([(replace(evidence, tracks=tuple(tracks)), options)])
    changes: list[float] = []
    for path in paths:
        steps_m = [math.dist(a, b) for a, b in pairwise(path)]
        changes += [sum(some) / sum(steps_m) for some in (steps_m[:3], steps_m[-3:])]
    return np.concatenate([features[0], np.tile(changes, (len(options), 1))], axis=1)


def path_in_pictures(world: World, trip: Trip, sighting: Sighting) -> tuple[Point, ...]:
    """Where the target stands in FRAMES pictures of its clip: the middle of its box's lower edge."""
    mount, camera = world.installation.mounts[sighting.camera], world.scene.cameras[sighting.camera]
    times_s = np.linspace(sighting.start_s, sighting.end_s, FRAMES).tolist()
    boxes = [box(mount, trip.journey, time_s) for time_s in times_s]
    feet = np.array([(x + width / 2, y + height) for x, y, width, height in boxes])
    return tuple((x_m, y_m) for x_m, y_m in to_ground(np.asarray(camera.homography), feet).tolist())


def table(by_level: Mapping[str, Sequence[Measured]]) -> list[str]:
    """The lines of the tables."""
    lines = [head_of(["rule of thumb", "task", *by_level])]
    rates: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for level, questions in by_level.items():
        for question in questions:
            for rule, rate in question.rules.items():
                rates[rule, question.task][level].append(rate)
        for sees, task, hits in _by_adversary(questions):
            rates[f"adversary {sees}", task][level] += hits
    for (rule, task), by_rate in sorted(rates.items()):
        lines.append(line_of([rule, task, *(_rate(by_rate[level]) for level in by_level)]))
    lines += ["", head_of(["median of", *by_level])]
    for name in ("detour", "gap_m", "gap_s", "junctions", "turns", "cameras_between", "closeness"):
        medians = [
            _median([asked.features[name] for asked in questions if name in asked.features])
            for questions in by_level.values()
        ]
        lines.append(line_of([name, *(f"{median:.2f}" for median in medians)]))
    costs = [
        1e3 * math.fsum(asked.took_s for asked in questions) / max(len(questions), 1)
        for questions in by_level.values()
    ]
    lines.append(line_of(["CPU ms per question (mean)", *(f"{cost:.0f}" for cost in costs)]))
    return lines


def _by_adversary(questions: Sequence[Measured]) -> Iterator[tuple[str, str, list[float]]]:
    """By what it sees, and task: whether the adversary finds the right option, its places by lot."""
    lot = np.random.default_rng(0)
    by_task: dict[str, list[Measured]] = defaultdict(list)
    for asked in questions:
        by_task[asked.task].append(asked)
    for task, alike in by_task.items():
        orders = [lot.permutation(4) for _ in alike]
        right, places = [int(np.argmin(order)) for order in orders], [asked.place for asked in alike]
        for sees in alike[0].options:
            options = [asked.options[sees][order] for asked, order in zip(alike, orders, strict=True)]
            chosen = choices(np.stack(options), right, places)
            yield sees, task, [float(choice == right[at]) for at, choice in chosen]


def _rate(values: Sequence[float]) -> str:
    if not values:
        return "–"
    share = math.fsum(values) / len(values)
    low, high = wilson(share, len(values))
    mark = "" if low <= CHANCE <= high else "**"
    return f"{mark}{100 * share:.1f}{mark} ({100 * low:.0f}–{100 * high:.0f})"


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else math.nan


def main() -> None:
    """Print the tables."""
    parser = parser_of(__doc__)
    parser.add_argument(
        "--questions", type=int, default=2_800, help="of each level; rounded up to rounds of 14"
    )
    levels = [AS_IT_COMES, *LEVELS]
    parser.add_argument("--levels", nargs="+", default=levels, choices=levels)
    parser.add_argument("--seed", type=int, default=1_000)
    shorts = [task.short for task in TASKS.values()]
    parser.add_argument("--tasks", nargs="+", default=shorts, choices=shorts)
    parser.add_argument("--processes", type=int, default=None, help="as many as cores, if not given")
    parser.add_argument("--world", default="", help="as `gnomon generate worlds` takes it")
    chosen = parser.parse_args()
    options = WorldOptions.of(dict(part.split("=") for part in chosen.world.split(",") if part))
    rounds = -(-chosen.questions // len(CELLS))
    by_level: dict[str, list[Measured]] = {}
    with multiprocessing.Pool(chosen.processes) as pool:
        for level in chosen.levels:
            [difficulty] = difficulties_of(None if level == AS_IT_COMES else level, options)
            work = [(chosen.seed, difficulty, at, options, tuple(chosen.tasks)) for at in range(rounds)]
            by_level[level] = [question for asked in pool.imap(measured, work) for question in asked]
    counts = ", ".join(f"{len(questions):,} {level}" for level, questions in by_level.items())
    tell(f"Questions: {counts}; seed {chosen.seed}; bold: not at chance\n")
    tell("\n".join(table(by_level)))


if __name__ == "__main__":
    main()
