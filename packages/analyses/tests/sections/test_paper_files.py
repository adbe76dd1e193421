"""Each figure and each table of a report is a file of its own, which a paper can take as it is."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PIL import Image

from gnomon.core.row import Row
from gnomon.report.report import Report
from gnomon.spec.job_spec import JobSpec
from gnomon_analyses.paper.paper_files import figure_files, table_files

Files = dict[str, bytes]
NAME = "tools & 50% {x} <b>"


@pytest.fixture(scope="module")
def report(
    report_of: Callable[..., Report], many: Callable[..., Iterator[Row]], spec: Callable[..., JobSpec]
) -> Report:
    arms = [{"name": "raw", "agent": "direct"}, {"name": NAME, "agent": "react", "tools": ["bearing"]}]
    rows = list(many(samples=60, arms=("raw", NAME), repeats=2, seed=4))
    return report_of(rows, spec=spec(arms=arms, repeats=2), planned=len(rows))


@pytest.fixture(scope="module")
def figures(report: Report) -> Files:
    return dict(figure_files(report))


@pytest.fixture(scope="module")
def tables(report: Report) -> Files:
    return dict(table_files(report))


def test_each_figure_is_there_in_three_forms_and_two_widths(figures: Files) -> None:
    names = {name.removesuffix(".svg") for name in figures if name.endswith(".svg")}
    assert {"arms", "arms-wide"} <= names
    assert {f"{name}.{form}" for name in names for form in ("svg", "pdf", "png")} == {*figures} - {
        "figures.tex"
    }
    for name in names:
        svg = ET.fromstring(figures[f"{name}.svg"])
        assert svg.get("width") == ("174mm" if name.endswith("-wide") else "84mm")
        assert "var(" not in figures[f"{name}.svg"].decode()
        assert figures[f"{name}.pdf"].startswith(b"%PDF")
        assert f"{{{name}.pdf}}" in figures["figures.tex"].decode() or name.endswith("-wide")


def test_nothing_of_a_picture_is_cut_at_its_edges(figures: Files) -> None:
    for name, content in figures.items():
        if name.endswith(".png"):
            drawn = np.asarray(Image.open(io.BytesIO(content)).convert("RGBA"))[..., 3]
            assert drawn.any(), name
            assert not any(edge.any() for edge in (drawn[0], drawn[-1], drawn[:, 0], drawn[:, -1])), name
            assert drawn.shape[1] == pytest.approx((174 if "-wide" in name else 84) / 25.4 * 600, abs=2)


def test_a_pdf_holds_its_letters_and_their_fonts(figures: Files) -> None:
    assert b"LibertinusSerif" in figures["arms.pdf"]


def test_each_table_is_there_in_three_forms_and_latex_cannot_be_broken_by_a_name(tables: Files) -> None:
    names = {name.removesuffix(".csv") for name in tables if name.endswith(".csv")}
    assert {"main", "arms", "cost", "latency"} <= names
    for name in names:
        head, *rows = csv.reader(io.StringIO(tables[f"{name}.csv"].decode()))
        assert rows
        assert {len(row) for row in rows} == {len(head)}
        latex = tables[f"{name}.tex"].decode()
        lines = [line for line in latex.splitlines() if line.endswith(r" \\")]
        assert len({len(re.findall(r"(?<!\\)&", line)) for line in lines}) == 1
        assert not re.search(r"(?<!\\)[%#_]|\\\\\[", latex)
        assert latex.count("{") == latex.count("}")
        assert rf"\label{{tab:{name}}}" in latex
        assert tables[f"{name}.md"].decode().count("\n") == len(rows) + 2
    assert r"tools \& 50\% \{x\} \textless{}b\textgreater{}" in tables["arms.tex"].decode()


def test_numbers_of_a_table_are_those_of_the_report(tables: Files, report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(tables["arms.csv"].decode())))
    for row, arm in zip(rows, report["arms"], strict=True):
        assert row["Arm"] == arm["arm"]
        assert arm["aggregate"] is not None
        assert float(row["Primary metric"]) == pytest.approx(100 * arm["aggregate"], abs=0.05)
        assert arm["aggregate_ci95"] is not None
        assert float(row["95 % low"]) == pytest.approx(100 * arm["aggregate_ci95"][0], abs=0.05)


def test_methods_and_citation_stand_beside_the_tables(tables: Files, report: Report) -> None:
    assert report["integrity"]["spec_hash"] in tables["citation.bib"].decode()
    assert "question by question" in tables["methods.tex"].decode()
