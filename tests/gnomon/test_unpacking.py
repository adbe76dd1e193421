"""Files that unpack to far more than they are: each is refused with the reason, and little memory is used."""

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from gnomon.benchmarks.questions import loader, pictures
from gnomon.benchmarks.questions.loader import read_file as read_questions
from gnomon.benchmarks.questions.rows import Reading as Questions
from gnomon.core.errors import DataError, SpecError
from gnomon.exchange import json_lines, xlsx_sheet
from gnomon.exchange.archive import MOST_BYTES, Archive
from gnomon.exchange.xlsx_sheet import sheet_lines
from gnomon.media import MediaStore
from gnomon.parquet_file import read_group, row_counts


def test_a_parquet_file_is_read_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    table = pa.table({"text": ["é", None, "x"], "nested": [[{"a": 1}], [], None]})
    pq.write_table(table, file, row_group_size=2)
    assert row_counts(file) == [2, 1]
    assert pa.concat_tables(read_group(file, at) for at in (0, 1)).to_pylist() == table.to_pylist()


def one_list() -> pa.Array:
    """A row with a list of very many nulls, which take no bytes."""
    return pa.ListArray.from_arrays(pa.array([0, 300_000], pa.int32()), pa.nulls(300_000, pa.binary(1_000)))


def one_text_often() -> pa.Array:
    """Rows that all name one text of a dictionary: no size in the file says what they come to."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * 200, pa.int32()), pa.array(["x" * 1_300_000]))


@pytest.mark.parametrize("make", [one_list, one_text_often])
def test_a_small_parquet_file_that_unpacks_to_much_is_refused(
    tmp_path: Path, make: Callable[[], pa.Array]
) -> None:
    file = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"a": make()}), file, compression="zstd", store_schema=False)
    assert file.stat().st_size < 100_000
    with pytest.raises(DataError, match="unpacks to more than 256,000,000 bytes"):
        read_group(file, 0)


def test_a_dictionary_is_written_out_within_the_bound(tmp_path: Path) -> None:
    file = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"a": one_text_often()}), file)
    with pytest.raises(DataError, match="unpacks to more than 256,000,000 bytes"):
        read_group(file, 0)
    pq.write_table(pa.table({"a": pa.array(["x", "y", "x"]).dictionary_encode()}), file)
    assert read_group(file, 0).to_pylist() == [{"a": "x"}, {"a": "y"}, {"a": "x"}]


def test_few_rows_of_parquet_hold_no_millions_of_values(tmp_path: Path) -> None:
    file = tmp_path / "bomb.parquet"
    flags = pa.StructArray.from_arrays([pa.nulls(1_000_000, pa.bool_())], ["a"])
    lists = pa.ListArray.from_arrays(pa.array([0, 1_000_000], pa.int32()), flags)
    pq.write_table(pa.table({"a": lists}), file)
    with pytest.raises(DataError, match="1 rows hold 2,000,001 values; allowed: 2,000,000"):
        read_group(file, 0)


def test_a_footer_of_parquet_is_bounded(tmp_path: Path) -> None:
    file = tmp_path / "bomb.parquet"
    file.write_bytes(b"PAR1" + (16_000_001).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(DataError, match="its footer has 16,000,001 bytes"):
        row_counts(file)


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_questions_of_too_many_values_are_refused_before_they_are_decoded(
    tmp_path: Path, ending: str
) -> None:
    file = tmp_path / f"questions.{ending}"
    file.write_bytes(b"[" + b"[]," * 1_000_001)
    with pytest.raises(DataError, match="more than 2,000,000 values; write JSONL"):
        read_questions(file, Questions())


def test_questions_have_a_bounded_number_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "MAX_ROWS", 2)
    file = tmp_path / "questions.csv"
    file.write_text("question,answer\n" + "a,b\n" * 3)
    with pytest.raises(DataError, match="has more than 2 rows"):
        read_questions(file, Questions())


def test_a_member_of_a_zip_that_unpacks_to_much_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "log.eval"
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("header.json", "w") as member,
    ):
        for _ in range(MOST_BYTES // 2**20 + 1):
            member.write(bytes(2**20))
    with pytest.raises(zipfile.BadZipFile, match="allowed: 268,435,456"):
        Archive(file).read("header.json")


@pytest.mark.parametrize("text", [b"[],", b"1,", b'{"a":'])
def test_json_of_too_many_values_is_refused_before_it_is_decoded(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "log.json"
    file.write_bytes(b"[" + text * 8_000_001)
    with pytest.raises(SpecError, match="more than 8,000,000 values"):
        json_lines.document(file)
    with pytest.raises(SpecError, match="more than 8,000,000 values"):
        next(json_lines.lines(file))


def test_a_row_of_a_workbook_has_a_bounded_number_of_cells(tmp_path: Path) -> None:
    sheet = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    file = tmp_path / "table.xlsx"
    for inside in ("<row>" + "<c/>" * 200_001 + "</row>", "<other/>" * 200_001):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/worksheets/sheet1.xml", f'<worksheet xmlns="{sheet}">{inside}</worksheet>')
        with pytest.raises(SpecError, match="more than 200,000 elements"):
            list(sheet_lines(file))


HEADER = "".join(f'<c r="{column}1" t="str"><v>{column}</v></c>' for column in ("A", "B", "C"))


@pytest.mark.parametrize(
    ("inside", "fault"),
    [
        (f"<!--{'x' * 2_000_000}-->", "a tag or comment has more than 1,000,000 bytes"),
        (f"<row><c>{'x' * 5_001}</c></row>", "a row of it has more than 5,000 characters"),
        (f"<row>{HEADER}</row>" + "<row><c/></row>" * 1_700, "or 5,000 cells in them"),
    ],
    ids=["comment", "text", "rows under a wide header"],
)
def test_a_workbook_takes_no_more_than_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str, fault: str
) -> None:
    monkeypatch.setattr(xlsx_sheet, "MOST_CELLS", 5_000)
    monkeypatch.setattr(xlsx_sheet, "MOST_TEXT", 5_000)
    namespace = xlsx_sheet.NAMESPACE.strip("{}")
    file = tmp_path / "table.xlsx"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", f'<worksheet xmlns="{namespace}">{inside}</worksheet>')
    with pytest.raises(SpecError, match=fault):
        list(sheet_lines(file))


def test_texts_that_cells_share_take_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_sheet, "MOST_SHARED", 5_000)
    namespace = xlsx_sheet.NAMESPACE.strip("{}")
    file = tmp_path / "table.xlsx"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", f'<worksheet xmlns="{namespace}"/>')
        texts = "<si><t>a</t></si>" * 200
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{namespace}">{texts}</sst>')
    with pytest.raises(SpecError, match="its texts take more than 5,000 bytes of memory"):
        list(sheet_lines(file))


@pytest.mark.parametrize("side", [8_000, 50_000])
def test_a_picture_of_too_many_pixels_is_refused_as_what_it_is(tmp_path: Path, side: int) -> None:
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(100))), (b"IEND", b""))
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )
    with pytest.raises(DataError, match="50,000,000"):
        MediaStore(tmp_path).put(data)


def test_what_is_small_is_read(tmp_path: Path) -> None:
    file = tmp_path / "log.json"
    file.write_text(json.dumps({"samples": [1]}))
    assert json_lines.document(file) == {"samples": [1]}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("header.json", "{}")
    (tmp_path / "log.eval").write_bytes(packed.getvalue())
    assert Archive(tmp_path / "log.eval").read("header.json") == b"{}"


def test_a_picture_that_would_be_converted_has_fewer_pixels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "MAX_CONVERTED", 99)
    for name in ("wide.webp", "wide.png"):
        Image.new("RGB", (10, 10)).save(tmp_path / name)
    pictures.check_picture("wide.png", tmp_path)
    with pytest.raises(SpecError, match="100 pixels; allowed in WEBP: 99; save it as PNG or JPEG"):
        pictures.check_picture("wide.webp", tmp_path)
