"""Pictures are kept once, and bombs are refused unopened."""

import errno
import io
import os
import resource
import signal
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image

from gnomon.core.errors import DataError, NoRoom, NotFound
from gnomon.media import MediaStore
from gnomon.whole_file import PUBLIC, whole_file, write_whole


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


@contextmanager
def small_file_limit() -> Iterator[None]:
    """Within, no file of this process grows beyond 64 kB: the system refuses as it does where a disk is full.
    No test may end within, as pytest then writes to its own output, which may be a longer file.
    """
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def noise() -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((400, 400), 100).save(buffer, "PNG")
    return buffer.getvalue()


def test_a_picture_that_does_not_fit_leaves_nothing_behind(tmp_path: Path) -> None:
    data = noise()
    assert len(data) > 1 << 16
    with pytest.raises(OSError), small_file_limit():
        MediaStore(tmp_path).put(data)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("where", ["write", "fsync"])
def test_a_full_disk_is_no_fault_of_the_picture_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync" if where == "fsync" else "open", full)
    with pytest.raises(NoRoom, match="no room on the disk"):
        MediaStore(tmp_path).put(png())
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    monkeypatch.undo()
    assert MediaStore(tmp_path).put(png()).width == 4


def test_a_file_is_replaced_whole_or_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text("old")
    with pytest.raises(UnicodeEncodeError), whole_file(file, "w", encoding="ascii") as half:
        half.write("ne\u2026")
    assert (file.read_text(), list(tmp_path.iterdir())) == ("old", [file])
    write_whole(file, b"new", rights=PUBLIC)
    assert (file.read_text(), list(tmp_path.iterdir())) == ("new", [file])
