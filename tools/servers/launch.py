"""Starts a server's command in a sandbox: its own process runs this file first, and then becomes the command.

On Linux this process stays, and runs the command as its child: when the process that started it dies, it is
told to stop, or the command ends, it ends all that the command began, whatever group or session that has put
itself into. The command has limits of memory and of file sizes, and where the kernel has Landlock (5.13 and
later) it reads and writes only what it was granted, and signals nothing outside.
Run as `python -I -S launch.py PLAN COMMAND…`, so it imports nothing but the standard library.
"""

import ctypes
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system calls of Landlock, on every architecture
VERSION_FLAG, PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1, 2, 4, 8, 1 << 14
REFER = 1 << 13
READ = EXECUTE | READ_FILE | READ_DIR
MAKE = 0x1FF0  # removing and making directories, files, links, sockets, pipes and devices: bits 4 to 12
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
SCOPES = 3  # abstract sockets and signals stay within
MOST_OPEN_FILES, LARGEST_FILE = 4_096, 4 * 2**30
SWEEP_S = 3.0  # in which all that a command began is ended
NOT_STARTED = 97  # exit code of a process that never became its command

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/sys", "/nix/store"),
    # Not all of /proc: a process's variables are there, the keys of the worker among them.
    *("/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/version", "/proc/uptime"),
    *("/proc/loadavg", "/proc/filesystems", "/proc/sys"),
    *("/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/alternatives", "/etc/ld.so.cache"),
    *("/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/localtime", "/etc/timezone"),
    *("/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf"),
    *("/etc/services", "/etc/protocols", "/etc/mime.types", "/etc/os-release", "/etc/gitconfig"),
    *("/etc/python3", "/etc/python3.11", "/etc/fonts", "/etc/java", "/etc/locale.alias"),
    *("/run/systemd/resolve", "/dev/urandom", "/dev/random", "/dev/zero", "/dev/null", "/dev/full"),
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/shm")  # noqa: S108 (the system's own)
# Programs that fetch a server and run it keep what they fetched; by the variable that says where.
CACHES: Mapping[str, Sequence[tuple[str, str]]] = {
    "npx": (("npm_config_cache", ".npm"),),
    "uvx": (("UV_CACHE_DIR", ".cache/uv"), ("UV_TOOL_DIR", ".local/share/uv/tools")),
    "uv": (("UV_CACHE_DIR", ".cache/uv"), ("UV_TOOL_DIR", ".local/share/uv/tools")),
}
UV_PYTHONS = ".local/share/uv/python"


