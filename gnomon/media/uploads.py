"""Keeps files of questions that people upload, by hash among the media, and unpacks them for jobs.

A spec names one as `upload:HASH.ENDING`. What was sent is a file of the media store; beside it, in
`uploads/HASH/ENDING`, lie the questions with their pictures, and are laid out anew wherever they are absent.
"""

import fcntl
import hashlib
import os
import re
import secrets
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from gnomon.core.errors import DataError, NoRoom, NotFound, SpecError
from gnomon.exchange.archive import Archive
from gnomon.media.store import MediaStore
from gnomon.whole_file import make_private_folder, room_for, write_whole
from gnomon_tools.core.regular_file import allow_folder

MOST_BYTES = 512_000_000  # of what is sent
MOST_UNPACKED = 2_000_000_000  # bytes of all that is in a zip
MOST_FILES = 100_000  # of a zip
MOST_NAME = 500  # bytes of the path of a file in a zip
MOST_PART = 255  # bytes of a folder or file in it, as most disks allow
FOLDER, STEM, ZIP = "uploads", "questions", "zip"
TABLES = ("jsonl", "ndjson", "json", "csv", "tsv", "xlsx", "parquet")
KINDS = (*TABLES, ZIP)
_SHEETS = (".xlsm", ".xls", ".ods", ".numbers")
_NAME = re.compile(rf"upload:(?P<sha256>[0-9a-f]{{64}})\.(?P<kind>{'|'.join(KINDS)})")
_LEFT_OUT = re.compile(r"(^|/)(__MACOSX|\.[^./][^/]*)(/|$)")  # what systems add to folders


def is_upload(data: str) -> bool:
    """Whether a spec's `data` names an upload, and no path.

    >>> is_upload("upload:12.csv"), is_upload("mine.csv")
    (True, False)
    """
    return data.startswith("upload:")


def kind_of(name: str) -> str:
    """The kind of a file by its ending.

    >>> kind_of("Exam.CSV")
    'csv'

    Raises:
        SpecError: it is none that may be uploaded.
    """
    kind = PurePosixPath(name).suffix.lower().removeprefix(".")
    if kind not in KINDS:
        allowed = ", ".join(f".{each}" for each in KINDS)
        raise SpecError(f"{name[-80:]!r} is none of: {allowed}{sheet_hint(name)}", field="name")
    return kind


def sheet_hint(name: str) -> str:
    """What to do with a file that is a spreadsheet's own; empty of all others.

    >>> sheet_hint("exam.ods")
    '; save it as .xlsx (Save As) and take that file'
    """
    is_sheet = PurePosixPath(name).suffix.lower() in _SHEETS
    return "; save it as .xlsx (Save As) and take that file" if is_sheet else ""


@contextmanager
def new_part(media: MediaStore) -> Iterator[Path]:
    """A path for what is being sent, or unpacked; nothing of it stays there."""
    part = media.folder / FOLDER / f".part-{secrets.token_hex(8)}"
    with room_for(part):
        make_private_folder(part.parent)
        try:
            yield part
        finally:
            _delete(part)


