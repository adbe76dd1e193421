"""Reads the members of a zip, also those packed with Zstandard, which Python 3.11 cannot."""

import struct
import zipfile
import zlib
from pathlib import Path

ZSTANDARD = 93  # the compression method's number in the zip format
LOCAL_HEADER = struct.Struct("<26xHH")  # of a member: 26 bytes that do not matter, two lengths
END, END_64 = struct.Struct("<12xI6x"), struct.Struct("<40xQ28x")  # the size of the list of files, and before
MOST_BYTES = 256 * 2**20  # that a member may unpack to
MOST_DIRECTORY = 32 * 2**20  # bytes of the list of files
MOST_COMMENT = 65_535  # bytes behind it


class Archive:
    """A zip opened for reading.

    Raises:
        OSError, zipfile.BadZipFile: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        if (size := _directory_size(path)) > MOST_DIRECTORY:  # it is read whole
            raise zipfile.BadZipFile(f"its list of files has {size:,} bytes; allowed: {MOST_DIRECTORY:,}")
        self._path, self._zip = path, zipfile.ZipFile(path)

    def names(self) -> list[str]:
        return self._zip.namelist()

    def sizes(self) -> dict[str, int]:
        """Bytes that each member says it unpacks to, without folders."""
        return {member.filename: member.file_size for member in self._zip.infolist() if not member.is_dir()}

    def read(self, name: str) -> bytes:
        """The bytes of a member.

        Raises:
            KeyError: the member does not exist.
            zipfile.BadZipFile: it is broken, unpacks to more than MOST_BYTES, or is packed by bzip2 or LZMA,
                which Python's zipfile unpacks without a bound.
        """
        member = self._zip.getinfo(name)
        if member.file_size > MOST_BYTES:
            allowed = f"allowed: {MOST_BYTES:,}"
            raise zipfile.BadZipFile(f"{name} unpacks to {member.file_size:,} bytes; {allowed}")
        if member.compress_type in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
            raise zipfile.BadZipFile(f"{name} is packed by bzip2 or LZMA; allowed: Deflate or Zstandard")
        if member.compress_type != ZSTANDARD:
            try:
                with self._zip.open(member) as unpacking:
                    return unpacking.read(member.file_size)  # no more is unpacked, whatever it says
            except (zlib.error, EOFError, RuntimeError) as error:  # damaged, cut off, or with a password
                raise zipfile.BadZipFile(f"{name}: {error}") from None
        import zstandard  # needed for such members only

        with self._path.open("rb") as file:
            file.seek(member.header_offset)
            header = file.read(LOCAL_HEADER.size)
            if len(header) < LOCAL_HEADER.size:
                raise zipfile.BadZipFile(f"{name} is not where the directory says")
            file.seek(sum(LOCAL_HEADER.unpack(header)), 1)
            packed = file.read(member.compress_size)
        try:
            reader = zstandard.ZstdDecompressor().stream_reader(packed)
            unpacked = reader.read(MOST_BYTES + 1)
        except zstandard.ZstdError as error:
            raise zipfile.BadZipFile(f"{name}: {error}") from None
        if len(unpacked) > MOST_BYTES:
            raise zipfile.BadZipFile(f"{name} unpacks to more than {MOST_BYTES:,} bytes")
        return unpacked

    def close(self) -> None:
        self._zip.close()


def _directory_size(path: Path) -> int:
    """Bytes of a zip's list of files, as its end says; 0 where it has no end."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - END_64.size - END.size - MOST_COMMENT))
        tail = file.read()
    last = len(tail) - END.size
    at = last if tail[max(last, 0) :].startswith(b"PK\5\6") else tail.rfind(b"PK\5\6", 0, last + 4)
    if at < 0:
        return 0
    size: int = END.unpack_from(tail, at)[0]
    before = at - END_64.size
    if before >= 0 and tail[before:].startswith(b"PK\6\6") and tail[at - 20 :].startswith(b"PK\6\7"):
        size = END_64.unpack_from(tail, before)[0]
    return size
