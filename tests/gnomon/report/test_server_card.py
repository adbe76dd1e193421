"""The card of a tool server: its verdict, the part of each tool, and what misleads, from made-up rows."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gnomon.core.row import Row
from gnomon.report.html import render_section
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.report.terminal import summary_text
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.preset import plan_arms
from gnomon_analyses.sections.server_card import servers_of
from gnomon_analyses.server_cards import ServerCard

SAMPLES = 40
TOOLS = ("distance", "interpolate", "lookup")


def score(arm: str, tools: tuple[str, ...], sample: int) -> float:
    """Distance carries the gain, interpolate spoils every fourth sample, lookup is never called."""
    if arm == "placebo":
        return float(sample % 8 == 0)
    if arm == "silent_faults":
        return float(sample % 4 in (2, 3))
    if arm == "schema_only" or "distance" not in tools:
        return float(sample % 4 == 0 and (arm == "schema_only" or "interpolate" not in tools))
    return float(not ("interpolate" in tools and sample % 4 == 0))


def rows_of(spec: JobSpec, a_row: Callable[..., Row], lost: str = "") -> Iterator[Row]:
    for arm in spec.arms:
        for sample in range(SAMPLES):
            is_hit = arm.faults is not None and sample % 4 in (1, 2)
            used = {
                name: {
                    "calls": 2,
                    "bad_arguments": int(sample == 0),
                    "errors": int(sample < 2),
                    **({"injected": 1} if is_hit else {}),
                }
                for name in arm.tools
                if name != "lookup" and arm.tool_choice != "none"
            }
            yield a_row(
                sample,
                arm.name,
                None if arm.name == lost else score(arm.name, arm.tools, sample),
                tools_used=used,
                tool_calls=2 * len(used),
                tools_offered=len(arm.tools),
                flags=("doubts_results",) if is_hit and sample % 8 == 1 else (),
                **({"stop_reason": "server:died"} if arm.name == lost else {}),
            )


@pytest.fixture(scope="module")
def planned(spec: Callable[..., JobSpec]) -> JobSpec:
    plan = plan_arms("mcp_card", {"tools": list(TOOLS)}, benchmark="worlds")
    return spec(
        arms=[arm.model_dump(mode="json") for arm in plan.arms],
        analysis={
            "preset": "mcp_card",
            "contrasts": [pair.model_dump(mode="json") for pair in plan.contrasts],
            "chain": list(plan.chain),
            "attribution": plan.attribution.model_dump() if plan.attribution else None,
        },
    )


@pytest.fixture(scope="module")
def report(report_of: Callable[..., Report], row: Callable[..., Row], planned: JobSpec) -> Report:
    return report_of(rows_of(planned, row), spec=planned)


@pytest.fixture(scope="module")
def card(report: Report) -> ServerCard:
    [card] = report["server_cards"]
    return card


def test_the_first_sentence_is_the_verdict_of_the_primary_comparison(
    report: Report, card: ServerCard
) -> None:
    primary = next(contrast for contrast in report["contrasts"] if contrast["family"] == "primary")
    assert (primary["baseline"], primary["variant"]) == ("raw", "live")
    assert (card["verdict"], card["diff"], card["ci95"]) == ("helps", primary["diff"], primary["ci95"])
    begins = "Our own tools help m: +50.0 points, 75.0 % with it against 25.0 % without (95 % interval "
    assert card["sentences"][0].startswith(begins)
    assert "40 samples in 40 clusters" in card["sentences"][0]


def test_each_tool_has_the_part_that_the_arms_show(card: ServerCard) -> None:
    roles = {tool["tool"]: tool["role"] for tool in card["tools"]}
    assert roles == {"distance": "carries", "interpolate": "hinders", "lookup": "never_called"}
    distance, interpolate, lookup = card["tools"]
    assert distance["leave_one_out_verdict"] == "helps"
    assert distance["shapley"] is not None
    assert distance["shapley"] > 0.5
    assert interpolate["leave_one_out"] == pytest.approx(-0.25)
    assert (lookup["calls"], lookup["trials"], lookup["shapley"]) == (0, 40, pytest.approx(0.0))
    assert sum(tool["schema_tokens"] for tool in card["tools"]) <= card["schema_tokens"]
    total = sum(tool["shapley"] or 0.0 for tool in card["tools"])
    assert total == pytest.approx(card["diff"])
    ends, adjusted = distance["shapley_ci95"], distance["shapley_ci95_adjusted"]
    assert ends is not None
    assert adjusted is not None
    assert adjusted[0] < ends[0]


def test_what_misleads_is_counted_out_of_what_was_right(card: ServerCard) -> None:
    found = {row["kind"]: (row["wrong"], row["right"], row["doubted"]) for row in card["misled"]}
    assert found["live"] == (10, 10, 0)  # every fourth sample, which is right without tools
    assert found["placebo"] == (5, 10, 0)
    assert found["silent_faults"] == (10, 20, 5)  # of those that met a fault
    assert "Misled: 10 of 10 samples that are right without tools are wrong with them." in card["sentences"]
    assert any("10 of 20" in text and "5 of them with a word of doubt" in text for text in card["sentences"])


def test_idle_schemas_and_failed_calls_have_their_denominators(card: ServerCard) -> None:
    never = next(text for text in card["sentences"] if text.startswith("Never called"))
    assert never.startswith("Never called in 40 trials (1 of 3 tools): lookup;")
    errors = {row["kind"]: (row["n"], row["of"], row["unit"]) for row in card["errors"]}
    # Each of two tools is in four sets; in each it is called twice on every sample, and fails on two of them.
    assert errors["calls that do not fit the schema"] == (2 * 4, 2 * 4 * 2 * SAMPLES, "calls")
    assert errors["calls that the tool could not answer"] == (2 * 4, 2 * 4 * 2 * SAMPLES, "calls")


def test_a_server_that_dies_is_no_verdict_and_its_trials_are_counted(
    report_of: Callable[..., Report], row: Callable[..., Row], planned: JobSpec
) -> None:
    [card] = report_of(rows_of(planned, row, lost="live"), spec=planned)["server_cards"]
    assert card["verdict"] == "undecided"
    assert card["sentences"][0].startswith("It cannot be told whether our own tools help m: ")
    lost = next(row for row in card["errors"] if row["kind"] == "trials lost: server:died")
    assert (lost["n"], lost["unit"]) == (40, "trials")


def test_the_card_is_in_every_form(report: Report, card: ServerCard) -> None:
    page = render_section(report, "server_card")
    assert "The card of our own tools, m" in page
    assert "carries the gain" in page
    assert page.count("<svg") == 2  # for wide and for narrow pages
    assert card["sentences"][0] in summary_text(report)
    assert "| lookup | never called |" in render_markdown(report)


def test_other_jobs_have_no_card(report_of: Callable[..., Report], row: Callable[..., Row]) -> None:
    report: Any = report_of([row(0, "raw"), row(0, "tools")])
    assert report["server_cards"] == []
    assert render_section(report, "server_card") == ""
    del report["server_cards"]  # a report of an older version
    assert render_section(report, "server_card") == ""


def test_servers_are_told_by_the_names_of_tools() -> None:
    assert servers_of(["git__log", "git__diff", "distance"]) == ["git", "gnomon"]
