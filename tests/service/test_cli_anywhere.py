"""The command line in a folder of the user's own: nothing that lies there is imported, logs stay clean."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import yaml

from tests.service.play import SPEC
from tests.workers.conftest import wait_until

GNOMON = str(Path(sys.executable).with_name("gnomon"))
PACKAGES = ("tools", "gnomon", "agents", "workers", "service")
MODULES = (
    "redis",
    "rq",
    "queue",
    "select",
    "types",
    "json",
    "logging",
    "random",
    "click",
    "numpy",
    "sqlalchemy",
)
SOAK = pytest.mark.soak
STRANGER = "raise SystemExit('a stranger was imported')"
SAMPLE = "w5-00000"  # the first of the seed of these specs
# RQ says so of a shard process that the end of the run stops while it exits, its job done.
STOPPED = "Work-horse terminated unexpectedly; waitpid returned 15"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project that calls its folders and modules as ours, Python's and our dependencies' are called."""
    for name in PACKAGES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(STRANGER)
    for name in MODULES:
        (tmp_path / f"{name}.py").write_text(STRANGER)
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump({**SPEC, "select": {"limit": 1, "seed": 5}}))
    return tmp_path


def environment() -> dict[str, str]:
    ours = ("PYTHON", "GNOMON", "OPENBLAS")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def gnomon(folder: Path, *args: str) -> "subprocess.CompletedProcess[str]":
    command = [GNOMON, *args]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


def test_a_job_runs_beside_modules_that_are_called_as_ours(folder: Path) -> None:
    done = gnomon(folder, "run", "spec.yaml", "--workers", "1", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["job"]["status"] == "completed"
    lines = [
        line
        for file in (folder / ".gnomon" / "logs").iterdir()
        for line in file.read_text().splitlines()
        if STOPPED not in line
    ]
    assert lines == []


# `try` loads nearly all that the others do.
@pytest.mark.parametrize(
    "command", ["try", pytest.param("show", marks=SOAK), pytest.param("plan", marks=SOAK)]
)
def test_a_job_is_looked_at_beside_modules_that_are_called_as_ours(folder: Path, command: str) -> None:
    more = () if command == "plan" else ("--sample", SAMPLE, "--arm", "tools")
    done = gnomon(folder, command, "spec.yaml", "--json", *more)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_a_service_runs_beside_modules_that_are_called_as_ours(folder: Path) -> None:
    command = [GNOMON, "up", "--port", "0", "--workers", "1"]
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as service:
        assert service.stdout is not None
        url = service.stdout.readline().split()[0]
        with httpx.Client(base_url=url, timeout=60.0) as api:
            posted = api.post("/v1/jobs", json=yaml.safe_load((folder / "spec.yaml").read_text()))
            place = f"/v1/jobs/{posted.json()['id']}"
            wait_until(lambda: api.get(place).json()["status"] == "completed")
        service.send_signal(signal.SIGINT)
        _, err = service.communicate(timeout=60)
    assert "stranger" not in err


@pytest.mark.parametrize(("given", "wanted"), [({}, 1), ({"OPENBLAS_NUM_THREADS": "2"}, 2)])
def test_numpy_has_one_thread_unless_told_otherwise(
    tmp_path: Path, given: dict[str, str], wanted: int
) -> None:
    script = (
        "import sys\nsys.argv = ['gnomon', 'presets']\nfrom gnomon_service.cli.main import main\n"
        "try: main()\nfinally:\n"
        "  import os, numpy\n"
        "  print(os.environ['OPENBLAS_NUM_THREADS'], len(os.listdir('/proc/self/task')), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], cwd=tmp_path, env={**environment(), **given},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    variable, threads = map(int, done.stderr.splitlines()[-1].split())
    assert variable == wanted
    assert wanted > 1 or threads == 1


HEAVY = {
    *("sqlalchemy", "redis", "rq", "fastapi", "aiohttp", "httpx", "litellm", "langgraph", "langchain_core"),
    *("pyarrow", "statsmodels", "av", "scipy.optimize", "scipy.stats", "scipy.special", "osmium"),
}


@pytest.mark.parametrize(
    ("args", "code", "light"),
    [
        (["presets"], 0, {"numpy", "shapely", "scipy"}),
        (["plan", "bad.yaml"], 2, {"numpy", "shapely", "scipy", "PIL"}),
        (["run", "bad.yaml"], 2, {"numpy", "shapely", "scipy", "PIL"}),
        (["plan", "spec.yaml"], 0, set()),
        (["show", "spec.yaml", "--sample", "{sample}", "--arm", "tools"], 0, set()),
        (["try", "spec.yaml", "--sample", "{sample}", "--arm", "raw"], 0, set()),
    ],
)
def test_a_command_loads_only_what_it_uses(
    tmp_path: Path, args: list[str], code: int, light: set[str]
) -> None:
    simulates = args == ["plan", "spec.yaml"]  # verdicts of jobs that are not run
    may_load = {"scipy.special", "scipy.optimize"} if simulates else set[str]()
    limit = 700 if simulates else 1  # of so many little is simulated
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump({**SPEC, "select": {"limit": limit, "seed": 5}}))
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump({**SPEC, "benchmark": "nope"}))
    heavy = HEAVY - may_load | light
    command = ["gnomon", *(arg.replace("{sample}", SAMPLE) for arg in args)]
    script = (
        f"import sys\nsys.argv = {command!r}\nfrom gnomon_service.cli.main import main\n"
        "try: main()\n"
        f"finally: print('LOADED', *sorted(set(sys.modules) & {heavy!r}), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], cwd=tmp_path, env=environment(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert done.stderr.splitlines()[-1].split() == ["LOADED"]
