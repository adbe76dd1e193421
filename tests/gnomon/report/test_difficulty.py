"""The report's section on difficulty: named levels, with each arm's score and each difference at them."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from gnomon.core.row import Row
from gnomon.report.html import render_html
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report

Pairs = Callable[..., Iterator[Row]]
Reporter = Callable[..., Report]


def with_levels(rows: Iterator[Row], easy: set[str]) -> list[Row]:
    """The rows, whose samples are easy or hard."""
    return [
        replace(row, metrics={"feature: level": "easy" if row.sample_id in easy else "hard"}) for row in rows
    ]


@pytest.fixture
def leveled(report_of: Reporter, pairs: Pairs) -> Report:
    """Ten easy samples, of which the variant repairs two; ten hard ones, all wrong but one under both."""
    scores = [(0, 1)] * 2 + [(1, 1)] * 8 + [(0, 0)] * 9 + [(1, 1)]
    easy = {f"s{index:03d}" for index in range(10)}
    return report_of(with_levels(pairs(scores), easy))


def test_each_arm_has_its_score_at_each_level_the_easiest_first(leveled: Report) -> None:
    means = {
        row["arm"]: [(part["level"], part["n"], round(part["mean"], 3)) for part in row["levels"]]
        for row in leveled["difficulty_levels"]
    }
    assert list(means.values()) == [
        [("easy", 10, 0.8), ("hard", 10, 0.1)],
        [("easy", 10, 1.0), ("hard", 10, 0.1)],
    ]


def test_each_comparison_has_its_difference_at_each_level(leveled: Report) -> None:
    (compared,) = leveled["difficulty_level_differences"]
    parts = [(part["level"], part["n"], round(part["diff"], 3)) for part in compared["levels"]]
    assert parts == [("easy", 10, 0.2), ("hard", 10, 0.0)]
    for part in compared["levels"]:
        assert part["ci95"] is not None
        assert part["ci95"][0] <= part["diff"] <= part["ci95"][1]


def test_the_page_and_the_markdown_show_levels(leveled: Report) -> None:
    page = render_html(leveled)
    assert "easy (10 samples)" in page
    assert "hard (10 samples)" in page
    assert "Score by level" in render_markdown(leveled)
    assert "Differences by level" in render_markdown(leveled)


def test_a_single_level_is_no_table(report_of: Reporter, pairs: Pairs) -> None:
    report = report_of(with_levels(pairs([(0, 1)] * 10), set()))
    assert report["difficulty_levels"] == []
    assert "Score by level" not in render_markdown(report)
