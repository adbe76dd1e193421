"""Files of others that are damaged or hostile: refused by name, in bounded time and memory."""

import json
import zipfile
from pathlib import Path

import pytest

from gnomon.core.errors import SpecError
from gnomon.exchange import xlsx_sheet
from gnomon.exchange.format import Reading
from gnomon.exchange.read_file import read_file

SAMPLE = {"id": "a", "epoch": 1, "scores": {"s": {"value": "C"}}, "messages": [], "working_time": 1.0}
SHEET = "xl/worksheets/sheet1.xml"


def log(folder: Path, **changed: object) -> Path:
    path = folder / "log.json"
    path.write_text(json.dumps({"eval": {"task": "t"}, "samples": [{**SAMPLE, **changed}]}))
    return path


def test_the_log_that_is_not_changed_is_read(tmp_path: Path) -> None:
    assert [row.score for row, _ in read_file(log(tmp_path), Reading())] == [1.0]


@pytest.mark.parametrize(
    "changed",
    [
        {"epoch": [1]},
        {"epoch": float("inf")},
        {"messages": 5},
        {"model_usage": "none"},
        {"working_time": float("nan")},
        {"working_time": -1},
        {"output": "x"},
    ],
)
def test_a_log_with_a_field_of_another_type_names_its_sample(tmp_path: Path, changed: dict) -> None:
    with pytest.raises(SpecError, match=r"sample 'a'.*not as Inspect writes it"):
        list(read_file(log(tmp_path, **changed), Reading()))


@pytest.mark.parametrize(
    "text", ["[]", "5", '{"eval": [], "samples": 3}', '{"eval": {"task": "t"}, "samples": 3}']
)
def test_a_log_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(text)
    with pytest.raises(SpecError):
        list(read_file(path, Reading()))


def test_a_damaged_member_of_a_zip_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "t" * 500}}))
    data = bytearray(path.read_bytes())
    data[41:51] = b"\xff" * 10
    path.write_bytes(data)
    with pytest.raises(SpecError, match=r"header\.json"):
        list(read_file(path, Reading()))


def test_a_workbook_hides_no_entities_in_utf_16_and_has_an_end(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "results.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        document = '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE a [<!ENTITY a "b">]><a>&a;</a>'
        archive.writestr(SHEET, document.encode("utf-16"))
    with pytest.raises(SpecError, match="declares a document type"):
        list(xlsx_sheet.sheet_lines(path))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(SHEET, f"<worksheet>{'<row/>' * 100}</worksheet>")
    monkeypatch.setattr(xlsx_sheet, "MOST_ELEMENTS", 50)
    with pytest.raises(SpecError, match="more than 50 elements"):
        list(xlsx_sheet.sheet_lines(path))
