"""Measures starts: of the command line, of the API, and of six trials and the demo from start to end.

    python -m bench.performance.startup [--turns 5] [--no-inspect]

`gnomon run` and `inspect eval` run the same six trials of the workload against the same mock server, in turn,
each as a user would start it. Wall times tell something only on a machine that does nothing else.
"""

import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.meter import Spent, spent_by
from bench.performance.page import Page
from bench.performance.systems import own_python
from bench.performance.workload import QUESTION, TOOL
from bench.servers import GNOMON, ROOT, mock_server, queue, running_api
from bench.tables import head_of, line_of, parser_of

TRIALS, TURNS = 6, 5
OPTIONS = ("0.7 m/s", "1.4 m/s", "2.1 m/s", "2.8 m/s")
ENVIRON = {**os.environ, "OPENAI_API_KEY": "none", "MOCK_API_KEY": "none"}


def gnomon_run(base: str, folder: Path) -> Spent:
    """Six trials by `gnomon run`."""
    data = folder / "data"
    data.mkdir()
    shutil.copy(ROOT / "examples" / "questions" / "square.geojson", data)
    question = {"question": QUESTION, "options": OPTIONS, "answer": "B", "scene": "square.geojson"}
    lines = (json.dumps({"id": f"q{number}", **question}) for number in range(TRIALS))
    (data / "questions.jsonl").write_text("\n".join(lines))
    job = {
        "benchmark": "questions",
        "data": str(data),
        "models": [{"id": "openai/mock", "api_base": base, "price": {"input": 1, "output": 2}}],
        "arms": [{"name": "tools", "agent": "react", "tools": [TOOL]}],
    }
    spec = folder / "job.json"  # JSON is YAML too
    spec.write_text(json.dumps(job))
    return spent_by([GNOMON, "run", spec, "--data-dir", folder / "store"], environ=ENVIRON)


def inspect_eval(base: str, folder: Path) -> Spent:
    """The same by `inspect eval`."""
    task = f"{Path(__file__).with_name('inspect_eval.py')}@quiz"
    command = [Path(own_python()).with_name("inspect"), "eval", task, "-T", f"trials={TRIALS}"]
    command += ["--model", "openai-api/mock/mock", "--model-base-url", base]
    return spent_by([*command, "--display", "none", "--log-dir", folder], environ=ENVIRON)


def demo(_: str, folder: Path) -> Spent:
    """`gnomon demo` from its start to its end."""
    return spent_by([GNOMON, "demo", "--data-dir", folder])


def api_s(redis_url: str) -> float:
    """Wall seconds until `gnomon api` says that it is ready."""
    with tempfile.TemporaryDirectory() as folder:
        began_s = time.perf_counter()
        with running_api(redis_url, folder):
            return time.perf_counter() - began_s


def in_turn(commands: dict[str, Callable[[str, Path], Spent]], turns: int) -> dict[str, list[Spent]]:
    """What each command takes, in so many turns after one that may still compile modules."""
    taken: dict[str, list[Spent]] = {name: [] for name in commands}
    with mock_server() as port:
        for turn in range(turns + 1):
            for name, run in commands.items():
                with tempfile.TemporaryDirectory() as folder:
                    spent = run(f"http://127.0.0.1:{port}/v1", Path(folder))
                if turn:
                    taken[name].append(spent)
    return taken


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def measure(page: Page, redis_url: str, *, turns: int = TURNS, with_inspect: bool) -> dict[str, object]:
    """Put all starts onto the page; CPU and wall seconds by name."""
    help_spent = min((spent_by([GNOMON, "--help"]) for _ in range(5)), key=lambda spent: spent.wall_s)
    page.add(f"\ngnomon --help: {help_spent.wall_s:.2f} s, {help_spent.cpu_s:.2f} CPU s (best of 5)")
    ready_s = api_s(redis_url)
    page.add(f"\nAPI ready: {ready_s:.2f} s")
    peer = {f"inspect eval, {TRIALS} trials": inspect_eval} if with_inspect else {}
    taken = in_turn({f"gnomon run, {TRIALS} trials": gnomon_run, **peer, "gnomon demo": demo}, turns)
    page.add("\n" + head_of(["from start to end", "CPU s", "wall s"]))
    for name, spent in taken.items():
        page.add(line_of([name, _spread([s.cpu_s for s in spent]), _spread([s.wall_s for s in spent])]))
    seconds = {name: [(s.cpu_s, s.wall_s) for s in spent] for name, spent in taken.items()}
    return {"help": (help_spent.cpu_s, help_spent.wall_s), "api_wall_s": ready_s, **seconds}


def main() -> None:
    """Print the starts alone."""
    parser = parser_of(__doc__)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument(
        "--no-inspect", action="store_true", help="leave Inspect AI out: nothing is installed"
    )
    options = parser.parse_args()
    with queue() as redis_url:
        measure(Page(), redis_url, turns=options.turns, with_inspect=not options.no_inspect)


if __name__ == "__main__":
    main()
