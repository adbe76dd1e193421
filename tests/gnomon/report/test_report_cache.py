"""How many replies came from the cache stands in every form of the report, by arm, out of how many."""

from collections.abc import Callable

from gnomon.core.row import Row
from gnomon.report.html import render_html
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.report.text_formats import escape_markdown


def test_hits_are_told_by_arm_and_out_of_all_calls(
    report_of: Callable[..., Report], row: Callable[..., Row]
) -> None:
    report = report_of(
        [
            row(0, "raw", 1.0, model_calls=1, cache_hits=1),
            row(0, "tools", 1.0, model_calls=5, cache_hits=2),
            row(1, "tools", 0.0, model_calls=4, cache_hits=0),
        ]
    )
    assert [(arm["arm"], arm["cache_hits"], arm["model_calls"]) for arm in report["arms"]] == [
        ("raw", 1, 1),
        ("tools", 2, 9),
    ]
    assert (report["cost"]["cache_hits"], report["cost"]["model_calls"]) == (3, 10)
    by_arm = "3 of 10 (m / raw: 1 of 1, m / tools: 2 of 9)"
    assert f"- Replies from the cache: {escape_markdown(by_arm)}" in render_markdown(report)
    assert by_arm in render_html(report)


def test_without_hits_no_arm_is_listed(report_of: Callable[..., Report], row: Callable[..., Row]) -> None:
    report = report_of([row(0, "raw", 1.0, model_calls=1), row(0, "tools", 1.0, model_calls=5)])
    assert "- Replies from the cache: 0 of 6\n" in render_markdown(report)
    assert "0 of 6</dd>" in render_html(report)