@contextmanager
def one_at_a_time(media: MediaStore) -> Iterator[None]:
    """Wait until no other process counts the room for uploads and fills it; `uploads` is there."""
    folder = os.open(media.folder / FOLDER, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _delete(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part, ignore_errors=True)
    else:
        part.unlink(missing_ok=True)


def delete_old_parts(uploads: Path, *, before_s: float) -> None:
    """Delete what processes that were ended have left of uploads, before so many seconds since 1970."""
    for part in uploads.glob(".part-*"):
        with suppress(FileNotFoundError):
            if part.stat().st_mtime < before_s:
                _delete(part)


def keep_upload(file: Path, kind: str, media: MediaStore, *, most_unpacked: int = MOST_UNPACKED) -> str:
    """Keep a file that was sent, which moves into the store; what a spec calls it.

    Raises:
        DataError: it is a zip that is broken, or that unpacks to too much.
        NoRoom: it unpacks to more than there is room for; the disk is full, or the storage does not answer.
    """
    if is_kept(file, kind, media):
        return f"upload:{media.keep_file(file)}.{kind}"
    with _laid_out(file, kind, media, most_unpacked) as part:
        sha256 = media.keep_file(file)
        _settle(part, media.folder / FOLDER / sha256 / kind)
    return f"upload:{sha256}.{kind}"


def is_kept(file: Path, kind: str, media: MediaStore) -> bool:
    """Whether these bytes are kept already as an upload of this kind."""
    with file.open("rb") as data:
        sha256 = hashlib.file_digest(data, "sha256").hexdigest()
    return media.has(sha256) and (media.folder / FOLDER / sha256 / kind).is_dir()


def folder_of(data: str, media: MediaStore) -> Path:
    """The folder in which the questions of an upload lie.

    Raises:
        DataError: there is no such upload here.
        NoRoom: the disk is full, or the storage does not answer.
    """
    name = _NAME.fullmatch(data)
    if name is None:
        raise DataError(f"{data[:90]!r} is none; allowed: upload:SHA256.ENDING", field="data")
    folder = media.folder / FOLDER / name["sha256"] / name["kind"]
    if not folder.is_dir():
        try:
            file = media.file(name["sha256"])
        except NotFound:
            raise DataError(f"{data[:19]}… is not kept here: upload the file again", field="data") from None
        with _laid_out(file, name["kind"], media, MOST_UNPACKED) as part:
            _settle(part, folder)
    allow_folder(media.folder)
    return folder


@contextmanager
def _laid_out(file: Path, kind: str, media: MediaStore, most_unpacked: int) -> Iterator[Path]:
    """A folder with what jobs read of a file: the table, or what a zip holds."""
    with new_part(media) as part:
        if kind == ZIP:
            _unpack(file, part, most_unpacked)
        else:
            part.mkdir(mode=0o700)
            os.link(file, part / f"{STEM}.{kind}")
        yield part


def _settle(part: Path, folder: Path) -> None:
    """Move what was laid out to its place, unless another process was first."""
    make_private_folder(folder.parent)
    try:
        part.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _unpack(file: Path, folder: Path, most: int) -> None:
    """Unpack a zip; what a single folder holds lies at the top.

    Raises:
        DataError: it is broken, leads out of its folder, or unpacks to too much.
        NoRoom: it unpacks to more than `most` bytes.
    """
    try:
        archive = Archive(file)
        try:
            sizes = {name: size for name, size in archive.sizes().items() if not _LEFT_OUT.search(name)}
            _check_sizes(sizes, file.stat().st_size, most)
            paths = {name: _inside(name) for name in sizes}
            if len(set(paths.values())) < len(paths):
                raise DataError("the zip holds two files of one name", field="data")
            tops = {path.parts[0] for path in paths.values()}
            is_wrapped = len(tops) == 1 and all(len(path.parts) > 1 for path in paths.values())
            folder.mkdir(mode=0o700)
            for name, path in paths.items():
                write_whole(folder.joinpath(*path.parts[is_wrapped:]), archive.read(name))
        finally:
            archive.close()
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise DataError("the zip holds a file and a folder of one name", field="data") from None
    except UnicodeDecodeError:
        raise DataError("the zip holds a file whose name is no UTF-8", field="data") from None
    except (zipfile.BadZipFile, NotImplementedError, KeyError) as error:
        raise DataError(f"the zip cannot be unpacked: {error}", field="data") from None


def _check_sizes(sizes: dict[str, int], packed: int, most: int) -> None:
    if not sizes:
        raise DataError("the zip is empty", field="data")
    if len(sizes) > MOST_FILES:
        raise DataError(f"the zip holds {len(sizes):,} files; allowed: {MOST_FILES:,}", field="data")
    unpacked = sum(sizes.values())
    if unpacked > MOST_UNPACKED:
        message = f"the zip has {packed:,} bytes and unpacks to {unpacked:,}: a zip bomb"
        raise DataError(f"{message}; allowed: {MOST_UNPACKED:,}", field="data")
    if unpacked > most:
        message = f"the zip unpacks to {unpacked:,} bytes, and uploads have room for {most:,} more"
        raise NoRoom(f"{message} (GNOMON_UPLOAD_GB)")


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or not path.name or "\0" in name:
        raise DataError(f"{name[:200]!r} in the zip leads out of its folder", field="data")
    if len(os.fsencode(name)) > MOST_NAME or any(len(os.fsencode(part)) > MOST_PART for part in path.parts):
        allowed = f"allowed: {MOST_NAME} bytes, and {MOST_PART} of a folder or file"
        raise DataError(f"{name[:80]!r}… in the zip is too long a name; {allowed}", field="data")
    return path


def bytes_of_uploads(media: MediaStore) -> int:
    """Bytes on this disk of all uploads that are kept: as they were sent, and unpacked."""
    folder = media.folder / FOLDER
    sent = media.folder.glob(f"[0-9a-f][0-9a-f]/{64 * '[0-9a-f]'}")
    kept = list(folder.glob("[!.]*"))  # without what is being sent
    names = {path.name for path in kept}
    sizes: dict[int, int] = {}  # by inode: a table lies in both places, once on the disk
    unpacked = (path for each in kept for path in each.rglob("*"))
    for path in (*unpacked, *(path for path in sent if path.name in names)):
        with suppress(FileNotFoundError):
            status = path.stat()
            sizes[status.st_ino] = 0 if path.is_dir() else status.st_size
    return sum(sizes.values())
