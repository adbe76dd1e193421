"""Measures the memory of a process that runs a job's shards one after another, for jobs of growing length.

    python -m bench.performance.flat [TRIALS …]

Longer jobs have more repeats of the same samples, so that only what grows with the trials run can show.
"""

import gc
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.meter import Meter, peak_mb, rss_mb
from bench.servers import ROOT, mock_server, queue
from gnomon_workers.process import limit_memory, raise_gc_threshold

SIZES = (2_000, 20_000)
SAMPLES, IN_FLIGHT = 500, 100
RUN = "--run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What a process of its own had more than after a first job of SAMPLES trials: resident memory at its
    peak, which the luck of how allocations lie moves by some MB, and blocks of Python's memory at the end.
    """

    peak_mb: float
    blocks: int


def grow(sizes: tuple[int, ...] = SIZES) -> list[Growth]:
    """The growth by a job of each size."""
    with queue() as redis_url, mock_server() as port:
        return [_grow(size, f"http://127.0.0.1:{port}/v1", redis_url) for size in sizes]


def _grow(size: int, base: str, redis_url: str) -> Growth:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bench.performance.flat", RUN, str(size), base, folder, redis_url]
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environ, check=True)
    found = json.loads(done.stdout.strip().splitlines()[-1])
    if found["right"] != size:
        raise RuntimeError(f"{found['right']} of {size} trials were answered rightly:\n{done.stderr[-2000:]}")
    return Growth(peak_mb=found["peak_mb"], blocks=found["blocks"])


def run(size: int, base: str, folder: Path, redis_url: str) -> None:
    """Run such a job in this process, as a fork does that takes one shard after another."""
    limit_memory()
    from bench.performance.gnomon_job import Job, spec_of

    spec = spec_of("openai/mock", base, SAMPLES, IN_FLIGHT)
    job = Job(folder, redis_url, spec.models[0])
    planned = job.create(spec.model_copy(update={"repeats": size // SAMPLES}))
    raise_gc_threshold()
    job.run_here(job.create(spec_of("openai/warm-up", base, SAMPLES, IN_FLIGHT)))
    gc.freeze()
    Meter()
    idle_mb, blocks = rss_mb(), sys.getallocatedblocks()
    job.run_here(planned)
    found = {"peak_mb": peak_mb() - idle_mb, "blocks": sys.getallocatedblocks() - blocks}
    found["right"] = job.right(planned)
    sys.stdout.write(json.dumps(found) + "\n")


def main() -> None:
    if sys.argv[1:2] == [RUN]:
        size, base, folder, redis_url = sys.argv[2:]
        return run(int(size), base, Path(folder), redis_url)
    sizes = tuple(int(size) for size in sys.argv[1:]) or SIZES
    for size, more in zip(sizes, grow(sizes), strict=True):
        sys.stdout.write(
            f"{size:,} trials: {more.peak_mb:.1f} MB more at the peak, {more.blocks:,} blocks more after it\n"
        )
    return None


if __name__ == "__main__":
    main()
