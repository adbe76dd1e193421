"""Makes a data folder readable by its owner alone, whatever the umask."""

import os
import re
import stat
from pathlib import Path

STORE = ("gnomon.db", "gnomon.db-wal", "gnomon.db-shm", "up.json")
# What is in the folders that Gnomon makes beside its store. Folders of these names are common: one that holds
# anything else was made by the user.
INSIDE = {
    "redis": r"lock|redis\.(log|sock)|(broken-\d+-)?appendonly.*",
    "media": r"[0-9a-f]{2}(/([0-9a-f]{64}|\.part-[0-9a-f]+))?|map-readings(/[^/]+\.json)?"
    r"|uploads(/([0-9a-f]{64}|\.part-[0-9a-f]+)(/.*)?)?",
    "logs": r"(worker-\d+|sweeper|redis)\.log",
    "demo": r"report\.(json|html|md)|rows\.(ndjson|csv)",
    "analyses": r"[0-9a-f]+(/cases\.ndjson)?",
    "backups": r"\d{4}-\d{8}T\d{6}Z\.zip",
}
FOLDER, FILE = 0o700, 0o600
UMASK = 0o077


def keep_private(folder: Path) -> None:
    """Remove other users' access to what Gnomon keeps in `folder`, which an earlier version or umask gave.

    Files that Gnomon may not have made stay as they are, and so does a folder that holds some: it is the
    user's, such as the current folder.
    """
    try:
        folder = folder.resolve()
        if not (_is_mine(folder) and _is_mine(folder / "gnomon.db")):
            return
        if not stat.S_IMODE(folder.stat().st_mode) & UMASK:
            return
        entries = list(folder.iterdir())
        ours = [entry for entry in entries if _is_ours(entry)]
        for entry in ours:
            for inner in (entry, *entry.rglob("*")) if entry.is_dir() else (entry,):
                inner.chmod(FOLDER if inner.is_dir() else FILE)
        if ours == entries:
            folder.chmod(FOLDER)
    except OSError:
        return  # a file system without modes, or a file that has just gone


def _is_ours(entry: Path) -> bool:
    """Whether Gnomon made this entry of a data folder, and everything in it."""
    if not entry.is_dir() or entry.is_symlink():
        return entry.name in STORE and _is_mine(entry)
    inside = re.compile(INSIDE.get(entry.name, r"(?!)"))
    inner = list(entry.rglob("*"))
    return bool(inner) and all(
        _is_mine(path) and inside.fullmatch(path.relative_to(entry).as_posix()) for path in inner
    )


def _is_mine(path: Path) -> bool:
    return path.exists() and not path.is_symlink() and path.lstat().st_uid == os.getuid()
