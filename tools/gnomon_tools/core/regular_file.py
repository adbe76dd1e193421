"""Opens regular files only, without waiting for a pipe's other end, and only where reading is allowed."""

import os
import stat
from io import BufferedReader
from pathlib import Path

ROOTS_VARIABLE = "GNOMON_MEDIA_ROOTS"  # folders parted by colons; unset: any file may be read
CITIES_VARIABLE = "GNOMON_CITIES"  # the operator's too
_CODE = Path(__file__).parents[3]
OWN = (_CODE / "tools", _CODE / "gnomon", _CODE / "packages")  # what comes with the code
_ALLOWED: set[Path] = set()  # what Gnomon keeps itself


def allow_folder(folder: Path) -> None:
    """Let this process read a folder of Gnomon's own, whatever GNOMON_MEDIA_ROOTS says."""
    _ALLOWED.add(folder.resolve())


class NotRegular(OSError):
    """A path that names a folder, a pipe, a socket or a device, or leads out of the allowed folders."""

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def open_regular(path: Path) -> BufferedReader:
    """The file at `path`, open for reading. Where it lies is asked of the open file: links are resolved then.

    Raises:
        NotRegular: the file is not regular, or is outside of GNOMON_MEDIA_ROOTS where that is set.
        OSError: the file cannot be opened; a NUL in the name raises ValueError, as everywhere.
    """
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise NotRegular(0, "not a regular file", path.name)
        if (roots := os.environ.get(ROOTS_VARIABLE)) and not _is_inside(number, path, roots):
            raise NotRegular(0, "leads out of the folders that may be read", path.name)
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def read_regular(path: Path) -> bytes:
    """All bytes of the file.

    Raises:
        OSError: as `open_regular`.
    """
    with open_regular(path) as file:
        return file.read()


def check_regular(path: Path) -> None:
    """For libraries that open files themselves.

    Raises:
        OSError: as `open_regular`.
    """
    open_regular(path).close()


def _is_inside(number: int, path: Path, roots: str) -> bool:
    try:
        real_path = Path(f"/proc/self/fd/{number}").readlink()
    except OSError:  # no /proc
        real_path = path.resolve()
    folders = f"{roots}:{os.environ.get(CITIES_VARIABLE, '')}".split(":")
    allowed = (*(Path(folder) for folder in folders if folder), *OWN, *_ALLOWED)
    return any(real_path.is_relative_to(folder.resolve()) for folder in allowed)
