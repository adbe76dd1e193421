"""Children are kept alive, and never left behind."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon_service.supervisor import Child, Supervisor, sigterm_as_interrupt
from tests.workers.conftest import ROOT, is_alive, wait_until

SLEEP = (sys.executable, "-c", "import time; time.sleep(600)")
STUBBORN = (
    sys.executable,
    "-c",
    "import signal as s, time; s.signal(s.SIGTERM, s.SIG_IGN); print('ready', flush=True); time.sleep(600)",
)


def child(tmp_path: Path, command: tuple[str, ...] = SLEEP, *, name: str = "a", stop_s: float = 5.0) -> Child:
    return Child(name=name, command=command, log_file=tmp_path / f"{name}.log", stop_s=stop_s)


def test_a_dead_child_is_started_again(tmp_path: Path) -> None:
    with Supervisor() as supervisor:
        supervisor.start(child(tmp_path))
        first = supervisor.pids()["a"]
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: supervisor.pids().get("a") not in (None, first))


def test_a_child_that_was_started_again_outlives_the_start_of_others(tmp_path: Path) -> None:
    with Supervisor() as supervisor:
        supervisor.start(child(tmp_path))
        first = supervisor.pids()["a"]
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: supervisor.pids().get("a") not in (None, first))
        second = supervisor.pids()["a"]
        for name in ("b", "c"):
            supervisor.start(child(tmp_path, name=name))
        time.sleep(0.5)
        assert supervisor.pids()["a"] == second


def test_stopping_leaves_no_child(tmp_path: Path) -> None:
    with Supervisor() as supervisor:
        for name in ("a", "b"):
            supervisor.start(child(tmp_path, name=name))
        pids = supervisor.pids().values()
        assert all(is_alive(pid) for pid in pids)
    assert not any(is_alive(pid) for pid in pids)
    assert supervisor.pids() == {}


def test_a_child_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    with Supervisor() as supervisor:
        supervisor.start(child(tmp_path, STUBBORN, stop_s=0.2))
        wait_until(lambda: "ready" in (tmp_path / "a.log").read_text())
        pid = supervisor.pids()["a"]
    assert not is_alive(pid)


def test_two_children_of_one_name_are_refused(tmp_path: Path) -> None:
    with Supervisor() as supervisor:
        supervisor.start(child(tmp_path))
        with pytest.raises(ValueError, match="is already running"):
            supervisor.start(child(tmp_path))


def test_children_die_with_a_parent_that_is_killed_outright(tmp_path: Path) -> None:
    code = f"""
import sys, time
from collections.abc import Iterator
from pathlib import Path
from gnomon_service.supervisor import Child, Supervisor
with Supervisor() as supervisor:
    supervisor.start(Child(name="a", command={SLEEP!r}, log_file=Path({str(tmp_path / "a.log")!r})))
    print(supervisor.pids()["a"], flush=True)
    time.sleep(600)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.kill()
    wait_until(lambda: not is_alive(pid))


def test_sigterm_is_an_interruption_within_the_guard_only() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), sigterm_as_interrupt():
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


FORKING = """
import fcntl, os, sys, time
from collections.abc import Iterator
from pathlib import Path
from gnomon_service.supervisor import Child, Supervisor

folder = Path(sys.argv[1])
lock = (folder / "lock").open("w")
fcntl.flock(lock, fcntl.LOCK_EX)

def main():
    print(os.environ["COLOUR"], os.getsid(0) == os.getpid(), sys.stdin.read() == "", flush=True)
    time.sleep(600)

again = (sys.executable, "-c", "import time; print('command', flush=True); time.sleep(600)")
with Supervisor() as supervisor:
    supervisor.start(
        Child(name="a", command=again, main=main, log_file=folder / "a.log", env={"COLOUR": "red"})
    )
    print(supervisor.pids()["a"], flush=True)
    time.sleep(600)
"""


@pytest.fixture
def forking(tmp_path: Path) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """A process that has a lock, and the id of its forked child."""
    command = [sys.executable, "-c", FORKING, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        yield parent, int(parent.stdout.readline())
        parent.kill()


def test_a_fork_is_what_a_command_would_be(
    forking: tuple["subprocess.Popen[str]", int], tmp_path: Path
) -> None:
    wait_until(lambda: "red True True" in (tmp_path / "a.log").read_text())


def test_a_fork_that_ended_is_started_again_by_its_command(
    forking: tuple["subprocess.Popen[str]", int], tmp_path: Path
) -> None:
    os.kill(forking[1], signal.SIGKILL)
    wait_until(lambda: "command" in (tmp_path / "a.log").read_text())


def test_a_fork_dies_with_its_parent_and_holds_none_of_its_locks(
    forking: tuple["subprocess.Popen[str]", int], tmp_path: Path
) -> None:
    parent, pid = forking
    wait_until(lambda: "red" in (tmp_path / "a.log").read_text())
    os.kill(pid, signal.SIGSTOP)  # it lives on for a while
    parent.kill()
    parent.wait()
    with (tmp_path / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.kill(pid, signal.SIGCONT)
    wait_until(lambda: not is_alive(pid))


def test_forks_are_stopped_as_commands_are(tmp_path: Path) -> None:
    code = """
import sys, time
from collections.abc import Iterator
from pathlib import Path
from gnomon_service.supervisor import Child, Supervisor
folder = Path(sys.argv[1])
with Supervisor() as supervisor:
    for name, main in (("a", lambda: time.sleep(600)), ("b", lambda: sys.exit(3))):
        supervisor.start(Child(name=name, command=("sleep", "600"), main=main, log_file=folder / name))
    time.sleep(1)
    pids = supervisor.pids()
print(sorted(pids), len(supervisor.pids()))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["['a',", "'b']", "0"]
