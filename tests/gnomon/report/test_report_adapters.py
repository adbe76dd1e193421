"""What a provider's adapter changed in requests stands in every form of the report, by arm, of how many."""

from collections.abc import Callable

from gnomon.core.row import Row
from gnomon.report.html import render_html
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report


def test_changes_are_named_in_plain_words_by_arm_with_their_denominator(
    report_of: Callable[..., Report], row: Callable[..., Row]
) -> None:
    report = report_of(
        [
            row(0, "raw", 1.0),
            row(0, "tools", 1.0, flags=("adapter:tool_choice", "adapter:reasoning")),
            row(1, "tools", 0.0, flags=("adapter:reasoning",)),
        ]
    )
    changes = report["integrity"]["adapter_changes"]
    assert [(one["arm"], one["trials"], one["all_trials"]) for one in changes] == [
        ("tools", 2, 2),
        ("tools", 1, 2),
    ]
    line = "m / tools: the adapter of the provider changed the model's earlier reasoning in 2 of 2 trials"
    assert line in render_markdown(report)
    assert "<b>whether the model must call a tool</b> in 1 of 2 trials" in render_html(report)


def test_where_nothing_was_changed_nothing_is_said(
    report_of: Callable[..., Report], row: Callable[..., Row]
) -> None:
    report = report_of([row(0, "raw", 1.0), row(0, "tools", 1.0)])
    assert report["integrity"]["adapter_changes"] == []
    assert "adapter" not in render_markdown(report)


def test_tokens_of_reasoning_and_of_the_providers_cache_are_told_apart(
    report_of: Callable[..., Report], row: Callable[..., Row]
) -> None:
    known = {"prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 64, "reasoning_tokens": 12}
    report = report_of(
        [row(0, "raw", 1.0, **known), row(0, "tools", 1.0, prompt_tokens=1, completion_tokens=1)]
    )
    raw, tools = report["cost"]["by_arm"]
    assert (raw["cached_tokens"], raw["reasoning_tokens"]) == (64, 12)
    assert (tools["reasoning_tokens"], tools["reasoning_tokens_unknown"]) == (None, 1)
    assert (report["cost"]["known_reasoning_tokens"], report["cost"]["reasoning_tokens"]) == (12, None)
    assert "Of the completion, reasoning" in render_html(report)
    assert (raw["cached_share"], tools["cached_share"], report["cost"]["cached_share"]) == (0.64, None, None)
    assert "64 (64.0 %)" in render_html(report)
    assert "| 100 | 20 | 64 (64.0 %) | 12 |" in render_markdown(report)
