"""Keeps pictures once, by the hash of their bytes, for all arms, models and workers."""

import hashlib
import io
import logging
import os
from pathlib import Path
from typing import IO, Protocol

from gnomon.core.errors import DataError, NoRoom, NotFound
from gnomon.core.sample import ImageRef, VideoRef
from gnomon.whole_file import has_room, make_private_folder, write_whole
from gnomon_tools.core.open_picture import BadPicture, open_picture
from gnomon_tools.core.regular_file import open_regular

log = logging.getLogger(__name__)


class ObjectStorage(Protocol):
    """Where machines that share no disk keep media: bytes by name, written whole or not at all.

    Each method raises NoRoom while the storage does not answer, or takes nothing.
    """

    def put(self, name: str, data: bytes | IO[bytes]) -> None: ...

    def get(self, name: str) -> bytes | None:
        """The bytes of that name; None where there are none."""

    def check(self) -> None:
        """Make sure that it answers."""


class MediaStore:
    """A folder of files named by content; writing twice is harmless, readers never see half a file.

    With a `storage` every file is kept there first, and the folder holds copies of what was used here.
    """

    def __init__(self, folder: Path, storage: ObjectStorage | None = None) -> None:
        self.folder = folder
        self._storage = storage

    def put(self, data: bytes) -> ImageRef:
        """Keep a PNG or JPEG.

        Raises:
            DataError: it is neither, or has too many pixels (only the head is read).
            NoRoom: the disk is full, or the storage does not answer.
        """
        try:
            with open_picture(io.BytesIO(data)) as image:
                (width, height), kind = image.size, image.format
        except BadPicture as error:
            raise DataError(f"the picture cannot be kept: it {error}") from error
        sha256 = self.keep(data)
        return ImageRef(sha256=sha256, media_type=f"image/{str(kind).lower()}", width=width, height=height)

    def put_clip(self, path: Path, *, media_type: str, seconds: float) -> VideoRef:
        """Keep a whole video that has been probed.

        Raises:
            DataError: it cannot be read.
            NoRoom: the disk is full, or the storage does not answer.
        """
        try:
            with open_regular(path) as source:
                data = source.read()
        except OSError as error:
            raise DataError(f"{path.name} cannot be read: {error.strerror}") from error
        return self.put_film(data, media_type=media_type, seconds=seconds)

    def put_film(self, data: bytes, *, media_type: str, seconds: float) -> VideoRef:
        """Keep the bytes of a video that was made here.

        Raises:
            NoRoom: the disk is full, or the storage does not answer.
        """
        return VideoRef(sha256=self.keep(data), media_type=media_type, seconds=seconds)

    def read(self, sha256: str) -> bytes:
        """The bytes of that hash.

        Raises:
            NotFound: they are not here.
            NoRoom: the storage does not answer, or the disk has no room for a copy.
        """
        return self.file(sha256).read_bytes()

    def file(self, sha256: str) -> Path:
        """Where the bytes of that hash lie; nobody may change them.

        Raises:
            NotFound, NoRoom: as `read`.
        """
        path = self._path(sha256)
        if not path.is_file():
            data = self._storage.get(_name(sha256)) if self._storage else None
            if data is None or hashlib.sha256(data).hexdigest() != sha256:
                raise NotFound(f"no media {sha256[:12]}… in the store")
            write_whole(path, data)
        return path

    def has(self, sha256: str) -> bool:
        """Whether the bytes of that hash are here."""
        try:
            return self.file(sha256).is_file()
        except NotFound:
            return False

    def check(self) -> None:
        """Make sure that the storage answers, if there is one.

        Raises:
            NoRoom: it does not.
        """
        if self._storage is not None:
            self._storage.check()

    def has_room(self) -> bool:
        """Whether another file can be kept."""
        try:
            self.check()
        except NoRoom as error:
            log.warning("%s", error)
            return False
        return has_room(self.folder)

    def keep(self, data: bytes) -> str:
        """Keep bytes unless they are kept already; their hash. What is in the folder is in the storage.

        Raises:
            NoRoom: the disk is full, or the storage does not answer.
        """
        sha256 = hashlib.sha256(data).hexdigest()
        path = self._path(sha256)
        try:
            os.utime(path)  # a clean-up leaves what is in use
        except FileNotFoundError:
            if self._storage is not None:
                self._storage.put(_name(sha256), data)
            write_whole(path, data)
        return sha256

    def keep_file(self, file: Path) -> str:
        """Keep a file of any size, which moves into the store unless its bytes are kept already; their hash.

        Raises:
            NoRoom: the disk is full, or the storage does not answer.
        """
        with file.open("rb") as data:
            sha256 = hashlib.file_digest(data, "sha256").hexdigest()
            path = self._path(sha256)
            if path.is_file():
                os.utime(path)
                return sha256
            if self._storage is not None:
                data.seek(0)
                self._storage.put(_name(sha256), data)
        make_private_folder(path.parent)
        file.replace(path)
        return sha256

    def _path(self, sha256: str) -> Path:
        return self.folder / _name(sha256)


def _name(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256}"
