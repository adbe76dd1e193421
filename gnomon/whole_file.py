"""Files that are there whole or not at all, whatever happens while they are written."""

import errno
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gnomon.core.errors import NoRoom, SpecError

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EIO)  # a disk that fails takes nothing either
ROOM_BYTES = 1 << 20
PRIVATE, PUBLIC = 0o600, 0o666  # less the umask


@contextmanager
def whole_file(path: Path, mode: str = "wb", *, rights: int = PRIVATE, **options: Any) -> Iterator[Any]:
    """A new file that takes its place at `path` once all of it is on the disk; `options` are those of `open`.

    If anything fails, what was at `path` stays, and nothing is left beside it.

    Raises:
        NoRoom: the disk, or what this user may use of it, is full.
        OSError: it cannot be written for another reason.
    """
    part = path.with_name(f".part-{secrets.token_hex(8)}")
    with room_for(path):
        try:
            with os.fdopen(os.open(part, NEW, rights), mode, **options) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


@contextmanager
def named_file(path: Path, mode: str = "wb", **options: Any) -> Iterator[Any]:
    """A file that a user named: there whole or not at all, at the end of its links. What is there already and
    is no regular file, such as a pipe or a device, is written to as it is.

    Raises:
        NoRoom: the disk is full.
        OSError: it cannot be written for another reason.
    """
    if path.exists() and not path.is_file():
        with room_for(path), path.open(mode, **options) as file:
            yield file
    else:
        with whole_file(path.resolve(), mode, rights=PUBLIC, **options) as file:
            yield file


def write_whole(path: Path, data: bytes, *, rights: int = PRIVATE) -> None:
    """Write a file at once, and make its folder if absent.

    Raises:
        NoRoom: the disk is full.
        OSError: it cannot be written for another reason.
    """
    with room_for(path):
        if rights == PRIVATE:
            make_private_folder(path.parent)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, rights=rights) as file:
        file.write(data)


def require_new_folder(folder: Path) -> None:
    """See that a folder is new or empty.

    Raises:
        SpecError: it is neither.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SpecError(f"{folder} is not a new or empty folder", field="--out")


def make_private_folder(folder: Path) -> None:
    """Make a folder and those above it that are not there, each for its owner alone."""
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def has_room(folder: Path) -> bool:
    """Whether ROOM_BYTES more can be written there. That is tried, as no number covers every quota; nothing
    of it stays.
    """
    try:
        make_private_folder(folder)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(os.urandom(ROOM_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return error.errno not in NO_ROOM
    return True


@contextmanager
def room_for(path: Path) -> Iterator[None]:
    """Within, that the disk is full or fails is raised as `NoRoom`; `path` is what was to be written."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise NoRoom(f"no room on the disk for {path.name}: {error.strerror}") from error
        raise
