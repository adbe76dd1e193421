"""Writes the charts, tables, methods and citation of a report as files for a paper.

They are taken from the sections of the report's page, so that a section of anyone's plug-in has them too.
"""

import base64
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from typing import Literal, TypeVar

from gnomon.report.html import render_section
from gnomon.report.page_blocks import PageReader, PageTable
from gnomon.report.report import Report
from gnomon.report.row_formats import csv_cell
from gnomon.report.section import sections
from gnomon.report.text_formats import escape_markdown, markdown_table
from gnomon.stopping import while_wanted
from gnomon_analyses.paper.chart_file import charts_in
from gnomon_analyses.paper.paper_table import (
    escape_latex,
    latex_table,
    table_csv,
    table_latex,
    table_markdown,
)
from gnomon_analyses.sections.methods import caption, methods_in

Piece = TypeVar("Piece")

File = tuple[str, bytes]  # name, content
CHART_FORMS: tuple[Literal["pdf", "png"], ...] = ("pdf", "png")
PICTURE = re.compile(
    r'<figure[^>]*aria-label="([^"]*)"[^>]*>.*?data:image/svg\+xml;base64,([\w+/=]+)', re.DOTALL
)
UNIT = re.compile(r", (?:percent|points)$")
LONGEST_NAME = 80
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
NUMBER = r"[+-]?\d+(?:\.\d+)?"
NUMBERS = re.compile(
    rf"({NUMBER}) ?%?(?: \[({NUMBER}) ?(?:,|to|–) ?({NUMBER})\])?|({NUMBER}) (?:to|–) ({NUMBER})"
)


def figure_files(report: Report) -> Iterator[File]:
    """Each figure as SVG, PDF and PNG: `NAME` for a paper's column, `NAME-wide` for a page; and
    `figures.tex`, which includes the former, with captions.
    """
    included: list[str] = []
    for section, page in _pages(report):
        charts = [(chart.title, chart) for chart in charts_in(page)]
        for name, title, chart in _named(section, charts):
            wide = "-wide" if chart.size == "at-wide" else ""
            yield f"{name}{wide}.svg", chart.svg.encode()
            yield from ((f"{name}{wide}.{form}", chart.printed(form)) for form in CHART_FORMS)
            included += [] if wide else [_included(name, title)]
        for name, _, data in _named(section, PICTURE.findall(page)):
            yield f"{name}.svg", base64.b64decode(data)
    yield "figures.tex", "\n".join(included).encode()


def table_files(report: Report) -> Iterator[File]:
    """Each table as LaTeX, Markdown and CSV; methods as LaTeX and Markdown; `citation.bib`."""
    rows = methods_in(report)["table"]
    yield "main.tex", table_latex(rows, caption=caption(report), label="tab:main").encode()
    yield "main.md", table_markdown(rows).encode()
    yield "main.csv", table_csv(rows).encode()
    paragraph = methods_in(report)["paragraph"]
    yield "methods.tex", f"{escape_latex(paragraph)}\n".encode()
    yield "methods.md", f"{escape_markdown(paragraph)}\n".encode()
    yield "citation.bib", citation(report).encode()
    for section, page in _pages(report):
        if section == "methods":
            continue
        tables = [(table.caption, table) for table in tables_in(page)]
        for name, title, table in _named(section, tables):
            latex = latex_table(table.head, table.rows, texts=table.texts, caption=title, label=f"tab:{name}")
            yield f"{name}.tex", latex.encode()
            head = [escape_markdown(column) for column in table.head]
            yield f"{name}.md", markdown_table(head, table.rows, texts=table.texts).encode()
            yield f"{name}.csv", _csv(table).encode()


