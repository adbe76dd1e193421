"""What a difference costs stands beside it: ratios, what lost trials used, and the spec that matches it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from gnomon.core.row import Row
from gnomon.report.html import render_section
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.preset import expand_preset

Reporter = Callable[..., Report]
Maker = Callable[..., Row]


def rows_of(row: Maker, samples: int = 24, **of_tools: Any) -> Iterator[Row]:
    """Tools take three times the tokens or a little more or less, and score more."""
    for n in range(samples):
        yield row(n, "raw", float(n % 3 == 0), prompt_tokens=90 + n % 5)
        used = {"prompt_tokens": 300 + n % 7, "model_calls": 4, **of_tools}
        yield row(n, "tools", float(n % 3 > 0), **used)


def by_quantity(report: Report) -> dict[str, Any]:
    [price] = report["prices"]
    return {ratio["quantity"]: ratio for ratio in price["ratios"]}


def test_ratios_have_an_interval_and_are_of_the_means(report_of: Reporter, row: Maker) -> None:
    report = report_of(rows_of(row))
    tokens, calls = (by_quantity(report)[name] for name in ("tokens", "calls"))
    assert tokens["ratio"] == pytest.approx(tokens["variant"] / tokens["baseline"])
    assert tokens["ci95"][0] < tokens["ratio"] < tokens["ci95"][1]
    assert calls["ratio"] == 4
    assert by_quantity(report)["seconds"]["ratio"] == by_quantity(report)["dollars"]["ratio"] == 1
    assert "### At what price" in render_markdown(report)
    assert "answers at 3.1 times the tokens, 4 times the calls" in render_section(report, "prices")


def test_what_lost_trials_used_counts_where_it_is_known(report_of: Reporter, row: Maker) -> None:
    used = {"prompt_tokens": 990, "completion_tokens": 10, "model_calls": 1}
    lost = [row(99, "raw", None, **used), row(99, "tools", None, **{**used, "prompt_tokens": 9_990})]
    plain = by_quantity(report_of(rows_of(row)))["tokens"]
    known = by_quantity(report_of([*rows_of(row), *lost]))["tokens"]
    assert known["n"] == plain["n"] + 1
    assert known["variant"] == pytest.approx((24 * plain["variant"] + 10_000) / 25)
    untold = row(99, "tools", None, prompt_tokens=None)
    unknown = by_quantity(report_of([*rows_of(row), lost[0], untold]))["tokens"]
    assert unknown["ratio"] == plain["ratio"]
    assert (unknown["lost_unknown"], unknown["unknown"]) == (1, 0)


def test_what_a_scored_trial_does_not_tell_is_unknown_and_never_zero(report_of: Reporter, row: Maker) -> None:
    rows = [*rows_of(row, usd=None)]
    report = report_of(rows)
    dollars = by_quantity(report)["dollars"]
    assert (dollars["ratio"], dollars["baseline"], dollars["unknown"]) == (None, None, 24)
    assert "dollars of 24 scored trials are unknown" in render_markdown(report)
    assert "dollars of 24 scored trials are unknown" in render_section(report, "prices")
    assert by_quantity(report)["tokens"]["ratio"] is not None


def test_replies_from_the_cache_tell_no_seconds_and_no_dollars(report_of: Reporter, row: Maker) -> None:
    rows = [*rows_of(row), row(99, "raw", 1.0, cache_hits=1, wall_s=0.0, usd=0.0), row(99, "tools", 1.0)]
    ratios = by_quantity(report_of(rows))
    assert (ratios["seconds"]["cached"], ratios["seconds"]["n"], ratios["seconds"]["ratio"]) == (1, 24, 1)
    assert (ratios["tokens"]["cached"], ratios["tokens"]["n"]) == (0, 25)


def test_points_per_1000_tokens_are_told_where_they_are_no_noise(report_of: Reporter, row: Maker) -> None:
    [price] = report_of(rows_of(row))["prices"]
    gained = price["gain_per_1000_tokens"]
    extra = by_quantity(report_of(rows_of(row)))["tokens"]
    assert gained["value"] == pytest.approx((1 / 3) / ((extra["variant"] - extra["baseline"]) / 1000))
    assert gained["ci95"][0] < gained["value"] < gained["ci95"][1]
    alike = [
        row(n, arm, 1.0, prompt_tokens=90 + (n + at) % 5)
        for n in range(25)
        for at, arm in ((0, "raw"), (1, "tools"))
    ]
    [price] = report_of(alike)["prices"]
    assert price["gain_per_1000_tokens"]["value"] is None
    assert price["gain_per_1000_tokens"]["note"]


def test_the_job_is_offered_the_spec_that_matches_its_tokens(
    report_of: Reporter, row: Maker, spec: Callable[..., JobSpec]
) -> None:
    planned = spec(
        arms=[
            {"name": "raw", "agent": "direct"},
            {"name": "tools", "agent": "react", "tools": ["speed", "bearing"], "max_tool_calls": 5},
        ]
    )
    report = report_of(rows_of(row), spec=planned)
    [price] = report["prices"]
    lines = price["matched_compute"]
    assert lines in render_markdown(report)
    written = yaml.safe_load(lines)["arms"]
    assert (written["preset"], written.pop("tokens_from"), written.pop("tokens_arm")) == (
        "matched_compute",
        "j",
        "tools",
    )
    whole = {
        **planned.model_dump(mode="json", exclude={"analysis"}),
        "benchmark": "worlds",
        "arms": {**written, "tokens": 305},
    }
    matched = JobSpec.model_validate(expand_preset(whole))
    assert matched.arm("tools").tools == planned.arm("tools").tools
    assert matched.arm("tools").max_tool_calls == 5
    assert matched.arm("matched").max_tokens == 305


@pytest.mark.parametrize(
    ("changes", "of_tools"),
    [
        ({"status": "running"}, {}),
        ({}, {"prompt_tokens": 90}),  # tools take no more tokens
        ({}, {"prompt_tokens": None}),
    ],
)
def test_where_it_does_not_fit_it_is_not_offered(
    report_of: Reporter, row: Maker, changes: dict[str, Any], of_tools: dict[str, Any]
) -> None:
    [price] = report_of(rows_of(row, **of_tools), **changes)["prices"]
    assert price["matched_compute"] == ""


def test_no_spec_is_offered_where_the_tools_are_no_live_ones(
    report_of: Reporter, row: Maker, spec: Callable[..., JobSpec]
) -> None:
    arms = [
        {"name": "raw", "agent": "direct"},
        {"name": "tools", "agent": "react", "tools": ["bearing"], "results": "neutral"},
    ]
    [price] = report_of(rows_of(row), spec=spec(arms=arms))["prices"]
    assert price["matched_compute"] == ""


def test_no_figure_beside_a_difference_says_more_of_its_sign_than_the_difference_does(
    report_of: Reporter, row: Maker
) -> None:
    rows = [replace(each, cluster=f"c{int(each.sample_id[1:]) // 7}") for each in rows_of(row)]
    report = report_of(rows)
    [contrast] = [each for each in report["contrasts"] if each["scope"] == "all"]
    assert (contrast["verdict"], contrast["ci95"]) == ("undecided", [-1.0, 1.0])
    assert report["prices"][0]["gain_per_1000_tokens"]["ci95"][0] == 0.0
    ends = [each["ci95"] for each in report["effect_sizes"][0]["measures"]]
    assert all(each is None or each[0] <= null <= each[1] for each, null in zip(ends, (1, 1, 0), strict=True))


def test_what_a_sentence_withholds_no_table_tells(report_of: Reporter, row: Maker) -> None:
    lost = {"outcome": "infra_missing", "stop_reason": "provider:rate_limit", "score": None}
    rows = [
        replace(each, **lost) if each.arm == "tools" and n % 4 == 1 else each
        for n, each in enumerate(rows_of(row, 60))
    ]
    report = report_of(rows)
    [contrast] = [each for each in report["contrasts"] if each["scope"] == "all"]
    assert contrast["withheld"]
    told = render_markdown(report)
    assert "| all | Undecided | – | – | 30 (30) |" in told
    assert told.count("| withheld |") == 4  # three measures, and the paper's table
    assert "Points per 1,000 extra tokens: withheld." in told
    assert f"{100 * contrast['diff']:.1f}" not in render_section(report, "contrasts")
    assert "withheld" in render_section(report, "prices")
