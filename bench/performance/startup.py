"""Measures how long it takes until the command line answers, the API is ready, six trials have run, and
`gnomon demo` shows its first result and ends.

    python -m bench.performance.startup [--turns 5] [--no-inspect]
    python -m bench.performance.startup --demo [--turns 5] [--beside CHECKOUT]

`gnomon run` and `inspect eval` run the same six trials of the workload against the same mock server, in turn,
each as a user would start it; the ratio is that of the medians. CPU seconds are those of all processes.
With `--demo` the demo alone is run, in turn with that of another checkout, which has its own `.venv`. Wall
times tell something only on a machine that does nothing else.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bench.performance.meter import children_cpu_s
from bench.performance.page import Page
from bench.performance.systems import mock_server, own_python, queue
from bench.performance.workload import QUESTION, TOOL

ROOT = Path(__file__).parents[2]
GNOMON = str(Path(sys.executable).with_name("gnomon"))
GIVE_UP_S = 600.0  # on a machine that much else runs on
TRIALS, TURNS = 6, 5
FIRST_RESULT = re.compile(r"trials: [1-9][\d,]* of ")  # a line of progress that counts one
OPTIONS = ("0.7 m/s", "1.4 m/s", "2.1 m/s", "2.8 m/s")
Starts = Mapping[str, list[tuple[float, float]]]  # by command, CPU and wall seconds of each turn


def help_s() -> tuple[float, float]:
    """Wall and CPU seconds of `gnomon --help`."""
    began_s, before_s = time.perf_counter(), children_cpu_s()
    subprocess.run([GNOMON, "--help"], check=True, capture_output=True)
    return time.perf_counter() - began_s, children_cpu_s() - before_s


def api_s(redis_url: str) -> tuple[float, float]:
    """Wall seconds until `gnomon api` says that it is ready, and the CPU seconds it took."""
    before_s = children_cpu_s()
    with tempfile.TemporaryDirectory() as folder:
        began_s = time.perf_counter()
        with running_api(redis_url, folder):
            wall_s = time.perf_counter() - began_s
    return wall_s, children_cpu_s() - before_s


@contextmanager
def running_api(redis_url: str, folder: str) -> Iterator[tuple[str, int]]:
    """The URL and the process id of a `gnomon api` over a folder, once it answers."""
    environ = {**os.environ, "GNOMON_REDIS_URL": redis_url, "GNOMON_DATA_DIR": folder}
    environ |= {"GNOMON_DATABASE_URL": f"sqlite:///{folder}/gnomon.db"}
    command = [GNOMON, "api", "--port", "0"]
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as api:
        assert api.stdout is not None
        try:
            url = api.stdout.readline().strip()
            give_up_s = time.perf_counter() + GIVE_UP_S
            while not _is_ready(url):
                if api.poll() is not None or time.perf_counter() > give_up_s:
                    raise RuntimeError("the API does not start")
                time.sleep(0.02)
            yield url, api.pid
        finally:
            api.terminate()


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=1) as response:
            return bool(response.status == 200)
    except (OSError, ValueError):
        return False


def six_trials(port: int, turns: int, *, with_inspect: bool) -> Starts:
    """What six trials take, from the command to its end; each turn runs each command once.

    Raises:
        RuntimeError: a command did not answer all of them.
    """
    base = f"http://127.0.0.1:{port}/v1"
    commands: dict[str, Callable[[Path], None]] = {"gnomon run": lambda folder: _gnomon_run(base, folder)}
    if with_inspect:
        inspect = str(Path(own_python()).with_name("inspect"))
        commands["inspect eval"] = lambda folder: _inspect_eval(inspect, base, folder)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for turn in range(turns + 1):
        for name, run in commands.items():
            with tempfile.TemporaryDirectory() as folder:
                began_s, before_s = time.perf_counter(), children_cpu_s()
                run(Path(folder))
                if turn:  # the first one may still compile modules
                    taken[name].append((children_cpu_s() - before_s, time.perf_counter() - began_s))
    return taken


def _gnomon_run(base: str, folder: Path) -> None:
    data = folder / "data"
    data.mkdir()
    shutil.copy(ROOT / "examples" / "questions" / "square.geojson", data)
    question = {"question": QUESTION, "options": OPTIONS, "answer": "B", "scene": "square.geojson"}
    lines = (json.dumps({"id": f"q{number}", **question}) for number in range(TRIALS))
    (data / "questions.jsonl").write_text("\n".join(lines))
    spec = folder / "job.json"  # JSON is YAML too
    spec.write_text(
        json.dumps(
            {
                "benchmark": "questions",
                "data": str(data),
                "models": [{"id": "openai/mock", "api_base": base, "price": {"input": 1, "output": 2}}],
                "arms": [{"name": "tools", "agent": "react", "tools": [TOOL]}],
            }
        )
    )
    _run_quietly([GNOMON, "run", str(spec), "--data-dir", str(folder / "store")])


def _inspect_eval(inspect: str, base: str, folder: Path) -> None:
    task = f"{Path(__file__).with_name('inspect_eval.py')}@quiz"
    command = [inspect, "eval", task, "-T", f"trials={TRIALS}", "--model", "openai-api/mock/mock"]
    command += ["--model-base-url", base, "--display", "none", "--log-dir", str(folder)]
    _run_quietly(command)


def demo_s(gnomon: str) -> tuple[float, float, float]:
    """What `gnomon demo` takes: CPU seconds, wall seconds, and wall seconds until it shows a first result.

    Raises:
        RuntimeError: it failed, or showed no result before it ended.
    """
    began_s, before_s, first_s, messages = time.perf_counter(), children_cpu_s(), None, ""
    with tempfile.TemporaryDirectory() as folder:
        command = [gnomon, "demo", "--data-dir", folder]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as running:
            assert running.stderr is not None
            for line in running.stderr:
                messages += line
                if first_s is None and FIRST_RESULT.match(line):
                    first_s = time.perf_counter() - began_s
    if running.returncode or first_s is None:
        raise RuntimeError(f"gnomon demo ended with {running.returncode}: {messages[-1000:]}")
    return children_cpu_s() - before_s, time.perf_counter() - began_s, first_s


def demo_lines(commands: Mapping[str, str], turns: int) -> Iterator[str]:
    """A table of medians and ranges; each turn runs each command once."""
    taken: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
    for turn in range(turns + 1):
        for name, gnomon in commands.items():
            seconds = demo_s(gnomon)
            if turn:  # the first one may still compile modules
                taken[name].append(seconds)
    yield "\n| gnomon demo | CPU s | wall s | first result after s |\n|---|---|---|---|"
    for name, turns_taken in taken.items():
        yield f"| {name} | {' | '.join(map(_spread, zip(*turns_taken, strict=True)))} |"


def _run_quietly(command: list[str]) -> None:
    environ = {**os.environ, "OPENAI_API_KEY": "none", "MOCK_API_KEY": "none"}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-1000:]}")


def lines_of(taken: Starts) -> Iterator[str]:
    """A table of the medians and ranges, and their ratios."""
    yield f"\n| {TRIALS} trials, from start to end | CPU s | wall s |\n|---|---|---|"
    medians = {}
    for name, turns in taken.items():
        cpu_s, wall_s = zip(*turns, strict=True)
        medians[name] = statistics.median(cpu_s), statistics.median(wall_s)
        yield f"| {name} | {_spread(cpu_s)} | {_spread(wall_s)} |"
    if len(medians) > 1:
        (cpu_s, wall_s), (peer_cpu_s, peer_wall_s) = medians.values()
        yield f"| ratio of the medians | {cpu_s / peer_cpu_s:.2f} | {wall_s / peer_wall_s:.2f} |"


def _spread(values: tuple[float, ...]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def measure(page: Page, redis_url: str, *, turns: int = TURNS, with_inspect: bool) -> dict[str, object]:
    """Put all starts onto the page; the figures by name."""
    (help_wall_s, help_cpu_s), (api_wall_s, api_cpu_s) = min(help_s() for _ in range(5)), api_s(redis_url)
    page.add(f"\ngnomon --help: {help_wall_s:.2f} s, {help_cpu_s:.2f} CPU s (best of 5)")
    page.add(f"\nAPI ready: {api_wall_s:.2f} s, {api_cpu_s:.2f} CPU s")
    with mock_server() as port:
        taken = six_trials(port, turns, with_inspect=with_inspect)
    for line in lines_of(taken):
        page.add(line)
    return {
        "help_s": help_wall_s,
        "help_cpu_s": help_cpu_s,
        "api_s": api_wall_s,
        "api_cpu_s": api_cpu_s,
        "six_trials": taken,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument(
        "--no-inspect", action="store_true", help="leave Inspect AI out: nothing is installed"
    )
    parser.add_argument("--demo", action="store_true", help="gnomon demo alone")
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT", help="whose demo is run in turn")
    options = parser.parse_args()
    if options.demo:
        commands = {"this checkout": GNOMON}
        if options.beside:
            commands[str(options.beside)] = str(options.beside / ".venv" / "bin" / "gnomon")
        for line in demo_lines(commands, options.turns):
            sys.stdout.write(f"{line}\n")
        return
    with queue() as redis_url:
        measure(Page(), redis_url, turns=options.turns, with_inspect=not options.no_inspect)


if __name__ == "__main__":
    main()
