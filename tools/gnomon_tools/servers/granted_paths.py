"""What a server's command may read and write: system folders, its own program, what its spec names."""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gnomon_tools.servers.server_spec import McpServer

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
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS")  # variables that name them
UV_PYTHONS = ".local/share/uv/python"


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
            yield from _base_of(prefix)


def _base_of(prefix: Path) -> Iterable[str]:
    """The Python that a virtual environment was made from: it may be copied there without its library."""
    settings = prefix / "pyvenv.cfg"
    if not settings.is_file():
        return
    for line in settings.read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "home" and Path(value.strip()).name == "bin":
            yield str(Path(value.strip()).parent)


def readable(server: McpServer) -> list[str]:
    """Folders and files that the command of a server may read."""
    certificates = [os.environ[name] for name in CERTIFICATES if name in os.environ]
    return [*SYSTEM, *environment_of((server.command or [""])[0]), *certificates]


def writable(server: McpServer) -> list[str]:
    """Those that it may write too: what it is named in its arguments, as its folder, and as `files`."""
    words = [
        word.partition("=")[2] if word.startswith("--") and "=" in word else word
        for word in server.command or ()
    ]
    named = [word for word in words[1:] if word.startswith("/") and word != "/"]
    caches = caches_of((server.command or [""])[0]).values()
    return [*DEVICES, *named, *server.files, *([server.cwd] if server.cwd else []), *caches]
