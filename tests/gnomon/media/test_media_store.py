"""Pictures are kept once, and bombs are refused unopened."""

import io
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image

from gnomon.errors import DataError, NotFound
from gnomon.media import MediaStore


def png(width: int = 4, height: int = 3) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(buffer, "PNG")
    return buffer.getvalue()


def huge_header() -> bytes:
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))


def test_equal_pictures_are_one_file(tmp_path: Path) -> None:
    store = MediaStore(tmp_path)
    one, two = store.put(png()), store.put(png())
    assert one == two
    assert (one.width, one.height, one.media_type) == (4, 3, "image/png")
    assert store.read(one.sha256) == png()
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


@pytest.mark.parametrize("data", [b"", b"GIF89a", b"not a picture", png()[:20], huge_header()])
def test_what_is_no_decent_picture_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(DataError):
        MediaStore(tmp_path).put(data)


def test_an_unknown_hash_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        MediaStore(tmp_path).read("0" * 64)
