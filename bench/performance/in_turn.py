"""Measures the floor and a worker in turn, in one setting, and another checkout beside them if wanted.

    python -m bench.performance.in_turn [--in-flight 500] [--latency-ms 200] [--rounds 3] [--workers 1]
        [--beside CHECKOUT]

A fleet has a worker for each core: several share the trials in flight, and what they reach together is told
beside the floor, which is one process.

All but the last column is measured. That is computed: the efficiency that the CPU time of a trial allows
where one core does nothing else, which a busy machine cannot show.
"""

import argparse
import statistics
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench.performance.systems import ROOT, System, mock_server, queue, run_once, systems
from bench.performance.workload import ideal_s

SAMPLE_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One run: CPU milliseconds a trial, ideal wall over wall, and the most MB that one process had, with
    pages that processes share counted whole (`rss_mb`) or shared out (`pss_mb`).
    """

    cpu_ms: float
    efficiency: float
    rss_mb: float
    pss_mb: float


def possible_efficiency(cpu_ms: float, *, in_flight: int, latency_ms: float, processes: int = 1) -> float:
    """Ideal wall over the wall that so many CPU milliseconds a trial allow, each process on its own core.

    >>> [possible_efficiency(ms, in_flight=500, latency_ms=200) for ms in (1, 3.2)]
    [1.0, 0.5]
    """
    ideal_ms = 1000 * ideal_s(1, in_flight=in_flight, latency_s=latency_ms / 1000)
    return min(1.0, processes * ideal_ms / cpu_ms)


def shared_out_mb(pid: int) -> float:
    """The memory of a process, shared pages divided by those that share them; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return int(lines.split("\nPss:")[1].split()[0]) / 1e3


def children_of(pid: int) -> list[int]:
    """The processes that a process has started and that still run."""
    try:
        return [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return []


class PssWatch:
    """Looks at a process and its children from time to time: `most_mb` is the most that one of them had."""

    def __init__(self) -> None:
        self.most_mb = 0.0
        self._is_over = threading.Event()

    @contextmanager
    def watching(self, pid: int) -> Iterator[None]:
        """Within, look at them."""
        self._is_over.clear()
        thread = threading.Thread(target=self._look, args=(pid,))
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            thread.join()

    def _look(self, pid: int) -> None:
        while not self._is_over.wait(SAMPLE_S):
            self.most_mb = max(self.most_mb, *map(shared_out_mb, (pid, *children_of(pid))))


def take_turn(system: System, root: Path, base: str, *, in_flight: int, latency_ms: int) -> Turn:
    """Run a system of the checkout at `root` once."""
    trials, watch = system.trials[in_flight, latency_ms], PssWatch()
    measured = run_once(system, base, trials, in_flight, root=root, watching=watch.watching)
    ideal = ideal_s(trials, in_flight=in_flight, latency_s=latency_ms / 1000)
    return Turn(
        cpu_ms=measured["cpu_s"] * 1000 / trials,
        efficiency=ideal / measured["wall_s"],
        rss_mb=measured["peak_mb"],
        pss_mb=watch.most_mb,
    )


def row(
    name: str, turns: list[Turn], floors: list[Turn], *, in_flight: int, latency_ms: int, processes: int = 1
) -> str:
    """A row of the table: medians over the rounds, and the ratio to the floor of each round."""
    cpu_ms = statistics.median(turn.cpu_ms for turn in turns)
    ratios = [turn.cpu_ms / floor.cpu_ms for turn, floor in zip(turns, floors, strict=True)]
    each = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    efficiency = possible = ""
    if latency_ms:
        efficiency = f"{100 * statistics.median(turn.efficiency for turn in turns):.0f} %"
        most = possible_efficiency(cpu_ms, in_flight=in_flight, latency_ms=latency_ms, processes=processes)
        possible = f"{100 * most:.0f} %"
    rss_mb, pss_mb = max(turn.rss_mb for turn in turns), max(turn.pss_mb for turn in turns)
    return (
        f"| {name} | {cpu_ms:.2f} | {statistics.median(ratios):.2f} ({each}) | {rss_mb:.0f} | {pss_mb:.0f} "
        f"| {efficiency} | {possible} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--in-flight", type=int, choices=(20, 100, 500), default=500)
    parser.add_argument("--latency-ms", type=int, choices=(0, 200), default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1, help="how many share the trials in flight")
    parser.add_argument("--beside", type=Path, help="the root of another checkout of ours")
    options = parser.parse_args()
    if options.beside and options.workers > 1:
        parser.error("--beside: an older checkout may know of one worker only; leave out --workers")
    setting = {"in_flight": options.in_flight, "latency_ms": options.latency_ms}
    with queue() as redis_url, mock_server() as port:
        floor, gnomon, *_ = systems(redis_url, with_inspect=False)
        gnomon = replace(gnomon, arguments=(*gnomon.arguments, str(options.workers)))
        running = {"floor": (floor, ROOT), "gnomon": (gnomon, ROOT)}
        if options.beside:
            running[f"gnomon of {options.beside.name}"] = gnomon, options.beside.resolve()
        turns: dict[str, list[Turn]] = {name: [] for name in running}
        base = f"http://127.0.0.1:{port}/" + (f"l{options.latency_ms}/v1" if options.latency_ms else "v1")
        for number in range(options.rounds):
            for name, (system, root) in running.items():
                turns[name].append(take_turn(system, root, base, **setting))
                sys.stdout.write(f"round {number + 1}, {name}: {turns[name][-1]}\n")
                sys.stdout.flush()
    lines = [
        "| system | CPU ms a trial | × floor, each round | peak MB | shared out | efficiency | possible |",
        "|---|---|---|---|---|---|---|",
        *(
            row(name, taken, turns["floor"], **setting, processes=1 if name == "floor" else options.workers)
            for name, taken in turns.items()
        ),
    ]
    sys.stdout.write("\n".join(["", *lines]) + "\n")


if __name__ == "__main__":
    main()
