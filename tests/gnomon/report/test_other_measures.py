"""Other measures of a difference, each question as a dot, and how long it took, in every form."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gnomon.core.row import Row
from gnomon.report.html import render_section
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report

Reporter = Callable[..., Report]
Maker = Callable[..., Row]


@pytest.fixture(scope="module")
def right_or_wrong(report_of: Reporter, many: Callable[..., Iterator[Row]]) -> Report:
    return report_of(many(samples=80, arms=("raw", "tools")))


@pytest.fixture(scope="module")
def graded(report_of: Reporter, row: Maker) -> Report:
    scores = (
        (n, arm, (n % 10) / 10 if arm == "raw" else (n % 7) / 7)
        for n in range(70)
        for arm in ("raw", "tools")
    )
    return report_of(row(n, arm, score, cluster=f"c{n // 7}") for n, arm, score in scores)


def test_right_or_wrong_answers_have_ratios_and_graded_ones_have_none(
    right_or_wrong: Report, graded: Report
) -> None:
    [sizes] = right_or_wrong["effect_sizes"]
    assert [each["measure"] for each in sizes["measures"]] == [
        "relative risk",
        "odds ratio",
        "gain over headroom",
    ]
    [sizes] = graded["effect_sizes"]
    assert [each["measure"] for each in sizes["measures"]] == ["gain over headroom"]


def test_ratios_are_of_the_means_that_the_comparison_has(right_or_wrong: Report) -> None:
    [sizes], contrast = right_or_wrong["effect_sizes"], right_or_wrong["contrasts"][0]
    before, after = contrast["baseline_mean"], contrast["variant_mean"]
    assert before is not None
    assert after is not None
    risk, odds, headroom = (each["value"] for each in sizes["measures"])
    assert risk == pytest.approx(after / before)
    assert odds == pytest.approx(after / (1 - after) / (before / (1 - before)))
    assert headroom == pytest.approx((after - before) / (1 - before))


def test_subsets_are_tested_in_one_exploratory_sentence(right_or_wrong: Report) -> None:
    [sizes] = right_or_wrong["effect_sizes"]
    tested = sizes["heterogeneity"]
    assert tested is not None
    assert (tested["subsets"], tested["clusters"]) == (6, sizes["clusters"])
    assert tested["sentence"].startswith("Exploratory: over 6 subsets")
    assert tested["sentence"] in render_section(right_or_wrong, "effect_sizes")
    assert "Exploratory: over 6 subsets" in render_markdown(right_or_wrong)


def test_what_one_cluster_weighs_and_what_is_lost_is_said(report_of: Reporter, row: Maker) -> None:
    rows = [
        row(n, arm, 1.0, cluster="big" if n < 20 else f"c{n}") for n in range(40) for arm in ("raw", "tools")
    ]
    report = report_of([*rows, row(50, "raw", None), row(50, "tools", 1.0)])
    [sizes] = report["effect_sizes"]
    assert sizes["largest_cluster"] == pytest.approx(0.5)
    assert sizes["lost"] == pytest.approx([1 / 41, 0.0])
    page = render_section(report, "effect_sizes")
    assert "One of 21 clusters is 50.0 % of it." in page
    assert "2.4 % and 0.0 % of the trials of baseline and variant have no score." in page


def test_graded_questions_are_dots_and_none_is_left_out(graded: Report, right_or_wrong: Report) -> None:
    [drawn] = graded["question_dots"]
    assert sum(n for *_, n in drawn["dots"]) == drawn["n"] == 70
    page = render_section(graded, "question_dots")
    assert page.count('<circle class="dot ') == 2 * len(drawn["dots"])  # for wide and for narrow pages
    assert right_or_wrong["question_dots"] == []


def test_more_questions_than_can_be_drawn_share_places(report_of: Reporter, row: Maker) -> None:
    rows = (
        row(n, arm, ((n * step) % 1009) / 1009)
        for n in range(1000)
        for arm, step in (("raw", 1), ("tools", 37))
    )
    [drawn] = report_of(rows)["question_dots"]
    assert drawn["grid"] == 0.04
    assert len(drawn["dots"]) <= 26**2
    assert sum(n for *_, n in drawn["dots"]) == 1000


def test_seconds_are_told_by_percentile_of_trials_and_of_calls(report_of: Reporter, row: Maker) -> None:
    steps = [
        {"kind": "reply", "wall_s": 2.0, "cached": False},
        {"kind": "reply", "wall_s": 0.0, "cached": True},
        {"kind": "tool", "name": "bearing", "wall_s": 9.0},
    ]
    rows = [row(n, arm, 1.0, wall_s=float(n + 1)) for n in range(101) for arm in ("raw", "tools")]
    report = report_of(
        [*rows, row(200, "raw", 1.0, wall_s=999.0, cache_hits=1)], trace=lambda _: {"steps": steps}
    )
    raw, _ = report["latency"]
    assert raw["trials"] == {"n": 101, "p50": 51.0, "p90": 91.0, "p99": 100.0}
    assert raw["calls"] == {"n": 100, "p50": 2.0, "p90": 2.0, "p99": 2.0}
    assert raw["traces"] == 100
    assert "| m | raw | 51 | 91 | 100 | 101 | 2 | 2 | 2 | 100 in 100 |" in render_markdown(report)
    assert "100 in 100" in render_section(report, "latency")


def test_of_few_trials_no_slow_percentile_is_told(report_of: Reporter, pairs: Callable[..., Any]) -> None:
    raw, _ = report_of(pairs([(1, 1)] * 12))["latency"]
    assert raw["trials"]["p90"] is not None
    assert raw["trials"]["p99"] is raw["calls"]["p50"] is None
