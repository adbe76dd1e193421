"""Measures what making a world question costs, beside what its files cost to decode and encode.

    python -m bench.making_questions [--samples 2000] [--seed 7] [--difficulty hard]

`gnomon generate worlds` writes questions, maps and scene files on all cores; its CPU seconds are those of all
its processes. Beside it: the same questions as a job gets them whose arms show no map; and the floor, which
decodes and encodes the written files with Pillow and `json` alone.
"""

import io
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from bench.meter import spent_by
from bench.servers import GNOMON
from bench.tables import head_of, line_of, parser_of, tell
from gnomon.core.select import LEVELS, Select
from gnomon.media import MediaStore
from gnomon_worlds.benchmarks.worlds import worlds

WARM_UP = 14  # questions: what is loaded once


def without_maps(folder: Path, select: Select) -> Callable[[], None]:
    """Makes the questions that a job of that selection has, no prompt of which shows its map."""
    sample_set = worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(folder))
    ids = [ref.sample_id for ref in sample_set.refs]

    def make(some: list[str] = ids) -> None:
        for sample_id in some:
            sample_set.get(sample_id)

    make(ids[:WARM_UP])
    return make


def encode(folder: Path) -> None:
    """Decode and encode what the folder holds."""
    for path in sorted(folder.rglob("*.png")):
        with Image.open(path) as picture:
            picture.save(io.BytesIO(), "png", compress_level=1)
    for path in sorted(folder.rglob("*json")):
        json.dumps(json.loads(path.read_bytes()), indent=2)


def cpu_s(work: Callable[[], None]) -> float:
    """CPU seconds of this process."""
    began_s = time.process_time()
    work()
    return time.process_time() - began_s


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--difficulty", choices=LEVELS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root, "worlds")
        chosen = ["--samples", options.samples, "--seed", options.seed]
        chosen += ["--difficulty", options.difficulty] if options.difficulty else []
        made = spent_by([GNOMON, "generate", "worlds", *chosen, "--out", folder])
        select = Select(limit=options.samples, seed=options.seed, difficulty=options.difficulty)
        make = without_maps(Path(root, "media"), select)
        costs = {
            "`gnomon generate worlds`: questions, maps and scene files": made.cpu_s,
            "questions of a job that shows no map": cpu_s(make),
            "floor: the same files decoded and encoded": cpu_s(lambda: encode(folder)),
        }
    tell(head_of([f"{options.samples:,} questions", "CPU ms a question", "× floor"]))
    *_, floor_s = costs.values()
    for name, spent_s in costs.items():
        tell(line_of([name, f"{1e3 * spent_s / options.samples:.1f}", f"{spent_s / floor_s:.1f}"]))


if __name__ == "__main__":
    main()
