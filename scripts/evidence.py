"""Asks real models on this machine with and without tools, and seals it: `make evidence`, `make cards`.

    python -m scripts.evidence [study|cards] [--seed 1]

The study asks two models, the cards one. Everything goes to `evidence/`. Run again, it goes on where it
stopped; another seed needs an empty folder. `cards` then writes docs/cards/.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
import urllib.request
import venv
from collections.abc import Container, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from gnomon_service.supervisor import sigterm_as_interrupt

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "evidence"
PORTS = {"qwen-1.5b": 8815, "qwen-0.5b": 8805}
STUDY = ("time-zones", "stations")
CARDS = ("calculator", "time", "units", "files", "sqlite", "git")
FILE_SERVER = "@modelcontextprotocol/server-filesystem@2026.8.31"


def main() -> None:
    """Fetch what is missing, serve the models, and run the jobs with their reports and seals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=("study", "cards"), default="study")
    parser.add_argument("--seed", type=int, default=1, help="of the questions")
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    install("servers", "evidence-servers.lock")
    with sigterm_as_interrupt(), ExitStack() as served:  # else models would be served on after SIGTERM
        if options.what == "study":
            write_questions("evidence", "stations.jsonl", options.seed, FOLDER)
            for model in PORTS:
                served.enter_context(serving(model))
            for job in STUDY:
                ask(job, f"examples/evidence/{job}.yaml")
            return
        install("card-servers", "card-servers.lock")
        install_file_server()
        write_questions("cards", "calls.jsonl", options.seed, FOLDER / "cards")
        served.enter_context(serving("qwen-1.5b"))
        player = [sys.executable, "examples/cards/player.py", str(FOLDER / "cards" / "calls.jsonl")]
        rules = served.enter_context(subprocess.Popen(player, cwd=ROOT))  # noqa: S603 our own arguments
        served.callback(rules.terminate)
        for job in CARDS:
            ask(f"card-{job}", f"examples/cards/{job}.yaml")
    python("-m", "scripts.write_cards")


def install(environment: str, lock: str) -> None:
    """An environment in `evidence/` with the locked servers; the lock is whole, so pip resolves nothing."""
    folder = FOLDER / environment
    if (folder / "installed").exists():
        return
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    run([*pip, "install", "--no-deps", "--require-hashes", "-r", f"requirements/{lock}"])
    (folder / "installed").touch()


def install_file_server() -> None:
    """The file server, which is written for Node.

    Raises:
        SystemExit: npm is not installed.
    """
    if (FOLDER / "node_modules").exists():
        return
    if not (npm := shutil.which("npm")):
        raise SystemExit("npm is not installed: one of the six servers needs it")
    run([npm, "install", "--silent", "--no-save", "--prefix", str(FOLDER), FILE_SERVER])


def write_questions(examples: str, last: str, seed: int, out: Path) -> None:
    """Draw the questions, unless the file that is written last is there."""
    if not (out / last).exists():
        python(f"examples/{examples}/write_questions.py", "--seed", str(seed), "--out", str(out))


def ask(job: str, spec: str) -> None:
    """Run a job, or the rest of it, and write its report, rows and seal to `evidence/JOB`."""
    out, data = FOLDER / job, FOLDER / f"{job}-data"
    stored = ["--data-dir", str(data)]
    ids = stored_ids(stored) if data.exists() else []
    what = ["resume", ids[0]] if ids else ["run", spec]
    # 1: trials are missing, or no reply of an arm could be read. The report says so, and is evidence too.
    ran = ("-m", "gnomon_service.cli", *what, *stored, "--workers", "1", "--out", str(out))
    python(*ran, passes=(0, 1))
    [job_id] = stored_ids(stored)
    python("-m", "gnomon_service.cli", "seal", job_id, *stored, "--out", str(out / "seal.ndjson"))


def stored_ids(stored: list[str]) -> list[str]:
    """The ids of the jobs in a store."""
    command = [sys.executable, "-m", "gnomon_service.cli", "jobs", *stored, "--json"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)  # noqa: S603 our own arguments
    return [job["id"] for job in json.loads(listed.stdout)]


@contextmanager
def serving(model: str) -> Iterator[None]:
    """Fetch a model and serve it on the loopback, from when it answers."""
    python("scripts/fetch_weights.py", model)
    port = PORTS[model]
    command = [sys.executable, "-m", "gnomon_agents.models.small_lm", model, "--port", str(port)]
    with (FOLDER / f"{model}.log").open("wb") as log, ExitStack() as stack:
        server = stack.enter_context(subprocess.Popen(command, cwd=ROOT, stderr=log))  # noqa: S603 our own
        try:
            while not is_up(port):
                if server.poll() is not None:
                    raise SystemExit(f"{model} could not be served: {log.name}")
                time.sleep(0.5)
            yield
        finally:
            server.terminate()


def is_up(port: int) -> bool:
    """Whether a server answers at the port and has loaded its model."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def python(*arguments: str, passes: Container[int] = (0,)) -> None:
    """Run a program of this project."""
    run([sys.executable, *arguments], passes)


def run(command: list[str], passes: Container[int] = (0,)) -> None:
    """Run a program; where it ends with a code that does not pass, it has said why."""
    code = subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 our own arguments
    if code not in passes:
        raise SystemExit(code)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("stopped; started again, it goes on from here") from None
