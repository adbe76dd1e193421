"""Measures what making a world question costs, part by part.

    python -m bench.making_questions [--samples 200] [--seed 7] [--difficulty hard] [--times 3]

The parts are made in this process, by one seed after another, and of each part's means the least is shown:
on a core that others use, that varies least. `gnomon generate worlds` writes the same with all its
processes; what it takes for a single question, mostly to start, is a row of its own. The last row tells how
fast the core is.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.meter import spent_by
from bench.servers import GNOMON
from bench.tables import head_of, line_of, parser_of, tell
from gnomon.core.select import LEVELS, Select
from gnomon.media import MediaStore
from gnomon_tools.scene.format import sound_scene_text
from gnomon_worlds.benchmarks.worlds import worlds
from gnomon_worlds.sample_making import draw, map_of
from gnomon_worlds.sample_numbers import number_of

WARM_UP = 14  # questions: what is loaded once
STEPS = 10**7


def cpu_s(work: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    began_s = time.process_time()
    work()
    return time.process_time() - began_s


def parts_s(folder: Path, select: Select) -> dict[str, float]:
    """CPU seconds a question: as a job makes it whose arms show no map, its map, and its scene file."""
    samples = worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(folder))
    spent_s = {"question": 0.0, "map": 0.0, "scene file": 0.0}
    for at, ref in enumerate(samples.refs):
        question_s = cpu_s(lambda name=ref.sample_id: samples.get(name))
        world = draw(number_of(ref.sample_id)).world
        map_s = cpu_s(lambda shown=world: map_of(shown))
        scene_s = cpu_s(lambda shown=world: sound_scene_text(shown.scene))
        if at >= WARM_UP:
            for part, part_s in zip(spent_s, (question_s, map_s, scene_s), strict=True):
                spent_s[part] += part_s / (len(samples.refs) - WARM_UP)
    return spent_s


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--difficulty", choices=LEVELS)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    level = ["--difficulty", options.difficulty] if options.difficulty else []
    tell(head_of([f"{options.samples:,} questions, {options.difficulty or 'as they come'}", "CPU ms"]))
    with tempfile.TemporaryDirectory() as root:
        passes = [
            parts_s(
                Path(root, "media"),
                Select(limit=options.samples + WARM_UP, seed=seed, difficulty=options.difficulty),
            )
            for seed in range(options.seed, options.seed + options.times)
        ]
        for part in passes[0]:
            tell(line_of([part, f"{1e3 * min(spent_s[part] for spent_s in passes):.1f}"]))
        command = [GNOMON, "generate", "worlds", "--seed", options.seed, *level]
        whole_s, single_s = (
            spent_by([*command, "--samples", samples, "--out", Path(root, str(samples))]).cpu_s
            for samples in (options.samples, 1)
        )
    tell(line_of(["`gnomon generate worlds`, of a single question", f"{1e3 * single_s:,.0f}"]))
    more_s = (whole_s - single_s) / (options.samples - 1)
    tell(line_of(["`gnomon generate worlds`, of each more", f"{1e3 * more_s:.1f}"]))
    counted_s = min(cpu_s(lambda: sum(step * step for step in range(STEPS))) for _ in range(options.times))
    tell(line_of([f"{STEPS:,} squares added in Python", f"{1e3 * counted_s:,.0f}"]))


if __name__ == "__main__":
    main()
