"""Measures what making questions costs.

    python -m bench.making_questions [--samples 2000] [--seed 7]

`gnomon generate worlds` writes questions, maps and scene files on all cores. Beside it, in one process each:
the same questions as a job gets them whose arms show no map; and the floor, which decodes and encodes the
files that were written with Pillow and `json` alone. CPU milliseconds are those of a question.
"""

import argparse
import io
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from bench.performance.meter import children_cpu_s
from bench.performance.startup import GNOMON
from gnomon.benchmarks.worlds import worlds
from gnomon.core.select import Select
from gnomon.media import MediaStore

WARM_UP = 14  # questions: what is loaded once


def generate(folder: Path, *, samples: int, seed: int) -> tuple[float, float]:
    """Wall and CPU seconds of the command, with its processes."""
    sizes = ["--samples", str(samples), "--seed", str(seed)]
    command = [GNOMON, "generate", "worlds", *sizes, "--out", str(folder)]
    before_s, began_s = children_cpu_s(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began_s, children_cpu_s() - before_s


def without_maps(folder: Path, *, samples: int, seed: int) -> Callable[[], object]:
    """Makes the questions that a job of the same seed has, no prompt of which shows its map."""
    select = Select(limit=samples, seed=seed)
    sample_set = worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(folder))
    ids = [ref.sample_id for ref in sample_set.refs]
    for sample_id in ids[:WARM_UP]:
        sample_set.get(sample_id)
    return lambda: [sample_set.get(sample_id) for sample_id in ids]


def encoding(folder: Path) -> Callable[[], object]:
    """Decodes and encodes what the folder holds."""
    pictures, texts = sorted(folder.rglob("*.png")), sorted(folder.rglob("*json"))

    def encode() -> None:
        for path in pictures:
            with Image.open(path) as picture:
                picture.save(io.BytesIO(), "png", compress_level=1)
        for path in texts:
            json.dumps(json.loads(path.read_bytes()), indent=2)

    return encode


def cpu_s(work: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    began_s = time.process_time()
    work()
    return time.process_time() - began_s


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    chosen = {"samples": options.samples, "seed": options.seed}
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root, "worlds")
        wall_s, all_s = generate(folder, **chosen)
        costs = {
            "`gnomon generate worlds`: questions, maps and scene files": all_s,
            "questions of a job that shows no map": cpu_s(without_maps(Path(root, "media"), **chosen)),
            "floor: the same files decoded and encoded": cpu_s(encoding(folder)),
        }
    print(f"{options.samples:,} questions, {os.cpu_count()} cores, wall {wall_s:.1f} s\n")
    print("| what | CPU ms a question | × floor |\n|---|---|---|")
    *_, floor_s = costs.values()
    for name, spent_s in costs.items():
        print(f"| {name} | {1e3 * spent_s / options.samples:.1f} | {spent_s / floor_s:.1f} |")


if __name__ == "__main__":
    main()
