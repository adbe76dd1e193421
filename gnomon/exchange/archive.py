"""Reads the members of a zip, also those packed with Zstandard, which Python 3.11 cannot."""

import struct
import zipfile
import zlib
from pathlib import Path

ZSTANDARD = 93  # the compression method's number in the zip format
LOCAL_HEADER = struct.Struct("<26xHH")  # of a member: 26 bytes that do not matter, two lengths
MOST_BYTES = 256 * 2**20  # that a member may unpack to


class Archive:
    """A zip opened for reading.

    Raises:
        OSError, zipfile.BadZipFile: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._zip = path, zipfile.ZipFile(path)

    def names(self) -> list[str]:
        """The names of its members."""
        return self._zip.namelist()

    def read(self, name: str) -> bytes:
        """The bytes of a member.

        Raises:
            KeyError: the member does not exist.
            zipfile.BadZipFile: it is broken, or unpacks to more than MOST_BYTES.
        """
        member = self._zip.getinfo(name)
        if member.file_size > MOST_BYTES:
            allowed = f"allowed: {MOST_BYTES:,}"
            raise zipfile.BadZipFile(f"{name} unpacks to {member.file_size:,} bytes; {allowed}")
        if member.compress_type != ZSTANDARD:
            try:
                return self._zip.read(name)
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
        """Close the file."""
        self._zip.close()
