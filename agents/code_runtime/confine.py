"""Takes from a process what an interpreter never needs, then becomes that interpreter.

Runs as a script of its own, with the standard library alone: `python -IS confine.py BINARY [ARGUMENT ...]`.
On Linux it sets resource limits, then Landlock (no file can be opened but the binary and the system's
libraries, no TCP), then a seccomp filter (no socket, no new process, no look into another one). What the
kernel does not offer is left out; the interpreter's own walls stand without it.
"""

import contextlib
import ctypes
import os
import platform
import struct
import sys

LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")
ADDRESS_SPACE = 4 << 30  # bytes: far above what the interpreter reserves at its start
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446  # the same numbers on every architecture
READ_AND_RUN, READ_FOLDER = 0b101, 0b1000
# Audit number of the architecture, its number of `clone`, and of the calls that are refused: socket, ptrace,
# process_vm_readv, process_vm_writev, io_uring_setup, bpf, keyctl, add_key, request_key, mount, unshare,
# setns, perf_event_open, userfaultfd, init_module, finit_module, kexec_load, open_by_handle_at, pidfd_open,
# pidfd_getfd, and where there are such: fork, vfork.
_X86 = (41, 101, 310, 311, 425, 321, 250, 248, 249, 165, 272, 308, 298, 323, 175, 313, 246, 304, 434, 438)
_ARM = (198, 117, 270, 271, 425, 280, 219, 217, 218, 40, 97, 268, 241, 282, 105, 273, 104, 265, 434, 438)
REFUSED = {"x86_64": (0xC000003E, 56, (*_X86, 57, 58)), "aarch64": (0xC00000B7, 220, _ARM)}
CLONE3, CLONE_THREAD = 435, 0x10000
EPERM, ENOSYS = 1, 38


def main(binary: str, arguments: list[str]) -> None:
    """Give up what can be given up, and become `binary`."""
    import resource  # here: Windows has none, and reads this module as well

    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 32),
        (resource.RLIMIT_AS, ADDRESS_SPACE),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (most, most))
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
            _landlock(libc, binary)
            _seccomp(libc)
    os.chdir("/")
    os.execve(binary, [binary, *arguments], {})  # noqa: S606 no shell is meant


def _landlock(libc: ctypes.CDLL, binary: str) -> None:
    version = libc.syscall(LANDLOCK_CREATE, None, 0, 1)
    if version < 1:
        return
    files = (1 << (13 + min(version - 1, 2) + (version >= 5))) - 1  # the rights to files that it knows
    network, scopes = (0b11 if version >= 4 else 0), (0b11 if version >= 6 else 0)
    handled = struct.pack("QQQ", files, network, scopes)[: 8 if version < 4 else 16 if version < 6 else 24]
    ruleset = libc.syscall(LANDLOCK_CREATE, handled, len(handled), 0)
    if ruleset < 0:
        return
    for path in (binary, *LIBRARIES):
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rights = READ_AND_RUN | (READ_FOLDER if os.path.isdir(path) else 0)  # noqa: PTH112 a bare script
            libc.syscall(LANDLOCK_ADD, ruleset, 1, struct.pack("=Qi", rights, handle), 0)
            os.close(handle)
    libc.syscall(LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _seccomp(libc: ctypes.CDLL) -> None:
    of_machine = REFUSED.get(platform.machine())
    if of_machine is None or sys.byteorder != "little":
        return
    audit, clone, refused = of_machine
    filters = seccomp_filter(audit, clone, refused)
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in filters))
    program = struct.pack("HxxxxxxQ", len(filters), ctypes.addressof(code))
    libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0)


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
    main(sys.argv[1], sys.argv[2:])
