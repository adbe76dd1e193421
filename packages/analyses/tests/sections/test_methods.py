"""The paragraph and the table for a paper say what the report says, and no other number."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from gnomon.core.row import Row
from gnomon.core.seal import PlannedSamples, next_line, plan_body
from gnomon.report.html import render_section
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.report.text_formats import p_text, percent, points
from gnomon.spec.job_spec import JobSpec
from gnomon_analyses.sections.methods import methods_text
from tests.gnomon.report.conftest import a_row

Reporter = Callable[..., Report]
Rows = Callable[..., Iterator[Row]]
NUMBER = re.compile(r"[+−]?\d+(?:,\d{3})*(?:\.\d+)?")
OWN = {"90", "95", "8", "10"}  # of "90 % interval", "95 % interval" and "8 of 10 cases"


@pytest.fixture(scope="module")
def planned(spec: Callable[..., JobSpec]) -> JobSpec:
    return spec(
        models=[{"id": "openai/m-2", "name": "m", "temperature": 0.25, "max_tokens": 2048}],
        arms=[
            {"name": "raw", "agent": "direct"},
            {"name": "tools", "agent": "react", "tools": ["bearing"]},
            {"name": "more & 50%", "agent": "react", "tools": ["bearing"], "max_tool_calls": 9},
        ],
        repeats=2,
        analysis={"primary": ["raw", "tools"]},
    )


@pytest.fixture(scope="module")
def report(report_of: Reporter, many: Rows, planned: JobSpec) -> Report:
    arms = [arm.name for arm in planned.arms]
    rows = [
        replace(row, prompt_tokens=100 if row.arm == "raw" else 463)
        for row in many(samples=150, arms=arms, repeats=2, seed=4)
    ]
    assert any(row.score is None for row in rows)
    body = plan_body(
        job_id="j",
        at="2026-01-02T03:04:05Z",
        spec=planned.model_dump(mode="json"),
        samples=PlannedSamples(),
        trials=len(rows),
    )
    return report_of(rows, spec=planned, planned=len(rows), seal=[next_line([], "planned", body)])


def numbers_of(value: Any) -> Iterator[str]:
    """Every number of a report as a reader may see it, and those within its texts."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from NUMBER.findall(name)
            yield from numbers_of(item)
    elif isinstance(value, str):
        yield from NUMBER.findall(value)
    elif isinstance(value, Sequence):
        yield f"{len(value):,}"
        for item in value:
            yield from numbers_of(item)
    elif isinstance(value, (int, float)):
        yield from (f"{value:,}", f"{value:g}", f"{value:.2g}", points(value), percent(value))
        yield from NUMBER.findall(p_text(value))


def test_each_number_of_the_paragraph_stands_in_the_report(report: Report) -> None:
    numbers = NUMBER.findall(report["methods"]["paragraph"])
    others = {name: part for name, part in report.items() if name != "methods"}
    in_report = {*numbers_of(others), *numbers_of(report["methods"]["models"])} | OWN
    in_report |= {f"{report['methods']['alpha']:g}"}
    trials = report["denominators"]["trials"]
    in_report |= {percent(trials["infra_missing"] / trials["finished"])}
    primary = [contrast for contrast in report["contrasts"] if contrast["family"] == "primary"]
    in_report |= {str(len(primary)), str(len(report["contrasts"]) - len(primary))}
    assert len(numbers) > 30
    assert [number for number in numbers if number not in in_report] == []


def test_the_figures_of_the_comparison_are_those_of_the_report(report: Report) -> None:
    [primary] = [contrast for contrast in report["contrasts"] if contrast["family"] == "primary"]
    assert primary["diff"] is not None
    assert primary["ci95"] is not None
    low, high = map(points, primary["ci95"])
    paragraph = report["methods"]["paragraph"]
    assert (
        f"{points(primary['diff'])} points, 95 % interval {low} to {high}, p {p_text(primary['p'])}"
        in paragraph
    )
    assert f"{primary['n']} questions in {primary['clusters']} clusters" in paragraph
    assert f"test: {primary['test']}" in paragraph
    assert f"95 % interval: {primary['interval_method']}." in paragraph
    assert "“tools” answers at 4.3 times the tokens" in paragraph
    assert report["plan"]["adjustment"] in paragraph
    assert report["plan"]["margin_text"] in paragraph
    assert report["integrity"]["spec_hash"] in paragraph


