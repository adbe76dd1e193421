"""Data folder: for its owner's eyes only, whatever the umask."""

import os
import stat
from pathlib import Path

OWN = ("gnomon.db", "gnomon.db-wal", "gnomon.db-shm", "redis", "media", "logs", "demo")
FOLDER, FILE = 0o700, 0o600
UMASK = 0o077


def keep_private(folder: Path) -> None:
    """Take from everybody else what Gnomon keeps in `folder`, where an earlier version or umask let them in.

    A folder that holds strangers' files too stays open itself: it is somebody's own, such as the current one.
    """
    try:
        if not _is_ours(folder) or not stat.S_IMODE(folder.stat().st_mode) & UMASK:
            return
        names = {entry.name for entry in folder.iterdir()}
        for name in names.intersection(OWN):
            _close(folder / name)
        if names and names <= {*OWN, "lock"}:
            folder.chmod(FOLDER)
    except OSError:
        return  # a file system without modes, or a file that has just gone


def _close(path: Path) -> None:
    for inner in (path, *path.rglob("*")) if path.is_dir() else (path,):
        if _is_ours(inner) and not inner.is_symlink():
            inner.chmod(FOLDER if inner.is_dir() else FILE)


def _is_ours(path: Path) -> bool:
    return path.exists() and path.lstat().st_uid == os.getuid()
