"""Keeps pictures once, by the hash of their bytes, for all arms, models and workers."""

import hashlib
import io
from pathlib import Path

from gnomon.core.errors import DataError, NotFound
from gnomon.core.sample import ImageRef, VideoRef
from gnomon.whole_file import has_room, write_whole
from tools.core.regular_file import open_regular

MAX_PIXELS = 50_000_000


class MediaStore:
    """A folder of files named by content; writing twice is harmless, readers never see half a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, data: bytes) -> ImageRef:
        """Keep a PNG or JPEG.

        Raises:
            DataError: it is neither, or has more than MAX_PIXELS pixels (only the header is read).
            NoRoom: the disk is full.
        """
        from PIL import Image  # late: jobs of text keep no picture

        try:
            with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
                (width, height), kind = image.size, image.format
        except (OSError, ValueError, Image.DecompressionBombError) as error:
            raise DataError(f"not a PNG or JPEG picture: {error}") from error
        if width * height > MAX_PIXELS:
            raise DataError(f"a picture of {width} x {height} pixels is larger than {MAX_PIXELS:,} pixels")
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
