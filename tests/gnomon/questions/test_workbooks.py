"""Questions in an Excel workbook: cells are read as a person sees them, whatever number lies below."""

import zipfile
from pathlib import Path

import pytest

from gnomon.benchmarks.questions.loader import find_file, read_file
from gnomon.benchmarks.questions.question import OwnQuestion
from gnomon.benchmarks.questions.rows import Reading
from gnomon.core.errors import DataError
from gnomon.exchange.xlsx_numbers import number_as_seen

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
STYLES = f"""<styleSheet {MAIN}><numFmts><numFmt numFmtId="164" formatCode="d.m.yyyy\\ h:mm"/></numFmts>
<cellStyleXfs><xf numFmtId="9"/></cellStyleXfs>
<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="20"/><xf numFmtId="164"/></cellXfs>
</styleSheet>"""


def workbook(path: Path, rows: list[str], since: str = "0") -> Path:
    """A workbook of rows of cells, each as it is written there."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        lines = "".join(f'<row r="{row}">{cells}</row>' for row, cells in enumerate(rows, start=1))
        archive.writestr("xl/worksheets/sheet1.xml", f"<worksheet {MAIN}>{lines}</worksheet>")
        archive.writestr("xl/styles.xml", STYLES)
        archive.writestr("xl/workbook.xml", f'<workbook {MAIN}><workbookPr date1904="{since}"/></workbook>')
    return path


def text(*values: str) -> str:
    return "".join(f'<c t="inlineStr"><is><t>{value}</t></is></c>' for value in values)


def cell(column: str, number: str, style: int = 0) -> str:
    return f'<c r="{column}2" s="{style}"><v>{number}</v></c>'


def questions_in(path: Path) -> list[OwnQuestion]:
    file = read_file(path, Reading())
    return list(file.questions(file.entries.values()))


HEADER = text("question", "answer", "A", "B", "C", "D").replace("<c ", '<c r="{}1" ').format(*"EFABCD")


def test_dates_times_and_numbers_are_what_was_typed(tmp_path: Path) -> None:
    cells = [cell("A", "45366", 1), cell("B", "0.604166666666667", 2), cell("C", "45366.25", 3)]
    asked = '<c r="E2" t="str"><v>When?</v></c><c r="F2" t="str"><v>14:30</v></c>'
    rows = [HEADER, "".join(cells) + cell("D", "7.0000000000000007E-2") + asked]
    [question] = questions_in(workbook(tmp_path / "a.xlsx", rows))
    assert question.options == {"A": "2024-03-15", "B": "14:30", "C": "15.3.2024 6:00", "D": "0.07"}
    assert question.gold == "B"
    [question] = questions_in(workbook(tmp_path / "b.xlsx", rows, since="1"))
    assert question.options["A"] == "2028-03-16"


@pytest.mark.parametrize(
    ("number", "form", "seen"),
    [
        ("1", "yyyy-mm-dd", "1900-01-01"),
        ("61", "d mmm yy", "1 Mar 00"),
        ("45366.9999999", "yyyy-mm-dd h:mm:ss", "2024-03-16 0:00:00"),
        ("0.5", "[$-409]h:mm AM/PM;@", "12:00 PM"),
        ("0.001736111", "mm:ss.00", "02:30.00"),
        ("0.604166667", 'h "h" mm', "14 h 30"),
        ("45366", "[$-40B]dddd d. mmmm", "Friday 15. March"),
        ("1234.5", "#,##0.00", "1234.5"),
        ("-1", "yyyy", "-1"),
        ("1e300", "yyyy", f"{10**300}"),
        ("#N/A", "yyyy", "#N/A"),
    ],
)
def test_a_number_is_written_as_its_format_shows_it(number: str, form: str, seen: str) -> None:
    assert number_as_seen(number, form) == seen


def test_faults_name_the_row_of_the_sheet_and_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    rows = [text("question", "answer", "A", "B"), "", text("Which?", "C", "x", "y")]
    with pytest.raises(DataError, match="row 3: answer: 'C' is not among the options"):
        read_file(workbook(tmp_path / "a.xlsx", rows), Reading())
    with pytest.raises(DataError, match="two of its columns have one name"):
        read_file(workbook(tmp_path / "b.xlsx", [text("question", "question"), text("a", "b")]), Reading())


def test_a_folder_with_the_table_that_a_workbook_was_saved_as_holds_one_file(tmp_path: Path) -> None:
    workbook(tmp_path / "exam.xlsx", [text("question", "answer")])
    assert find_file(tmp_path).name == "exam.xlsx"
    (tmp_path / "exam.csv").write_text("question,answer\n")
    assert find_file(tmp_path).name == "exam.csv"
