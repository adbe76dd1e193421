"""Keeps pictures once, by the hash of their bytes, for all arms, models and workers."""

import hashlib
import io
from pathlib import Path

from gnomon.core.errors import DataError, NotFound
from gnomon.core.sample import ImageRef, VideoRef
from gnomon.whole_file import has_room, write_whole
from tools.core.open_picture import BadPicture, open_picture
from tools.core.regular_file import open_regular


class MediaStore:
    """A folder of files named by content; writing twice is harmless, readers never see half a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, data: bytes) -> ImageRef:
        """Keep a PNG or JPEG.

        Raises:
            DataError: it is neither, or has too many pixels (only the head is read).
            NoRoom: the disk is full.
        """
        try:
            with open_picture(io.BytesIO(data)) as image:
                (width, height), kind = image.size, image.format
        except BadPicture as error:
            raise DataError(f"the picture cannot be kept: it {error}") from error
        sha256 = hashlib.sha256(data).hexdigest()
        path = self._path(sha256)
        if not path.exists():
            write_whole(path, data)
        return ImageRef(sha256=sha256, media_type=f"image/{str(kind).lower()}", width=width, height=height)

    def put_clip(self, path: Path, *, media_type: str, seconds: float) -> VideoRef:
        """Keep a whole video that has been probed.

        Raises:
            DataError: it cannot be read.
            NoRoom: the disk is full.
        """
        try:
            with open_regular(path) as source:
                data = source.read()
        except OSError as error:
            raise DataError(f"{path.name} cannot be read: {error.strerror}") from error
        sha256 = hashlib.sha256(data).hexdigest()
        kept = self._path(sha256)
        if not kept.exists():
            write_whole(kept, data)
        return VideoRef(sha256=sha256, media_type=media_type, seconds=seconds)

    def read(self, sha256: str) -> bytes:
        """The bytes of that hash.

        Raises:
            NotFound: they are not here.
        """
        try:
            return self._path(sha256).read_bytes()
        except FileNotFoundError:
            raise NotFound(f"no media {sha256[:12]}… in the store") from None

    def has(self, sha256: str) -> bool:
        """Whether the bytes of that hash are here."""
        return self._path(sha256).is_file()

    def has_room(self) -> bool:
        """Whether another file can be kept."""
        return has_room(self.folder)

    def _path(self, sha256: str) -> Path:
        return self.folder / sha256[:2] / sha256
