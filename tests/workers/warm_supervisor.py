"""A supervisor in a process that has imported what workers, sweepers and services import.

What it starts is a fork of that process, which costs a hundredth of the imports. What it starts again after
an end is a command, as ever.
"""

import ctypes
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Self

from gnomon_service.supervisor import Child, Supervisor

IN_NETWORK = ("ip", "netns", "exec")  # and its name
NETWORK = 0x40000000  # CLONE_NEWNET of setns(2)
FORKS = multiprocessing.get_context("forkserver")  # of a process without threads
PRELOADED = [  # each would cost every fork that needs it as much as the forks themselves
    "gnomon_agents.direct",
    "gnomon_agents.models.openai_model",
    "gnomon_agents.react",
    "gnomon_service.api.app",
    "gnomon_service.reports",
    "gnomon_workers.__main__",
    "gnomon_workers.sweeper",
    "psycopg",
    "tests.workers.fake_stack",
    "tests.workers.fleet",
    "tests.workers.tiny_worker",
]


class WarmSupervisor:
    """What tests use of a Supervisor; a context manager too, which stops all at its end."""

    def __init__(self) -> None:
        FORKS.set_forkserver_preload(PRELOADED)
        self._calls, theirs = FORKS.Pipe()
        self._lock = threading.Lock()
        self._process = FORKS.Process(target=_supervise, args=(theirs, dict(os.environ)), daemon=True)
        self._process.start()
        theirs.close()

    def start(self, child: Child) -> None:
        self._call("start", child)

    def pids(self) -> dict[str, int]:
        pids: dict[str, int] = self._call("pids")
        return pids

    def stop(self) -> None:
        self._call("stop")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._calls.close()
        self._process.join()

    def _call(self, name: str, *arguments: object) -> Any:
        with self._lock:
            self._calls.send((name, arguments))
            return self._calls.recv()


def child_of(
    name: str,
    module: str,
    *arguments: str,
    log_file: Path,
    env: Mapping[str, str],
    enter: tuple[str, ...] = (),
) -> Child:
    """`python -m module arguments` with this process's variables and those of `env`. What has to `enter`
    something else than a network first is no fork.
    """
    environ = {**os.environ, **env}
    run = partial(_run, environ, module, arguments)
    in_network = partial(_run_in_network, enter[-1], run) if enter[:-1] == IN_NETWORK else None
    return Child(
        name=name,
        command=(*enter, sys.executable, "-m", module, *arguments),
        main=in_network if enter else run,
        log_file=log_file,
        env=environ,
    )


def start_fork(
    module: str, *arguments: str, log_file: Path, env: Mapping[str, str] | None = None
) -> BaseProcess:
    """Start what `python -m module arguments` is, without a supervisor; `log_file` gets what it says."""
    FORKS.set_forkserver_preload(PRELOADED)
    log_file.touch()
    given = (log_file, {**os.environ, **(env or {})}, module, arguments)
    process = FORKS.Process(target=_run_logged, args=given)
    process.start()
    return process


def _run_logged(log_file: Path, environ: Mapping[str, str], module: str, arguments: tuple[str, ...]) -> None:
    with log_file.open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    _run(environ, module, arguments)


def _supervise(calls: Connection, environ: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environ)
    with Supervisor() as supervisor, suppress(EOFError):
        while True:
            name, arguments = calls.recv()
            calls.send(getattr(supervisor, name)(*arguments))


def _run_in_network(name: str, run: Callable[[], None]) -> None:
    with Path("/run/netns", name).open() as network:
        entered = ctypes.CDLL(None).setns(network.fileno(), NETWORK)
    assert entered == 0, f"the network {name} cannot be entered"
    run()


def _run(environ: Mapping[str, str], module: str, arguments: tuple[str, ...]) -> None:
    os.environ.clear()
    os.environ.update(environ)
    import_module(module).main(list(arguments))