def landlock_abi() -> int:
    """The kernel's version of Landlock; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    version: int = ctypes.CDLL(None, use_errno=True).syscall(CREATE_RULESET, None, 0, VERSION_FLAG)
    return max(0, version)


def sandbox_in_words() -> str:
    """What keeps a command from other files on this machine."""
    abi = landlock_abi()
    if not abi:
        return "no Landlock here: the command could read and write any file that this user can"
    return f"Landlock {abi}: reads system folders, its own environment and the paths it was granted"


def caches_of(program: str) -> dict[str, str]:
    """Where a program that fetches servers keeps them, by the variable that says so."""
    home = Path(os.environ.get("HOME") or "/nonexistent")
    return {variable: str(home / folder) for variable, folder in CACHES.get(Path(program).name, ())}


def environment_of(program: str) -> list[str]:
    """What a program is made of: its file, its virtual environment, its packages, its interpreter."""
    path = shutil.which(program)
    if path is None:
        return []
    folders = [*_around(Path(path))]
    try:
        with Path(path).open("rb") as file:
            start = file.read(256)
    except OSError:
        return folders
    if start.startswith(b"#!"):
        words = start[2:].split(b"\n")[0].decode(errors="replace").split()
        interpreter = shutil.which(words[-1] if words and words[0].endswith("/env") else (words or [""])[0])
        folders += _around(Path(interpreter)) if interpreter else []
    if Path(path).name in CACHES:
        folders.append(str(Path(os.environ.get("HOME") or "/nonexistent") / UV_PYTHONS))
    return folders


def _around(path: Path) -> Iterable[str]:
    """The folders that the program at this path, and at the one that it links to, needs."""
    for file in {path.absolute(), path.resolve()}:
        yield str(file)
        parts = file.parts
        if "node_modules" in parts:
            yield str(Path(*parts[: parts.index("node_modules") + 1]))
        prefix = file.parent.parent
        is_prefix = (prefix / "pyvenv.cfg").is_file() or (prefix / "lib").is_dir()
        if file.parent.name == "shims":  # of pyenv or asdf: scripts that find the program below the same root
            yield str(prefix)
        if file.parent.name == "bin" and is_prefix and prefix != Path(prefix.anchor):
            yield str(prefix)


def main(plan: Mapping[str, Any], command: Sequence[str]) -> None:
    """Run the command within the limits that the plan names; on Linux this returns in its process alone.

    Raises:
        OSError: the command cannot be run, or the kernel refuses a limit.
    """
    if sys.platform == "linux":
        _fork(plan["parent"])
    _become(plan, command)


class _Told(BaseException):
    """A signal to stop."""


def _fork(parent: int) -> None:
    """Go on as a child; the process itself waits for its end, and then ends what is left of its offspring."""

    def stop(*_: object) -> None:
        raise _Told

    libc = ctypes.CDLL(None, use_errno=True)
    own, code = os.getpid(), NOT_STARTED
    try:
        signal.signal(signal.SIGTERM, stop)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1)  # its offspring stays its own when a parent in between dies
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(NOT_STARTED)  # it died in between
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != own:
                os._exit(NOT_STARTED)
            return
        for stream in (0, 1, 2):  # the command's alone, so that its end is seen
            os.close(stream)
        ended, status = os.wait()
        while ended != child:
            ended, status = os.wait()
        code = os.waitstatus_to_exitcode(status)
    except _Told:
        code = 0
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _sweep(own)
    os._exit(code if code >= 0 else 128 - code)


def _sweep(own: int) -> None:
    """End the children of this process, and theirs, which become its own as they are orphaned."""
    until = time.monotonic() + SWEEP_S
    while time.monotonic() < until:
        for name in os.listdir("/proc"):  # noqa: PTH208 (a number is all that is wanted)
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 (nothing more is loaded here)
                    is_own = name.isdigit() and int(file.read().rpartition(b")")[2].split()[1]) == own
                if is_own:
                    os.kill(int(name), signal.SIGKILL)
            except (OSError, IndexError, ValueError):
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _become(plan: Mapping[str, Any], command: Sequence[str]) -> None:
    import resource  # late: not on every system, and the caller that reads this module needs none

    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, plan["memory_bytes"]),
        (resource.RLIMIT_FSIZE, LARGEST_FILE),
        (resource.RLIMIT_NOFILE, MOST_OPEN_FILES),
    ):
        _, hard = resource.getrlimit(limit)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (most, most))
    program = shutil.which(command[0])
    if program is None:
        raise FileNotFoundError(2, "there is no such program", command[0])
    abi = landlock_abi()
    if abi:
        _restrict(abi, read=[*SYSTEM, *plan["read"]], write=[*DEVICES, *plan["write"]])
    os.execv(program, list(command))  # noqa: S606 (no shell is meant)


def _restrict(abi: int, *, read: Iterable[str], write: Iterable[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    writing = WRITE_FILE | MAKE | (REFER if abi >= 2 else 0) | (TRUNCATE if abi >= 3 else 0)
    handled = READ | writing
    attributes = (ctypes.c_uint64 * 3)(handled, 0, SCOPES if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = _checked(libc.syscall(CREATE_RULESET, ctypes.byref(attributes), size, 0))
    for paths, rights in ((read, READ), (write, handled)):
        for path in paths:
            _grant(libc, ruleset, path, rights)
    _checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("file", ctypes.c_int32))


def _grant(libc: Any, ruleset: int, path: str, rights: int) -> None:
    try:
        file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is absent needs no leave
    try:
        if not Path(path).is_dir():
            rights &= OF_A_FILE
        rule = _PathBeneath(rights, file)
        _checked(libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), 0))
    finally:
        os.close(file)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return result


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]), sys.argv[2:])
    except OSError as fault:
        sys.stderr.write(f"{fault.filename or sys.argv[2]}: {fault.strerror}\n")
        sys.exit(NOT_STARTED)
