"""The report's section on difficulty: named levels, with each arm's score and each difference at them."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import cast

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


def cells(page: str, table: str) -> list[list[str]]:
    """The words in the cells of the table of that name, row by row, heading first."""
    (body,) = re.findall(f'aria-label="{table}"><table>(.*?)</table>', page, re.DOTALL)
    rows = re.findall("<tr>(.*?)</tr>", body, re.DOTALL)
    return [
        [
            " ".join(re.sub("<[^>]+>", " ", cell).split())
            for cell in re.findall("<t[hd][ >].*?</t[hd]>", row, re.DOTALL)
        ]
        for row in rows
    ]


def without_order(report: Report) -> Report:
    """The report with names of levels that have no order of their own."""
    text = json.dumps(report).replace('"easy"', '"day"').replace('"hard"', '"night"')
    return cast(Report, json.loads(text))


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
    assert cells(page, "Score by level")[0] == ["arm", "easy 10 samples", "hard 10 samples"]
    assert cells(page, "Differences by level")[1][1].startswith("+20.0")
    assert "Score by level" in render_markdown(leveled)
    assert "Differences by level" in render_markdown(leveled)


def test_a_single_level_is_no_table(report_of: Reporter, pairs: Pairs) -> None:
    report = report_of(with_levels(pairs([(0, 1)] * 10), set()))
    assert report["difficulty_levels"] == []
    assert "Score by level" not in render_markdown(report)


@pytest.fixture
def partial(report_of: Reporter, pairs: Pairs) -> Report:
    """Ten easy samples, ten hard ones and one odd one; the baseline lost all easy trials and one hard one."""
    scores = [(None, 1)] * 10 + [(0, 1)] * 4 + [(1, 0)] * 5 + [(None, 0)]
    rows = with_levels(pairs([*scores, (1, 1)]), {f"s{index:03d}" for index in range(10)})
    return report_of(
        [replace(row, metrics={"feature: level": "odd"}) if row.sample_id == "s020" else row for row in rows]
    )


def test_an_arm_without_a_level_has_a_dash_there_and_its_other_scores_under_their_own_headings(
    partial: Report,
) -> None:
    page = render_html(partial)
    means = cells(page, "Score by level")
    assert means[0] == ["arm", "easy 10 samples", "hard 9 to 10 samples"]
    assert [row[:2] for row in means[1:]] == [["raw", "–"], ["tools", means[2][1]]]
    assert means[2][1].startswith("100.0")
    assert [re.findall(r"^[\d.]+|\d+ samples", row[2]) for row in means[1:]] == [
        ["55.6", "9 samples"],
        ["40.0", "10 samples"],
    ]
    assert "fewer than 8 samples" in page
    assert not re.search(r"\bodd\b", page)


def test_a_comparison_has_no_difference_at_a_level_that_one_of_its_arms_lacks(partial: Report) -> None:
    (compared,) = partial["difficulty_level_differences"]
    assert [(part["level"], part["n"], round(part["diff"], 3)) for part in compared["levels"]] == [
        ("hard", 9, -0.111)
    ]
    differences = cells(render_html(partial), "Differences by level")
    assert differences[0] == ["difference, points", "easy", "hard 9 samples"]
    assert differences[1][1] == "–"
    assert differences[1][2].startswith("−11.1")


def test_fewer_than_eight_samples_of_an_arm_give_it_no_score(report_of: Reporter, pairs: Pairs) -> None:
    scores = [(1, 1)] * 10 + [(None, 0)] * 9 + [(1, 0)]
    rows = with_levels(pairs(scores), {f"s{index:03d}" for index in range(10)})
    report = report_of(rows)
    levels = {row["arm"]: [part["level"] for part in row["levels"]] for row in report["difficulty_levels"]}
    assert levels == {"raw": ["easy"], "tools": ["easy", "hard"]}


def test_an_arm_or_comparison_without_any_level_has_no_row(report_of: Reporter, pairs: Pairs) -> None:
    rows = with_levels(pairs([(None, 1)] * 10 + [(None, 0)] * 10), {f"s{index:03d}" for index in range(10)})
    report = report_of(rows)
    assert [row["arm"] for row in report["difficulty_levels"]] == ["tools"]
    assert report["difficulty_level_differences"] == []
    assert [row[0] for row in cells(render_html(report), "Score by level")] == ["arm", "tools"]
    assert "Differences by level" not in render_markdown(report)


def test_the_easiest_level_is_that_of_the_arms_that_have_all_levels(
    report_of: Reporter, pairs: Pairs
) -> None:
    scores = [(0, 1)] * 10 + [(None, 1)] * 8 + [(None, 0)] * 2  # all together: easy 50 %, hard 80 %
    report = report_of(with_levels(pairs(scores), {f"s{index:03d}" for index in range(10)}))
    assert [part["level"] for part in report["difficulty_levels"][1]["levels"]] == ["easy", "hard"]


def test_levels_of_generated_questions_keep_their_order_whatever_the_scores(
    report_of: Reporter, pairs: Pairs
) -> None:
    levels = ["hard", "medium", "as it comes", "easy"]  # from the best score to the worst
    scores = [(1, 1)] * 8 + [(1, 1)] * 4 + [(0, 1)] * 4 + [(0, 1)] * 8 + [(0, 0)] * 8
    rows = [
        replace(row, metrics={"feature: level": levels[int(row.sample_id[1:]) // 8]}) for row in pairs(scores)
    ]
    report = report_of(rows)
    in_order = ["as it comes", "easy", "medium", "hard"]
    for row in (*report["difficulty_levels"], *report["difficulty_level_differences"]):
        assert [part["level"] for part in row["levels"]] == in_order
    page = render_html(report)
    assert cells(page, "Score by level")[0][1:] == [f"{level} 8 samples" for level in in_order]
    assert "do best at" not in page


def test_a_stored_report_that_began_with_the_best_level_is_drawn_in_the_levels_order(leveled: Report) -> None:
    rows = [{**row, "levels": row["levels"][::-1]} for row in leveled["difficulty_levels"]]
    page = render_html(cast(Report, {**leveled, "difficulty_levels": rows}))
    assert cells(page, "Score by level")[0] == ["arm", "easy 10 samples", "hard 10 samples"]


def test_levels_without_an_order_of_their_own_begin_with_the_one_that_arms_with_all_levels_do_best_at(
    report_of: Reporter, pairs: Pairs
) -> None:
    scores = [(0, 1)] * 10 + [(None, 1)] * 8 + [(None, 0)] * 2  # all together: night 50 %, day 80 %
    rows = [
        replace(row, metrics={"feature: light": "night" if row.sample_id < "s010" else "day"})
        for row in pairs(scores)
    ]
    report = report_of(rows)
    assert [part["level"] for part in report["difficulty_levels"][1]["levels"]] == ["night", "day"]
    assert "do best at" in render_html(report)


def test_the_order_of_levels_is_that_of_all_rows_also_where_the_first_row_lacks_the_first_level(
    leveled: Report,
) -> None:
    report = without_order(leveled)
    first, *others = report["difficulty_levels"]
    rows = [{**first, "levels": first["levels"][1:]}, *others]
    page = render_html(cast(Report, {**report, "difficulty_levels": rows}))
    assert cells(page, "Score by level")[0] == ["arm", "day 10 samples", "night 10 samples"]
    assert cells(page, "Score by level")[1][1] == "–"


def test_a_report_whose_rows_of_levels_are_empty_is_drawn_without_them(leveled: Report) -> None:
    rows = [{**row, "levels": []} for row in leveled["difficulty_levels"]]
    assert "Score by difficulty" not in render_html(cast(Report, {**leveled, "difficulty_levels": rows}))


def test_samples_without_a_level_count_nowhere(report_of: Reporter, pairs: Pairs) -> None:
    rows = with_levels(pairs([(0, 1)] * 20), {f"s{index:03d}" for index in range(8)})
    unnamed = [replace(row, metrics={}) if row.sample_id >= "s016" else row for row in rows]
    report = report_of(unnamed)
    assert [part["n"] for part in report["difficulty_levels"][0]["levels"]] == [8, 8]
    assert report_of(replace(row, metrics={}) for row in rows)["difficulty_levels"] == []


def test_the_markdown_names_the_feature_of_each_difference(report_of: Reporter, pairs: Pairs) -> None:
    rows = [
        replace(row, metrics={**row.metrics, "feature: light": "day" if row.sample_id < "s010" else "night"})
        for row in with_levels(pairs([(0, 1)] * 10 + [(0, 0)] * 10), {f"s{n:03d}" for n in range(10)})
    ]
    report = report_of(rows)
    assert all(f"**Differences by {feature}**" in render_markdown(report) for feature in ("level", "light"))
    page = render_html(report)
    assert cells(page, "Differences by light")[0] == [
        "difference, points",
        "day 10 samples",
        "night 10 samples",
    ]
    assert "<h3>light</h3>" in page


def test_a_stored_report_whose_rows_order_levels_otherwise_is_drawn_in_the_first_rows_order(
    leveled: Report,
) -> None:
    report = without_order(leveled)
    first, second = report["difficulty_levels"]
    stored = cast(
        Report, {**report, "difficulty_levels": [first, {**second, "levels": second["levels"][::-1]}]}
    )
    heading, *_ = cells(render_html(stored), "Score by level")
    assert heading == ["arm", "day 10 samples", "night 10 samples"]
