"""Finds the pictures of a row: paths below the file's folder, base64, data URLs, or bytes."""

import base64
import binascii
import hashlib
import io
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from gnomon.core.errors import DataError, SpecError
from gnomon.core.sample import ImageRef
from gnomon.media import MediaStore
from gnomon.media.clip_frames import find_clip, no_file
from gnomon_tools.core.json_text import json_value
from gnomon_tools.core.open_picture import KEPT_AS_THEY_ARE, BadPicture, open_picture
from gnomon_tools.core.regular_file import open_regular

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

MAX_BYTES = 50_000_000  # of one picture
MAX_PICTURES = 50  # of one question
MAX_REFERENCE = 64  # characters: what is shorter and no file names another row, whose pictures these are
CONVERTED = ("WEBP", "GIF", "BMP", "TIFF")  # to PNG; of several pictures the first
MAX_CONVERTED = 25_000_000  # pixels of one of these: 400 MB meanwhile
_CONVERTING = threading.Lock()  # one at a time
_URL = re.compile(r"data:image/[a-z.+-]{1,30};base64,", re.IGNORECASE)
_SUFFIX = re.compile(r"\.(?:png|jpe?g|webp|gif|bmp|tiff?)$", re.IGNORECASE)
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]{1,20}://", re.IGNORECASE)

Source = str | bytes  # a path or the id of another row; or the picture itself


def sources_in(written: object) -> tuple[Source, ...]:
    """The pictures of a cell: one or a list of them, also as JSON text or as records with `bytes` or `path`.

    Raises:
        SpecError: an entry is none of these.
    """
    if isinstance(written, str) and written.lstrip().startswith("["):
        listed = json_value(written) or json_value(written.replace("'", '"'))
        written = listed if isinstance(listed, list) else written
    entries = written if isinstance(written, list | tuple) else [written]
    sources = tuple(_source(entry) for entry in entries if entry not in (None, ""))
    if len(sources) > MAX_PICTURES:
        raise SpecError(f"has {len(sources)} entries; allowed: {MAX_PICTURES}", field="images")
    return sources


def _source(entry: object) -> Source:
    if isinstance(entry, Mapping):
        entry = entry.get("bytes") or entry.get("path")
    if isinstance(entry, bytes):
        return entry
    if isinstance(entry, int) and not isinstance(entry, bool):
        return str(entry)
    if not isinstance(entry, str):
        raise SpecError(
            f"holds {type(entry).__name__}; allowed: a path, base64, or a list of them", field="images"
        )
    text = entry.strip()
    if _REMOTE.match(text):
        raise SpecError(
            f"{text[:60]!r} is an address; pictures are read from files: fetch it first", field="images"
        )
    if url := _URL.match(text):
        return _decoded(text[url.end() :])
    if len(text) <= MAX_REFERENCE or _SUFFIX.search(text):
        return text
    return _decoded(text)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise SpecError(f"{text[:30]!r}… is neither a path of a picture nor base64", field="images") from None


def is_file_name(source: str) -> bool:
    """Whether a short text can only be a path.

    >>> is_file_name("a.png"), is_file_name("12")
    (True, False)
    """
    return bool(_SUFFIX.search(source)) or "/" in source


def key_of(source: Source) -> str:
    """A key that is equal for equal pictures, so that questions about one picture are one cluster."""
    return source if isinstance(source, str) else hashlib.sha256(source).hexdigest()[:20]


def bytes_of(source: Source, folder: Path) -> bytes:
    """The picture as a PNG or JPEG.

    Raises:
        SpecError: it is absent, leads out of the folder, is too large, or is no picture.
    """
    data = source if isinstance(source, bytes) else _file_bytes(source, folder)
    png = io.BytesIO()
    with _opened(io.BytesIO(data), source) as image:
        if image.format in KEPT_AS_THEY_ARE:
            return data
    with _CONVERTING, _opened(io.BytesIO(data), source) as image:
        has_alpha = "A" in image.getbands() or "transparency" in image.info
        image.convert("RGBA" if has_alpha else "RGB").save(png, format="PNG")
    return png.getvalue()


def check_picture(source: Source, folder: Path) -> None:
    """Look at the head of a picture alone.

    Raises:
        SpecError: as `bytes_of`.
    """
    if isinstance(source, bytes):
        if len(source) > MAX_BYTES:
            raise _too_large(source)
        with _opened(io.BytesIO(source), source):
            return
    path = _path(source, folder)
    try:
        with open_regular(path) as file:
            if path.stat().st_size > MAX_BYTES:
                raise _too_large(source)
            with _opened(file, source):
                return
    except OSError as error:
        raise SpecError(f"{source!r} cannot be read: {error.strerror or error}", field="images") from None


def keep(source: Source, folder: Path, media: MediaStore) -> ImageRef:
    """The picture in the media store.

    Raises:
        DataError: it is absent, or is no picture.
    """
    try:
        return media.put(bytes_of(source, folder))
    except SpecError as error:
        raise DataError(error.message, field="images") from None


def _path(source: str, folder: Path) -> Path:
    path = find_clip(folder, source)
    if path is None:
        raise SpecError(no_file(source), field="images")
    return path


def _file_bytes(source: str, folder: Path) -> bytes:
    try:
        with open_regular(_path(source, folder)) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SpecError(f"{source!r} cannot be read: {error.strerror or error}", field="images") from None
    if len(data) > MAX_BYTES:
        raise _too_large(source)
    return data


@contextmanager
def _opened(file: IO[bytes], source: Source) -> "Iterator[PillowImage]":
    try:
        with open_picture(file, (*KEPT_AS_THEY_ARE, *CONVERTED)) as image:
            pixels = image.width * image.height
            if image.format in CONVERTED and pixels > MAX_CONVERTED:
                allowed = f"allowed in {image.format}: {MAX_CONVERTED:,}; save it as PNG or JPEG"
                raise BadPicture(f"has {pixels:,} pixels; {allowed}")
            yield image
    except BadPicture as error:
        raise SpecError(f"{_named(source)} {error}", field="images") from None


def _too_large(source: Source) -> SpecError:
    return SpecError(f"{_named(source)} is larger than {MAX_BYTES:,} bytes", field="images")


def _named(source: Source) -> str:
    return repr(source[:200]) if isinstance(source, str) else "an embedded picture"
