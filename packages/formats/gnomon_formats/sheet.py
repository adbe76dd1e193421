"""Reads the first sheet of an Excel workbook (.xlsx) as lines of texts, without a library for it."""

from __future__ import annotations  # `XMLPullParser` is generic to the type checker alone

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from gnomon.core.errors import SpecError

MOST_BYTES = 512 * 2**20  # that a member may unpack to
MOST_ELEMENTS = 10_000_000  # of a member
MOST_HELD = 200_000  # of a row or a text, which is read as a whole, and beside all of them
DOCTYPE = b"<!DOCTYPE"
# RuntimeError: with a password, or packed in a way that is not read here.
UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, RuntimeError),
    *(ParseError, IndexError, ValueError, KeyError),
)
NAMESPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def sheet_lines(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines below the first one, by its names, with their numbers in the sheet.

    Raises:
        SpecError: it cannot be read as a workbook.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if re.match(r"xl/worksheets/.+\.xml$", name))
            first = "xl/worksheets/sheet1.xml" if "xl/worksheets/sheet1.xml" in names else names[0]
            shared = _shared(archive) if "xl/sharedStrings.xml" in archive.namelist() else []
            header: dict[str, str] = {}
            with _member(archive, first) as file:
                for number, cells in _rows(file, shared):
                    if not header:
                        header = cells
                    else:
                        yield number, {name: cells.get(column, "") for column, name in header.items()}
    except (OSError, *UNREADABLE) as error:
        raise SpecError(f"{path} cannot be read as a workbook: {error}", field="FILE") from None


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    if archive.getinfo(name).file_size > MOST_BYTES:
        raise ValueError(f"{name} is larger than {MOST_BYTES:,} bytes")
    return archive.open(name)


def _shared(archive: zipfile.ZipFile) -> list[str]:
    """The texts that cells name by number."""
    with _member(archive, "xl/sharedStrings.xml") as file:
        return [_text(item) for item in _elements(file, f"{NAMESPACE}si")]


def _elements(file: IO[bytes], tag: str) -> Iterator[Element]:
    """The elements of a tag, one at a time.

    Raises:
        ValueError: the document declares a type, whose entities could make it grow without bound.
    """
    parser: XMLPullParser[Element] = XMLPullParser(("end",))
    end, count, held = b"", 0, 0
    while piece := file.read(65_536):
        if DOCTYPE in end + piece:
            raise ValueError("it declares a document type")
        if b"\0" in piece:  # of UTF-16, in which a document type would not be seen
            raise ValueError("it is not UTF-8")
        parser.feed(piece)
        end = piece[-len(DOCTYPE) :]
        for event in parser.read_events():
            count, held = count + 1, held + 1
            if count > MOST_ELEMENTS:
                raise ValueError(f"it has more than {MOST_ELEMENTS:,} elements")
            if held > MOST_HELD:
                raise ValueError(f"a row of it has more than {MOST_HELD:,} elements")
            element = event[-1]
            if isinstance(element, Element) and element.tag == tag:
                yield element
                element.clear()
                held = 0


def _text(element: Element) -> str:
    return "".join(part.text or "" for part in element.iter(f"{NAMESPACE}t"))


def _rows(file: IO[bytes], shared: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows with their numbers, and their cells by the letters of the columns."""
    for at, row in enumerate(_elements(file, f"{NAMESPACE}row"), start=1):
        cells = {}
        for cell in row.iter(f"{NAMESPACE}c"):
            column = re.sub(r"\d", "", cell.get("r") or "")
            cells[column] = _value(cell, shared)
        yield int(row.get("r") or at), cells


def _value(cell: Element, shared: list[str]) -> str:
    kind, value = cell.get("t"), cell.find(f"{NAMESPACE}v")
    if kind == "inlineStr":
        return _text(cell)
    text = (value.text or "") if value is not None else ""
    return shared[int(text)] if kind == "s" else {"1": "true", "0": "false"}[text] if kind == "b" else text
