"""Starts a program in a sandbox: a process runs this file first, and then becomes the program.

Run as `python -I -S sandboxed.py PLAN PROGRAM [ARGUMENT ...]`: it imports nothing but the standard library.
PLAN is JSON, and says what the program is held to:

- `watched_by`, the process that starts it: on Linux this one stays then, and runs the program as its child.
  When that process dies, when this one is told to stop, or when the program ends, it ends all that the
  program began, whatever group or session that has put itself into.
- `limits`: the most of a resource, by its name in `resource` without `RLIMIT_`.
- `read`, `write`: the files and folders that it may open; without them, any. Nothing outside is signalled.
- `is_alone`, with those: no TCP, no sockets, no new process, no look into another one.
- `folder` to start in, and `environment`, in place of those of this process.

Landlock holds it to files (Linux 5.13 and later), seccomp to system calls. What the kernel lacks is left out.
"""

import ctypes
import json
import os
import platform
import shutil
import signal
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

SWEEP_S = 3.0  # in which all that a program began is ended
NOT_STARTED = 97  # exit code of a process that never became its program

# Of `prctl`.
PARENT_DEATH_SIGNAL, CHILD_SUBREAPER, NO_NEW_PRIVILEGES, SECCOMP, FILTER = 1, 36, 38, 22, 2

# Landlock: its system calls, the same on every architecture, and the rights of its rules.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG, PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER = 1, 2, 4, 8
MAKE = 0x1FF0  # removing and making directories, files, links, sockets, pipes and devices: bits 4 to 12
REFER, TRUNCATE, DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15  # from its versions 2, 3 and 5
READ = EXECUTE | READ_FILE | READ_FOLDER
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | DEVICE_CONTROL
TCP, SCOPES = 3, 3  # to listen and to connect, from version 4; to stay within, from version 6

# seccomp: by machine the audit number of the architecture, the number of `clone`, and of what is refused:
# socket, ptrace, process_vm_readv, process_vm_writev, io_uring_setup, bpf, keyctl, add_key, request_key,
# mount, unshare, setns, perf_event_open, userfaultfd, init_module, finit_module, kexec_load,
# open_by_handle_at, pidfd_open, pidfd_getfd, and where there are such: fork, vfork.
_X86 = (41, 101, 310, 311, 425, 321, 250, 248, 249, 165, 272, 308, 298, 323, 175, 313, 246, 304, 434, 438)
_ARM = (198, 117, 270, 271, 425, 280, 219, 217, 218, 40, 97, 268, 241, 282, 105, 273, 104, 265, 434, 438)
REFUSED = {"x86_64": (0xC000003E, 56, (*_X86, 57, 58)), "aarch64": (0xC00000B7, 220, _ARM)}
CLONE3, CLONE_THREAD = 435, 0x10000
EPERM, ENOSYS = 1, 38


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


def main(plan: Mapping[str, Any], command: Sequence[str]) -> None:
    """Run the command as the plan says; on Linux a watched one returns in its own process alone.

    Raises:
        OSError: the command cannot be run, or the kernel refuses a limit.
    """
    if "watched_by" in plan and sys.platform == "linux":
        _fork(plan["watched_by"])
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
        libc.prctl(CHILD_SUBREAPER, 1)  # its offspring stays its own when a parent in between dies
        libc.prctl(PARENT_DEATH_SIGNAL, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(NOT_STARTED)  # it died in between
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            libc.prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
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

    for name, most in plan.get("limits", {}).items():
        limit = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(limit)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (most, most))
    program = shutil.which(command[0])
    if program is None:
        raise FileNotFoundError(2, "there is no such program", command[0])
    program = os.path.abspath(program)  # noqa: PTH100 (a link stays one: programs find their files by it)
    if sys.platform == "linux" and "read" in plan:
        libc = ctypes.CDLL(None, use_errno=True)
        _checked(libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _hold_to_files(libc, plan)
        if plan.get("is_alone") and sys.byteorder == "little" and platform.machine() in REFUSED:
            _refuse_calls(libc, *REFUSED[platform.machine()])
    os.chdir(plan.get("folder", "."))
    os.execve(program, list(command), plan.get("environment", os.environ))  # noqa: S606 (no shell is meant)


def _hold_to_files(libc: ctypes.CDLL, plan: Mapping[str, Any]) -> None:
    """Give up, for good, all files but those of the plan."""
    abi = landlock_abi()
    if not abi:
        return
    newer = ((2, REFER), (3, TRUNCATE), (5, DEVICE_CONTROL))
    files = READ | WRITE_FILE | MAKE | sum(right for version, right in newer if abi >= version)
    network = TCP if abi >= 4 and plan.get("is_alone") else 0
    attributes = struct.pack("=3Q", files, network, SCOPES if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = _checked(libc.syscall(CREATE_RULESET, attributes, size, 0))
    for path, rights in [
        *((path, READ) for path in plan["read"]),
        *((path, files) for path in plan["write"]),
    ]:
        try:
            file = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # what is absent needs no leave
        granted = rights if os.path.isdir(path) else rights & OF_A_FILE  # noqa: PTH112 (nothing more is loaded)
        _checked(libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", granted, file), 0))
        os.close(file)
    _checked(libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _refuse_calls(libc: ctypes.CDLL, audit: int, clone: int, refused: tuple[int, ...]) -> None:
    """Have the kernel refuse system calls, for good."""
    lines = [struct.pack("=HBBI", *line) for line in seccomp_filter(audit, clone, refused)]
    code = ctypes.create_string_buffer(b"".join(lines))
    program = struct.pack("HxxxxxxQ", len(lines), ctypes.addressof(code))
    _checked(libc.prctl(SECCOMP, FILTER, program, 0, 0))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return result


def seccomp_filter(audit: int, clone: int, refused: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    """The filter in classic BPF, a line each: instruction, steps to jump if true, if false, operand."""
    load, equal, at_least, any_bit, end = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, deny, absent = 0x7FFF0000, 0x00050000 | EPERM, 0x00050000 | ENOSYS
    lines = [
        (load, 0, 0, 4),  # the architecture: another one's numbers mean other calls
        (equal, 1, 0, audit),
        (end, 0, 0, deny),
        (load, 0, 0, 0),  # the call's number
        (at_least, 0, 1, 0x40000000),  # the 32-bit view of x86-64
        (end, 0, 0, deny),
        (equal, 0, 1, CLONE3),  # as old kernels say; the C library then uses `clone`, whose flags can be read
        (end, 0, 0, absent),
    ]
    for number in refused:
        lines += [(equal, 0, 1, number), (end, 0, 0, deny)]
    lines += [
        (equal, 0, 3, clone),
        (load, 0, 0, 16),  # its flags: threads may be made, processes may not
        (any_bit, 1, 0, CLONE_THREAD),
        (end, 0, 0, deny),
        (end, 0, 0, allow),
    ]
    return lines


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]), sys.argv[2:])
    except OSError as fault:
        sys.stderr.write(f"{fault.filename or sys.argv[2]}: {fault.strerror}\n")
        sys.exit(NOT_STARTED)
