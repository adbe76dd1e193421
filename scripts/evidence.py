"""Asks two real models on this machine with and without tools, and seals what came: `make evidence`.

    python -m scripts.evidence [--seed 1]

Everything goes to `evidence/`. Run again, it goes on where it stopped; another seed needs an empty folder.
About an hour of two cores that do nothing else.
"""

import argparse
import json
import subprocess
import sys
import time
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "evidence"
SERVERS = FOLDER / "servers"
PORTS = {"qwen-1.5b": 8815, "qwen-0.5b": 8805}
JOBS = ("time-zones", "stations")


def main() -> None:
    """Fetch what is missing, serve both models, run both jobs and write their reports and seals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the questions")
    seed = parser.parse_args().seed
    FOLDER.mkdir(exist_ok=True)
    for model in PORTS:
        python("scripts/fetch_weights.py", model)
    if not (SERVERS / "bin" / "mcp-server-time").exists():
        venv.create(SERVERS, with_pip=True)
        pip = [str(SERVERS / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
        run([*pip, "install", "--require-hashes", "-r", "requirements/evidence-servers.lock"])
    if not (FOLDER / "stations.jsonl").exists():
        python("examples/evidence/write_questions.py", "--seed", str(seed), "--out", "evidence")
    with ExitStack() as served:
        for model, port in PORTS.items():
            served.enter_context(serving(model, port))
        for job in JOBS:
            ask(job)


def ask(job: str) -> None:
    """Run a job, or the rest of it, and write its report, rows and seal to `evidence/JOB`."""
    out, data = FOLDER / job, FOLDER / f"{job}-data"
    stored = ["--data-dir", str(data)]
    ids = stored_ids(stored) if data.exists() else []
    what = ["resume", ids[0]] if ids else ["run", f"examples/evidence/{job}.yaml"]
    python("-m", "gnomon_service.cli", *what, *stored, "--workers", "1", "--out", str(out))
    [job_id] = stored_ids(stored)
    python("-m", "gnomon_service.cli", "seal", job_id, *stored, "--out", str(out / "seal.ndjson"))


def stored_ids(stored: list[str]) -> list[str]:
    """The ids of the jobs in a store."""
    command = [sys.executable, "-m", "gnomon_service.cli", "jobs", *stored, "--json"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)  # noqa: S603 our own arguments
    return [job["id"] for job in json.loads(listed.stdout)]


@contextmanager
def serving(model: str, port: int) -> Iterator[None]:
    """Serve a model on the loopback, from when it answers."""
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


def python(*arguments: str) -> None:
    """Run a program of this project."""
    run([sys.executable, *arguments])


def run(command: list[str]) -> None:
    """Run a program; where it fails, it has said why."""
    if code := subprocess.run(command, cwd=ROOT, check=False).returncode:  # noqa: S603 our own arguments
        raise SystemExit(code)


if __name__ == "__main__":
    main()