def citation(report: Report) -> str:
    """What was run, for BibTeX: Gnomon by its version, and the job by its spec's hash."""
    facts, job = report["integrity"], report["job"]
    seal = report["seal"]
    sealed = (seal["planned_at"] or "") if seal is not None else ""
    what = f"{job['name'] or job['benchmark']}: results on {job['benchmark']} ({job['benchmark_version']})"
    software = {"key": "Gnomon", "title": "Gnomon", "howpublished": f"Software, {facts['gnomon_version']}"}
    run = {"key": what, "title": what, "year": sealed[:4]}
    run["note"] = f"Gnomon job {job['id']}, spec {facts['spec_hash']}"
    return f"{_entry('gnomon', software)}\n{_entry(job['id'], run)}"


def _entry(name: str, fields: Mapping[str, str]) -> str:
    lines = [f"  {field} = {{{{{escape_latex(value)}}}}},\n" for field, value in fields.items() if value]
    return f"@misc{{{name},\n{''.join(lines)}}}\n"


def tables_in(page: str) -> list[PageTable]:
    """The tables within a part of a report's page.

    >>> [table] = tables_in('<div aria-label="Arms"><table><tr><th>Arm</th><th class="n">n</th></tr>'
    ...                     '<tr><td>a<br>b</td><td class="n">1</td></tr></table></div>')
    >>> table.caption, table.head, table.rows, table.texts
    ('Arms', ['Arm', 'n'], [['a b', '1']], 1)
    """
    reader = PageReader()
    reader.feed(page)
    return [block for block in reader.blocks if isinstance(block, PageTable)]


def _pages(report: Report) -> Iterator[tuple[str, str]]:
    for section in while_wanted(sections()):
        if not section.shown_in and not section.per_comparison:
            yield section.name, render_section(report, section.name)


def _named(section: str, pieces: Iterable[tuple[str, Piece]]) -> Iterator[tuple[str, str, Piece]]:
    """Pieces with their names and titles: the section's name, and its title where there are more."""
    titled = [(unescape(title), piece) for title, piece in pieces]
    is_alone = len({title for title, _ in titled}) == 1
    uses: Counter[tuple[str, str]] = Counter()
    for title, piece in titled:
        base = section if is_alone else f"{section}-{title}"
        name = re.sub(r"[^a-z0-9]+", "-", UNIT.sub("", base).lower()).strip("-")
        name = name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME].rpartition("-")[0]
        key = (name, getattr(piece, "size", ""))
        uses[key] += 1
        yield (name if uses[key] == 1 else f"{name}-{uses[key]}"), title, piece


def _included(name: str, title: str) -> str:
    return (
        f"\\begin{{figure}}\n\\centering\n\\includegraphics[width=\\columnwidth]{{{name}.pdf}}\n"
        f"\\caption{{{escape_latex(title)}.}}\n\\label{{fig:{name}}}\n\\end{{figure}}\n"
    )


def _csv(table: PageTable) -> str:
    """Numbers without marks of thousands; ends of intervals in columns of their own."""
    columns = [
        column
        for title, *cells in zip(table.head, *table.rows, strict=True)
        for column in _csv_columns(title, cells)
    ]
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(zip(*columns, strict=True))
    return file.getvalue()


def _csv_columns(title: str, cells: Sequence[str]) -> Iterator[list[str]]:
    """A column of numbers as up to three: values, and the ends of their intervals.

    >>> list(_csv_columns("Score", ["−1,200.5 [−2.0, +3.0]", "–"]))
    [['Score', '-1200.5', ''], ['Score low', '-2.0', ''], ['Score high', '3.0', '']]
    """
    plain = ["" if cell == "–" else THOUSANDS.sub("", cell.replace("−", "-")) for cell in cells]
    matches = [NUMBERS.fullmatch(cell) for cell in plain]
    if not any(matches) or any(cell and not match for cell, match in zip(plain, matches, strict=True)):
        yield [title, *(str(csv_cell(cell)) for cell in cells)]
        return
    parts = [match.groups() if match else (None,) * 5 for match in matches]
    triples = [(value, low or start, high or end) for value, low, high, start, end in parts]
    for name, column in zip(("", " low", " high"), zip(*triples, strict=True), strict=True):
        if any(column):
            yield [title + name, *((value or "").removeprefix("+") for value in column)]