def test_models_are_told_with_what_was_set(report: Report) -> None:
    [used] = report["methods"]["models"]
    assert used["decoding"] == "temperature 0.25, max_tokens 2,048"
    assert (
        "m (openai/m-2), whose version was not told, with temperature 0.25" in report["methods"]["paragraph"]
    )


def test_it_says_whether_the_plan_was_there_before_the_answers(
    report: Report, report_of: Reporter, many: Rows, planned: JobSpec, spec: Callable[..., JobSpec]
) -> None:
    sealed = "declared before any answer (sealed 2026-01-02T03:04:05Z)"
    assert sealed in report["methods"]["paragraph"]
    rows = list(many(samples=20, arms=("raw", "tools")))
    assert "whether it was made before any answer is not known" in report_of(rows)["methods"]["paragraph"]
    imported = spec(arms=[{"name": arm, "agent": "imported"} for arm in ("raw", "tools")])
    told = report_of(rows, spec=imported)["methods"]
    assert told["paragraph"].startswith("We imported runs of the arms")
    assert (
        "The answers were imported: whether the plan was made before them is not known" in told["paragraph"]
    )
    assert told["models"][0]["decoding"] == "decoding that is not known"
    again = next_line([], "imported", {"at": "2026-01-02T03:04:05Z"})
    told = report_of(rows, seal=[again])["methods"]
    assert "The plan was sealed after the answers were there." in told["paragraph"]


def test_the_table_has_a_row_for_each_arm_with_what_it_is_compared_with(report: Report) -> None:
    rows = report["methods"]["table"]
    whole = {one["variant"]: one for one in report["contrasts"] if one["scope"] == "all"}
    assert [(row["arm"], row["against"]) for row in rows] == [
        ("raw", None),
        ("tools", "raw"),
        ("more & 50%", "raw"),
    ]
    assert [row["family"] for row in rows] == [None, "primary", "exploratory"]
    for row, arm in zip(rows, report["arms"], strict=True):
        assert (row["score"], row["n"]) == (arm["aggregate"], arm["n"])
        contrast = whole.get(row["arm"])
        assert row["difference"] == (contrast["diff"] if contrast else None)
        assert row["p_adjusted"] == (contrast["p_adjusted"] if contrast else None)


def test_every_form_has_the_table(report: Report) -> None:
    [_, tools, _] = report["methods"]["table"]
    difference = f"{points(tools['difference'] or 0)} \\["
    assert f"| {difference}".replace("+", "\\+") in render_markdown(report)
    assert "## For a paper" in render_markdown(report)
    assert points(tools["difference"] or 0) in render_section(report, "methods")
    read = list(csv.DictReader(io.StringIO(methods_text(report, "csv"))))
    assert [line["arm"] for line in read] == ["raw", "tools", "more & 50%"]
    assert float(read[1]["difference"]) == tools["difference"]
    assert read[0]["difference"] == read[0]["difference_low"] == ""


def test_latex_has_as_many_cells_in_every_row_and_names_cannot_break_it(report: Report) -> None:
    text = methods_text(report, "tex")
    assert r"more \& 50\%" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
    table = text[text.index(r"\toprule") :]
    lines = [line for line in table.splitlines() if line.endswith(r" \\")]
    assert len(lines) == 1 + len(report["methods"]["table"])
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {8}
    assert not re.search(r"(?<!\\)[%#_]", text)
    assert text.isascii()


