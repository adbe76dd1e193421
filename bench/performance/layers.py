"""Samples where the event loop's thread of a worker spends a trial's CPU time, by layer and by function.

    python -m bench.performance.layers [TRIALS] [IN_FLIGHT] [LATENCY_MS] [MOST_FUNCTIONS]

A timer of CPU time interrupts the thread every millisecond. The innermost frame that belongs to a package or
a module of ours gets the sample: what JSON costs is counted where it is wanted.
"""

import gc
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import FrameType

from bench.performance.meter import cpu_s
from bench.performance.systems import ROOT, mock_server, queue
from workers.process import limit_memory, raise_gc_threshold

EVERY_S = 0.001
RUN = "--run"
OURS = ("agents", "gnomon", "tools", "workers", "bench")
PACKAGES = {
    "LangGraph": ("langgraph", "langchain_core", "langsmith", "langchain_protocol"),
    "aiohttp": ("aiohttp", "yarl", "multidict", "propcache", "frozenlist"),
    "Redis": ("redis",),
    "SQLAlchemy": ("sqlalchemy",),
}


def layer_of(file: str) -> str | None:
    """The layer that a module's file belongs to; None for the standard library.

    >>> layer_of("/x/site-packages/yarl/_url.py"), layer_of(str(ROOT / "workers/slots.py")), layer_of("json")
    ('aiohttp', 'workers', None)
    """
    if file.startswith(str(ROOT)) and "site-packages" not in file:
        folder = Path(file).relative_to(ROOT).parts[0]
        return folder if folder in OURS else None
    package = file.rpartition("site-packages/")[2].partition("/")[0] if "site-packages/" in file else ""
    return next((layer for layer, names in PACKAGES.items() if package in names), None)


class Sampler:
    """Counts samples by layer and by function."""

    def __init__(self) -> None:
        self.layers: Counter[str] = Counter()
        self.functions: Counter[str] = Counter()
        self._layers_of: dict[str, str | None] = {}

    def sample(self, _signal: int, frame: FrameType | None) -> None:
        """Count the innermost frame that belongs to a layer."""
        leaf = frame
        while frame is not None:
            file = frame.f_code.co_filename
            if file not in self._layers_of:
                self._layers_of[file] = layer_of(file)
            layer = self._layers_of[file]
            if layer not in (None, "bench"):
                self._count("event loop" if frame.f_code.co_name == "run_shard" else layer or "", frame)
                return
            frame = frame.f_back
        if leaf is not None:
            self._count("event loop", leaf)

    def _count(self, layer: str, frame: FrameType) -> None:
        self.layers[layer] += 1
        code = frame.f_code
        self.functions[f"{layer}: {'/'.join(code.co_filename.split('/')[-2:])} {code.co_qualname}"] += 1


def run(base: str, trials: int, in_flight: int, folder: Path, redis_url: str, most: int) -> None:
    """Run such a job in this process, as a fork does, and print what was sampled."""
    limit_memory()
    from agents.models.catalog import preload
    from bench.performance.gnomon_job import Job, spec_of

    spec = spec_of("openai/mock", base, trials, in_flight, {})
    preload(spec.models)
    job = Job(folder, redis_url, spec.models[0])
    raise_gc_threshold()
    job.run_here(job.create(spec_of("openai/warm-up", base, 20, 5, {})))
    planned, sampler = job.create(spec), Sampler()
    gc.freeze()  # as the worker does before it forks
    signal.signal(signal.SIGPROF, sampler.sample)
    signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
    began_s, thread_s = cpu_s(), time.thread_time()
    job.run_here(planned)
    signal.setitimer(signal.ITIMER_PROF, 0)
    spent_ms, thread_ms = (1000 * (cpu_s() - began_s), 1000 * (time.thread_time() - thread_s))
    samples = sampler.layers.total()
    lines = [f"{spent_ms / trials:.2f} CPU ms a trial, {thread_ms / trials:.2f} of them in this thread"]
    for layer, count in sampler.layers.most_common():
        lines.append(
            f"{100 * count / samples:5.1f} %  {thread_ms / trials * count / samples:.3f} ms  {layer}"
        )
    lines += [
        f"{100 * count / samples:5.1f} %  {function}"
        for function, count in sampler.functions.most_common(most)
    ]
    sys.stdout.write("\n".join(lines) + "\n")


def main() -> None:
    if sys.argv[1:2] == [RUN]:
        base, trials, in_flight, folder, redis_url, most = sys.argv[2:]
        run(base, int(trials), int(in_flight), Path(folder), redis_url, int(most))
        return
    trials, in_flight, latency_ms, most = [*map(int, sys.argv[1:]), *(2000, 100, 0, 40)[len(sys.argv) - 1 :]]
    with queue() as redis_url, mock_server() as port, tempfile.TemporaryDirectory() as folder:
        path = f"l{latency_ms}/v1" if latency_ms else "v1"
        base = f"http://127.0.0.1:{port}/{path}"
        command = [sys.executable, "-m", "bench.performance.layers", RUN, base, str(trials), str(in_flight)]
        subprocess.run([*command, folder, redis_url, str(most)], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
