"""Reads the first sheet of an Excel workbook (.xlsx) as lines of texts, as a person sees them there.

No library does it: those there are take memory for every cell that a small file says it has.
"""

import re
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from gnomon.core.errors import SpecError
from gnomon.exchange.xlsx_numbers import USUAL, number_as_seen
from gnomon.stopping import check_wanted

MOST_BYTES = 256 * 2**20  # that a member may unpack to
MOST_ELEMENTS = 10_000_000  # of a member
MOST_HELD = 200_000  # of a row or a text, which is read as a whole, and beside all of them
MOST_TEXT = 64_000_000  # characters of a row or a text
MOST_SHARED = 150_000_000  # bytes of all texts that cells name, as they are in memory
MOST_MARKUP = 1_000_000  # bytes of a tag or a comment
MOST_COLUMNS = 16_384  # as in Excel
MOST_ROWS = 1_048_576  # as in Excel
MOST_CELLS = 5_000_000  # of all rows
# RuntimeError: with a password, or packed in a way that is not read here.
UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, RuntimeError),
    *(ParseError, IndexError, ValueError, KeyError),
)
NAMESPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def sheet_lines(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines below the first one, by its names, with their numbers in the sheet.

    Raises:
        SpecError: it cannot be read as a workbook, or two of its columns have one name.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if re.match(r"xl/worksheets/.+\.xml$", name))
            first = "xl/worksheets/sheet1.xml" if "xl/worksheets/sheet1.xml" in names else names[0]
            shared = _shared(archive) if "xl/sharedStrings.xml" in archive.namelist() else []
            shown = _Shown(archive)
            header: dict[str, str] = {}
            rows = 0
            with _member(archive, first) as file:
                for number, cells in _rows(file, shared, shown):
                    if not header:
                        header = {column: name.strip() for column, name in cells.items() if name.strip()}
                        if len(set(header.values())) < len(header):
                            raise ValueError("two of its columns have one name")
                        if len(header) > MOST_COLUMNS:
                            raise ValueError(f"it has more than {MOST_COLUMNS:,} columns")
                    elif (rows := rows + 1) > min(MOST_ROWS, MOST_CELLS // max(len(header), 1)):
                        raise ValueError(
                            f"it has more than {MOST_ROWS:,} rows, or {MOST_CELLS:,} cells in them"
                        )
                    else:
                        yield number, {name: cells.get(column, "") for column, name in header.items()}
    except (OSError, *UNREADABLE) as error:
        raise SpecError(f"{path.name} cannot be read as a workbook: {error}", field="FILE") from None


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    if archive.getinfo(name).file_size > MOST_BYTES:
        raise ValueError(f"{name} is larger than {MOST_BYTES:,} bytes")
    return archive.open(name)


def _shared(archive: zipfile.ZipFile) -> list[str]:
    """The texts that cells name by number."""
    texts, held = list[str](), 0
    with _member(archive, "xl/sharedStrings.xml") as file:
        for item in _elements(file, f"{NAMESPACE}si"):
            texts.append(_text(item))
            held += sys.getsizeof(texts[-1])
            if held > MOST_SHARED:
                raise ValueError(f"its texts take more than {MOST_SHARED:,} bytes of memory")
    return texts


def _elements(file: IO[bytes], tag: str) -> Iterator[Element]:
    """The elements of a tag, one at a time.

    Raises:
        ValueError: the document is not within the bounds, or declares a type, whose entities could make it
            grow without bound.
    """
    parts = _Parts(tag)
    parser = XMLParser(target=parts)  # noqa: S314 (a document type ends it)
    waiting, calls = 0, 0  # bytes for which the parser has called nothing yet, and its calls so far
    while piece := file.read(65_536):
        check_wanted()
        parser.feed(piece)
        yield from parts.taken()
        # What is longer than a piece is read again from its beginning with each piece.
        waiting = waiting + len(piece) if parts.calls == calls else 0
        calls = parts.calls
        if waiting > MOST_MARKUP:
            raise ValueError(f"a tag or comment has more than {MOST_MARKUP:,} bytes")
    parser.close()


class _Parts:
    """What a parser calls; it keeps the elements of a tag until they are taken, and nothing beside them."""

    def __init__(self, tag: str) -> None:
        self._tag, self._elements = tag, list[Element]()
        self._builder: TreeBuilder | None = None  # of the element that is read
        self._depth, self._held, self._text, self._count = 0, 0, 0, 0
        self.calls = 0

    def doctype(self, *_: object) -> None:
        raise ValueError("it declares a document type")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.calls, self._count, self._held = self.calls + 1, self._count + 1, self._held + 1
        if self._count > MOST_ELEMENTS:
            raise ValueError(f"it has more than {MOST_ELEMENTS:,} elements")
        if self._held > MOST_HELD:
            raise ValueError(f"a row of it has more than {MOST_HELD:,} elements")
        if self._builder is None and tag == self._tag:
            self._builder = TreeBuilder()
        if self._builder is not None:
            self._depth += 1
            self._builder.start(tag, attributes)

    def data(self, text: str) -> None:
        self.calls += 1
        if self._builder is not None:
            self._text += len(text)
            if self._text > MOST_TEXT:
                raise ValueError(f"a row of it has more than {MOST_TEXT:,} characters")
            self._builder.data(text)

    def end(self, tag: str) -> None:
        self.calls += 1
        if self._builder is not None:
            self._depth -= 1
            self._builder.end(tag)
            if not self._depth:
                self._elements.append(self._builder.close())
                self._builder, self._held, self._text = None, 0, 0

    def taken(self) -> list[Element]:
        """The elements that have ended since this was asked before."""
        elements, self._elements = self._elements, []
        return elements


def _text(element: Element) -> str:
    return "".join(part.text or "" for part in element.iter(f"{NAMESPACE}t"))


class _Shown:
    """Writes numbers as the workbook's formats show them."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        styles = _root(archive, "xl/styles.xml", "styleSheet")
        book = _root(archive, "xl/workbook.xml", "workbook")
        named = {
            item.get("numFmtId"): item.get("formatCode") or "" for item in styles.iter(f"{NAMESPACE}numFmt")
        }
        numbers = [
            item.get("numFmtId") or "0" for item in styles.iterfind(f"{NAMESPACE}cellXfs/{NAMESPACE}xf")
        ]
        self._forms = [named.get(number, USUAL.get(int(number), "")) for number in numbers]
        properties = book.find(f"{NAMESPACE}workbookPr")
        self._since_1904 = properties is not None and properties.get("date1904") in ("1", "true")

    def number(self, text: str, style: int) -> str:
        form = self._forms[style] if style < len(self._forms) else ""
        return number_as_seen(text, form, since_1904=self._since_1904)


def _root(archive: zipfile.ZipFile, name: str, tag: str) -> Element:
    """The root of a document; an empty one where it is absent."""
    if name not in archive.namelist():
        return Element("absent")
    with _member(archive, name) as file:
        return next(_elements(file, f"{NAMESPACE}{tag}"), Element("absent"))


def _rows(file: IO[bytes], shared: list[str], shown: _Shown) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows with their numbers, and their cells by the letters of the columns."""
    for at, row in enumerate(_elements(file, f"{NAMESPACE}row"), start=1):
        cells = {}
        for place, cell in enumerate(row.iter(f"{NAMESPACE}c")):
            column = re.sub(r"\d", "", cell.get("r", "")) or str(place)
            cells[column] = _value(cell, shared, shown)
        yield int(row.get("r") or at), cells


def _value(cell: Element, shared: list[str], shown: _Shown) -> str:
    kind, value = cell.get("t"), cell.find(f"{NAMESPACE}v")
    if kind == "inlineStr":
        return _text(cell)
    text = (value.text or "") if value is not None else ""
    if kind == "s":
        return shared[int(text)]
    if kind == "b":
        return {"1": "true", "0": "false"}[text]
    return shown.number(text, int(cell.get("s") or 0)) if kind in (None, "n") and text else text
