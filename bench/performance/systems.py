"""Measures one system in one setting, in a process of its own."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.performance.workload import ideal_s
from bench.servers import ROOT

HOME = ROOT / ".bench"
INSPECT = "inspect-ai==0.3.285"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How many trials are in flight, and how long the server takes to reply."""

    in_flight: int
    latency_ms: int


AT_ONCE = [Setting(in_flight=count, latency_ms=0) for count in (20, 100, 500)]
SLOWLY = Setting(in_flight=500, latency_ms=200)
# As many for the floor as for us, so that what is done once counts the same, and so long that it is not much.
OURS = dict.fromkeys([*AT_ONCE, SLOWLY], 2000)
PEER = dict(zip(AT_ONCE, (100, 200, 500), strict=True))  # it is slow; at 200 ms it costs the same


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """What runs the workload: its command is followed by the base, the trials, how many are in flight, and a
    folder; it has trials enough for each setting, and no more.
    """

    name: str
    command: tuple[str, ...]
    trials: Mapping[Setting, int]
    arguments: tuple[str, ...] = ()


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
    """The floor, we, and the peer."""
    module = (sys.executable, "-m")
    found = [
        System(name="floor", command=(*module, "bench.performance.floor"), trials=OURS),
        System(
            name="gnomon",
            command=(*module, "bench.performance.gnomon_worker"),
            arguments=(redis_url,),
            trials=OURS,
        ),
    ]
    if with_inspect:
        command = (own_python(), str(Path(__file__).with_name("inspect_eval.py")))
        found.append(System(name="inspect-ai", command=command, trials=PEER))
    return found


def measure(system: System, setting: Setting, *, port: int, rounds: int) -> Cell:
    """Run the system in the setting, some times."""
    path = f"l{setting.latency_ms}/v1" if setting.latency_ms else "v1"
    trials = system.trials[setting]
    base = f"http://127.0.0.1:{port}/{path}"
    runs = [_run_once(system, base, trials, setting.in_flight) for _ in range(rounds)]
    ideal = ideal_s(trials, in_flight=setting.in_flight, latency_s=setting.latency_ms / 1000)
    return Cell(
        system=system.name,
        setting=setting,
        trials=trials,
        cpu_ms=tuple(run["cpu_s"] * 1000 / trials for run in runs),
        efficiency=tuple(ideal / run["wall_s"] for run in runs),
        idle_mb=max(run["idle_mb"] for run in runs),
        peak_mb=max(run["peak_mb"] for run in runs),
    )


def _run_once(system: System, base: str, trials: int, in_flight: int) -> dict[str, float]:
    """What the system reports of one run.

    Raises:
        RuntimeError: it failed, or answered a trial wrongly.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [*system.command, base, str(trials), str(in_flight), folder, *system.arguments]
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environ, check=False)
    if done.returncode:
        raise RuntimeError(f"{system.name} failed:\n{done.stderr[-2000:]}")
    measured: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    if measured["right"] != trials:
        raise RuntimeError(f"{system.name} answered {measured['right']} of {trials} rightly")
    return measured
