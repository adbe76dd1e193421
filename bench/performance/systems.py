"""Measures one system in one setting, in a process of its own."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from bench.performance.workload import ideal_s
from service.redis_server import RedisServer

ROOT = Path(__file__).parents[2]
HOME = ROOT / ".bench"
INSPECT = "inspect-ai==0.3.285"


# As many for the floor as for us, so that what is done once counts the same, and so long that it is not much.
OURS = {(20, 0): 2000, (100, 0): 2000, (500, 0): 2000, (20, 200): 1000, (100, 200): 1600, (500, 200): 2000}
FLOOR = {**OURS, (20, 200): 200}
PEER = {(20, 0): 100, (100, 0): 200, (500, 0): 500, (20, 200): 100, (100, 200): 200}


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """What runs the workload: `arguments` follow the base, the trials and how many are in flight."""

    name: str
    command: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    needs_folder: bool = False
    trials: Mapping[tuple[int, int], int]  # by (in flight, latency in ms): long enough, and no longer
    most_rounds: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How many trials are in flight, and how long the server takes to reply."""

    in_flight: int
    latency_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One system in one setting, over some rounds; CPU in milliseconds a trial."""

    system: str
    setting: Setting
    trials: int
    cpu_ms: tuple[float, ...]
    efficiency: tuple[float, ...]  # ideal wall over wall; says nothing where the server replies at once
    idle_mb: float
    peak_mb: float
    load: tuple[float, ...]  # of the machine, at the start of each round

    @property
    def median_ms(self) -> float:
        return statistics.median(self.cpu_ms)


def own_python() -> str:
    """The interpreter of Inspect AI's environment, made and filled if it is not there."""
    python = HOME / "inspect" / "bin" / "python"
    if not python.exists():
        venv.create(python.parents[1], with_pip=True)
        with (HOME / "inspect.log").open("w") as log:
            command = [python, "-m", "pip", "install", INSPECT, "openai"]
            subprocess.run(command, check=True, stdout=log, stderr=subprocess.STDOUT)
    return str(python)


def systems(redis_url: str, *, with_inspect: bool) -> list[System]:
    """The floor, we twice, and the peers."""
    module = (sys.executable, "-m")
    ours = (*module, "bench.performance.gnomon_worker")
    found = [
        System(name="floor", command=(*module, "bench.performance.floor"), trials=FLOOR),
        System(name="gnomon", command=ours, arguments=(redis_url, "fast"), needs_folder=True, trials=OURS),
        System(
            name="gnomon, LiteLLM",
            command=ours,
            arguments=(redis_url, "litellm"),
            needs_folder=True,
            trials={(20, 0): 100},
        ),
        *(
            System(
                name=f"LangGraph with {name}",
                command=(*module, "bench.performance.langgraph_loop"),
                arguments=(name.lower(),),
                trials=trials,
                most_rounds=2,
            )
            for name, trials in (("aiohttp", OURS), ("LiteLLM", PEER))
        ),
    ]
    if with_inspect:
        script = str(Path(__file__).with_name("inspect_eval.py"))
        command = (own_python(), script)
        found.append(
            System(name="inspect-ai", command=command, needs_folder=True, trials=PEER, most_rounds=2)
        )
    return found


@contextmanager
def mock_server() -> Iterator[int]:
    """The port of a mock server that runs meanwhile."""
    command = [sys.executable, "-m", "bench.performance.mock"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.terminate()


@contextmanager
def queue() -> Iterator[str]:
    """The URL of a Redis that runs meanwhile."""
    with tempfile.TemporaryDirectory() as folder, RedisServer(Path(folder)) as server:
        yield server.url


def measure(system: System, setting: Setting, *, port: int, rounds: int) -> Cell:
    """Run the system in the setting, some times."""
    path = f"l{setting.latency_ms}/v1" if setting.latency_ms else "v1"
    trials = system.trials[setting.in_flight, setting.latency_ms]
    found, load = [], []
    for _ in range(min(rounds, system.most_rounds)):
        load.append(os.getloadavg()[0])
        found.append(run_once(system, f"http://127.0.0.1:{port}/{path}", trials, setting.in_flight))
    ideal = ideal_s(trials, in_flight=setting.in_flight, latency_s=setting.latency_ms / 1000)
    return Cell(
        system=system.name,
        setting=setting,
        trials=trials,
        cpu_ms=tuple(one["cpu_s"] * 1000 / trials for one in found),
        efficiency=tuple(ideal / one["wall_s"] for one in found),
        idle_mb=max(one["idle_mb"] for one in found),
        peak_mb=max(one["peak_mb"] for one in found),
        load=tuple(load),
    )


def run_once(
    system: System,
    base: str,
    trials: int,
    in_flight: int,
    *,
    root: Path = ROOT,
    watching: Callable[[int], AbstractContextManager[None]] = lambda _pid: nullcontext(),
) -> dict[str, float]:
    """What the system at `root` reports of one run; `watching` it, by its process id, meanwhile.

    Raises:
        RuntimeError: it failed, or answered a trial wrongly.
    """
    folder = tempfile.mkdtemp() if system.needs_folder else ""
    command = [*system.command, base, str(trials), str(in_flight), *([folder] if folder else [])]
    environ = {**os.environ, "PYTHONPATH": str(root)}
    try:
        with (
            subprocess.Popen(
                [*command, *system.arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=root,
                env=environ,
            ) as running,
            watching(running.pid),
        ):
            printed, errors = running.communicate()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if running.returncode:
        raise RuntimeError(f"{system.name} failed:\n{errors[-2000:]}")
    measured: dict[str, float] = json.loads(printed.strip().splitlines()[-1])
    if measured["right"] != trials:
        raise RuntimeError(f"{system.name} answered {measured['right']} of {trials} rightly")
    return measured
