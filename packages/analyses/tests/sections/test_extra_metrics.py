"""What a benchmark measures besides the score stands in the report, by model, arm and cell, with its n."""

from collections.abc import Callable

import pytest

from gnomon.core.row import Row
from gnomon.core.row_batch import batch_of
from gnomon.core.score import Outcome
from gnomon.report.html import render_html
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.spec.job_spec import JobSpec
from gnomon_analyses.sections.extra_metrics import ExtraMetrics, extra_metrics


def test_a_measure_is_averaged_over_the_answers_that_have_it(
    report_of: Callable[..., Report], row: Callable[..., Row]
) -> None:
    refused = {0: 1.0, 1: 0.0, 2: None}
    rows = [
        row(sample, "tools", 1.0, cell="indoor.GL", metrics={"refusal_precision": value, "floor: luck": 1.0})
        for sample, value in refused.items()
    ]
    report = report_of(rows)
    mean = {"n": 2, "mean": 0.5}
    (one,) = report["measures"]
    assert (one["measure"], one["arm"], one["by_task"]) == (
        "refusal_precision",
        "tools",
        {"all": mean, "indoor.GL": mean},
    )
    assert "| refusal\\_precision | – | 0.5 n=2 |" in render_markdown(report)
    page = render_html(report)
    assert page.count("0.5 <small>n=2</small>") == 2
    assert "floor: luck" not in page


def test_what_a_provider_failed_at_is_in_no_mean_and_what_the_model_failed_at_is(
    report_of: Callable[..., Report], row: Callable[..., Row]
) -> None:
    rows = [
        row(0, "raw", None, metrics={"delivered": 0.0}),
        row(1, "raw", 0.0, metrics={"delivered": 0.0}, outcome=Outcome.MODEL_FAILED),
        row(2, "raw", 1.0, metrics={"delivered": 1.0}),
    ]
    (one,) = report_of(rows)["measures"]
    assert one["by_task"]["all"] == {"n": 2, "mean": 0.5}


@pytest.mark.parametrize("name", ["gtr-bench", "worlds"])
def test_answers_to_other_tasks_than_a_measure_is_declared_for_are_in_no_mean(
    name: str, row: Callable[..., Row], spec: Callable[..., JobSpec]
) -> None:
    metrics = {"score": 1.0, "MCQacc": 1.0, "TimeIoU": 0.0}
    assert extra_metrics.collector is not None
    collector = extra_metrics.collector(spec(), name)
    assert isinstance(collector, ExtraMetrics)
    rows = [
        row(0, "raw", 1.0, task="ArrivalTimeInterval", cell="indoor.ATI", metrics=metrics),
        row(1, "raw", 0.5, task="NextSpotForecasting", cell="indoor.NSF", metrics=metrics),
    ]
    collector.add(batch_of(rows))
    means = {measure["measure"]: measure["by_task"] for measure in collector.rows()}
    assert means["TimeIoU"].keys() == {"all", "indoor.NSF"}
    assert means["TimeIoU"]["all"]["n"] == 1
    assert means["MCQacc"]["all"]["n"] == 2


def test_a_benchmark_without_measures_has_no_such_table(
    report_of: Callable[..., Report], row: Callable[..., Row]
) -> None:
    report = report_of([row(0, "raw", 1.0)])
    assert report["measures"] == []
    assert "What else was measured" not in render_html(report)


def test_a_cell_that_is_called_all_is_counted_once(
    report_of: Callable[..., Report], row: Callable[..., Row]
) -> None:
    report = report_of([row(0, "raw", 1.0, cell="all", metrics={"delivered": 1.0})])
    (one,) = report["measures"]
    assert one["by_task"] == {"all": {"n": 1, "mean": 1.0}}
    assert "delivered" in render_html(report)