def test_a_job_that_has_not_ended_says_so_and_one_without_rows_has_a_paragraph(
    report_of: Reporter, many: Rows
) -> None:
    rows = list(many(samples=10, arms=("raw", "tools")))
    paragraph = report_of(rows, status="running", planned=100)["methods"]["paragraph"]
    assert "The job is running: 20 of 100 trials have ended." in paragraph
    assert "No trial has ended." in report_of([], status="queued", planned=100)["methods"]["paragraph"]


def test_a_withheld_difference_is_in_neither(
    report_of: Reporter, pairs: Callable[..., Iterator[Row]]
) -> None:
    report = report_of(pairs([(1, 1), (0, 1)] * 10 + [(1, None), (0, None)] * 20))
    assert report["contrasts"][0]["withheld"]
    row = report["methods"]["table"][1]
    assert (row["difference"], row["withheld"]) == (None, True)
    assert "no figure is given" in report["methods"]["paragraph"]
    assert "withheld" in render_section(report, "methods")


def test_clusters_are_told_by_both_factors(report_of: Reporter, pairs: Rows) -> None:
    rows = [
        replace(row, cluster=f'["scene{sample // 3}","template{sample % 3}"]')
        for row in pairs([(0, 1), (1, 1)] * 12)
        for sample in [int(row.sample_id[1:])]
    ]
    found = report_of(rows)
    assert found["denominators"]["crossing_clusters"] == 3
    paragraph = found["methods"]["paragraph"]
    assert "24 questions in 1 subset and 8 clusters by one factor, 3 by another" in paragraph
    assert "with clusters of two crossed factors as independent units" in paragraph
    assert "24 (8 × 3)" in render_section(found, "contrasts")
    assert "| 24 (8 × 3) |" in render_markdown(found)


def test_the_largest_cluster_is_that_of_either_factor(report_of: Reporter, pairs: Rows) -> None:
    rows = [
        replace(row, cluster=f'["scene{sample % 12}","template{max(0, sample - 18)}"]')
        for row in pairs([(0, 1), (1, 1)] * 12)
        for sample in [int(row.sample_id[1:])]
    ]
    first = report_of(rows)["contrasts"][0]
    assert (first["clusters"], first["crossing_clusters"]) == (12, 6)
    assert (first["largest_cluster"], first["largest_among"]) == (pytest.approx(19 / 24), 6)
    assert "by another; one of 6 clusters is 79.2 % of it" in first["verdict_text"]


def test_a_paragraph_on_an_imported_run_says_only_what_is_known(
    report_of: Reporter, pairs: Rows, spec: Callable[..., JobSpec]
) -> None:
    arms = [{"name": name, "agent": "imported"} for name in ("raw", "tools")]
    rows = [replace(row, cluster="one", prompt_tokens=None) for row in pairs([(0, 1)] * 9)]
    report = report_of(rows[:-1], spec=spec(arms=arms), planned=18)
    paragraph = report["methods"]["paragraph"]
    assert (
        "We imported runs of the arms “raw” and “tools” on quiz (prompts and scoring unknown): " in paragraph
    )
    assert "planned once under each arm" in paragraph
    assert "1 of 18 trials are in no file: not every question was asked under every arm" in paragraph
    assert "p –" not in paragraph
    assert "Adjusted for" not in paragraph  # one cluster: nothing was tested
    assert "answers tokens unknown" not in paragraph
    assert "words of prompts" not in render_markdown(report)


def test_lost_trials_at_worst_reach_no_less_far_than_the_scores_that_are_known(report_of: Reporter) -> None:
    rows = [
        *(a_row(number, "raw", float(number % 2)) for number in range(40)),
        *(a_row(n, "tools", None if n % 8 == 0 else float(n % 4 < 3)) for n in range(40)),
    ]
    found = report_of(rows)["contrasts"][0]
    assert found["ci95"] is not None
    assert found["worst_ci95"] is not None
    assert found["worst_ci95"][0] <= found["ci95"][0] < 0 < found["ci95"][1] <= found["worst_ci95"][1]
    assert not [reason for reason in found["reasons"] if "undo" in reason]  # nothing is claimed
