"""Starts child processes, restarts those that end, and stops them all together."""

import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import BinaryIO, NoReturn, Self

from gnomon.parent_death import die_with_parent
from gnomon_service.data_folder import FILE, FOLDER, UMASK

WATCH_S = 0.1
FORK_LOOK_S = 0.02
OWN_THREADS = 2  # the main one and the one that watches
BACKOFF_S, BACKOFF_MAX_S = 0.2, 10.0
EARLY_S = 2.0
SETTLED_S = 30.0  # a child that has run for this long starts again without delay
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A process to keep alive; `log_file` gets its output, and `stop_s` is its time from SIGTERM to SIGKILL.

    One that `serves_others` is stopped after all others have ended. `on_early_exit` is called before the
    restart of a child that exited with an error within EARLY_S of its start.

    `main` does what `command` does. Where there is one, the child's first start is a fork of this process,
    which saves it the imports done here. Later starts run the command, and so do other systems than Linux and
    processes with further threads.
    """

    name: str
    command: tuple[str, ...]
    log_file: Path
    main: Callable[[], object] | None = None
    env: Mapping[str, str] = field(default_factory=dict)  # beside this process's own
    stop_s: float = 15.0
    serves_others: bool = False
    on_early_exit: Callable[[], None] | None = None


@dataclass(slots=True, kw_only=True)
class _Running:
    child: Child
    process: "subprocess.Popen[bytes] | Fork"
    started_s: float
    backoff_s: float = BACKOFF_S
    again_at_s: float | None = None  # when a child that ended is restarted


class Supervisor:
    """Children by name, stopped together, those that serve others last. Use it as a context manager.

    Each child has a session of its own, so that Ctrl-C reaches only this process, which then stops them in
    order. If this process is killed, the kernel sends SIGTERM to each child (Linux).
    """

    def __init__(self) -> None:
        self._running: dict[str, _Running] = {}
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._watcher: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, child: Child) -> None:
        """Start a child and keep it running from now on.

        Raises:
            ValueError: a child of that name is running.
            OSError: the command cannot be started.
        """
        with self._lock:  # the watching thread waits for it: at a fork it holds no lock that would be copied
            if child.name in self._running:
                raise ValueError(f"a child {child.name!r} is already running")
            process = _fork(child) or _spawn(child)
            self._running[child.name] = _Running(child=child, process=process, started_s=time.monotonic())
        if self._watcher is None:
            self._watcher = threading.Thread(target=self._watch, name="supervisor", daemon=True)
            self._watcher.start()

    def pids(self) -> dict[str, int]:
        """The process ids of the running children, by name."""
        with self._lock:
            return {
                name: running.process.pid
                for name, running in self._running.items()
                if running.process.poll() is None
            }

    def stop(self, *, within_s: float | None = None) -> None:
        """Stop every child, within `within_s` seconds if that is less than its `stop_s`; idempotent."""
        self._stopping.set()
        with self._lock:
            for serves in (False, True):
                group = [entry for entry in self._running.values() if entry.child.serves_others is serves]
                _stop(group, within_s)
            self._running.clear()
        if self._watcher is not None:  # only now: children that it started again die with it
            self._watcher.join()
            self._watcher = None
        self._stopping.clear()

    def _watch(self) -> None:
        while not self._stopping.wait(WATCH_S):
            with self._lock:
                for running in self._running.values():
                    if running.process.poll() is not None:
                        _restart(running)


class Fork:
    """A fork of this process that runs a child's `main`, with what is used here of `subprocess.Popen`.

    Like a command that is started, it has a session, an output and an environment of its own, and none of
    this process's files: it may neither hold its locks nor use its connections.
    """

    def __init__(self, main: Callable[[], object], *, log_file: Path, env: Mapping[str, str]) -> None:
        self.returncode: int | None = None
        end_with_parent = die_with_parent()
        with _log_of(log_file) as output, _signals_deferred():
            self.pid = os.fork()
            if self.pid == 0:
                _run_forked(main, output.fileno(), env, end_with_parent)

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                self.returncode = os.waitstatus_to_exitcode(status) if pid else None
            except ChildProcessError:  # its end was taken note of elsewhere, or ends are ignored here
                self.returncode = 0
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end.

        Raises:
            subprocess.TimeoutExpired: it has not ended after `timeout` seconds.
        """
        until_s = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if until_s is not None and time.monotonic() > until_s:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            time.sleep(FORK_LOOK_S)
        return code

    def terminate(self) -> None:
        """Send SIGTERM, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)


def _run_forked(
    main: Callable[[], object], output: int, env: Mapping[str, str], end_with_parent: Callable[[], None]
) -> NoReturn:
    """Make this fork what a command that is started would be, run `main`, and exit."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        end_with_parent()
        os.setsid()
        os.umask(UMASK)
        os.environ.update(env)
        os.dup2(output, 1)
        os.dup2(output, 2)
        _let_go_of_files()
        sys.stdout = open(1, "w", buffering=1)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
        gc.freeze()  # what is shared with the parent stays shared
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 (the end of a process: nothing may pass)
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _let_go_of_files() -> None:
    """Let every open file but the outputs be /dev/null: released, while its number stays taken.

    Closed, the number would be given to another file, which the owner of the old one would close some day.
    """
    null = os.open(os.devnull, os.O_RDWR)
    for number in [int(link.name) for link in Path("/proc/self/fd").iterdir()]:
        if number not in (1, 2, null):
            with suppress(OSError):  # the file that listed the folder is closed again
                os.fstat(number)
                os.dup2(null, number)


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Within, SIGTERM raises KeyboardInterrupt as Ctrl-C does, so that children are stopped in order.

    Python lets only the main thread say so: in another one nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_signum: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(children: Sequence[_Running], within_s: float | None) -> None:
    """Send SIGTERM to all, and SIGKILL to the group of each that has not ended in time."""
    started_s = time.monotonic()
    for running in children:
        if running.process.poll() is None:
            running.process.terminate()
    for running in children:
        process, most_s = running.process, running.child.stop_s
        most_s = most_s if within_s is None else min(most_s, within_s)
        try:
            process.wait(timeout=max(0.0, started_s + most_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            log.info("%s did not stop within %.1f s and is killed", running.child.name, most_s)
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:  # a fork that has no session yet
                os.kill(process.pid, signal.SIGKILL)
            process.wait()


def spawn(command: Sequence[str], *, log_file: Path, env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Start a process in a session of its own that does not outlive this one; `log_file` gets its output."""
    with _log_of(log_file) as output, _signals_deferred():
        return subprocess.Popen(  # noqa: S603 (commands are our own, arguments as a list)
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **env},
            start_new_session=True,
            umask=UMASK,
            preexec_fn=die_with_parent(),
        )


def _log_of(log_file: Path) -> BinaryIO:
    log_file.parent.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    return os.fdopen(os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE), "ab")


@contextmanager
def _signals_deferred() -> Iterator[None]:
    """Within, SIGINT and SIGTERM are held back. One that arrives during a fork would be raised in a hook that
    swallows it, and a Ctrl-C would be lost.
    """
    if threading.current_thread() is not threading.main_thread():  # signals are handled in the main one alone
        yield
        return
    arrived: list[int] = []
    handlers = {
        number: signal.signal(number, lambda number, _: arrived.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for signal_number in arrived:
        signal.raise_signal(signal_number)


def _spawn(child: Child) -> "subprocess.Popen[bytes]":
    return spawn(child.command, log_file=child.log_file, env=child.env)


def _fork(child: Child) -> Fork | None:
    """A fork of this process, if it has no threads but the main one and the supervisor's; else None.

    What other threads hold at that moment, also those of libraries, a fork would wait for without end.
    """
    if (
        child.main is None
        or sys.platform != "linux"
        or len(list(Path("/proc/self/task").iterdir())) > OWN_THREADS
    ):
        return None
    return Fork(child.main, log_file=child.log_file, env=child.env)


def _restart(running: _Running) -> None:
    """Restart a child that ended: at once if it ran for SETTLED_S, else after a pause that doubles."""
    now_s = time.monotonic()
    if running.again_at_s is None:
        settled = now_s - running.started_s >= SETTLED_S
        running.backoff_s = BACKOFF_S if settled else min(running.backoff_s * 2, BACKOFF_MAX_S)
        running.again_at_s = now_s if settled else now_s + running.backoff_s
        code = running.process.returncode
        log.warning("%s ended with %d; see %s", running.child.name, code, running.child.log_file)
        if (
            running.child.on_early_exit is not None
            and (code or 0) > 0
            and now_s - running.started_s < EARLY_S
        ):
            running.child.on_early_exit()
    if now_s < running.again_at_s:
        return
    try:
        running.process = _spawn(running.child)
        running.again_at_s = None
    except OSError as error:
        log.warning("%s cannot be started: %s", running.child.name, error)
        running.again_at_s = now_s + BACKOFF_MAX_S
    running.started_s = now_s
