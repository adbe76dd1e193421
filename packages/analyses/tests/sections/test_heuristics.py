"""Rules without a model stand beside every result, on the very samples of the job."""

from collections.abc import Callable
from pathlib import Path

from gnomon.core.benchmark import BENCHMARKS, HEURISTIC_PREFIX, HasHeuristics
from gnomon.core.row import Row
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.report.html import render_html
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon_worlds.generate import generate


def test_a_rule_is_counted_once_a_sample_however_many_arms_there_are(
    report_of: Callable[..., Report], row: Callable[..., Row]
) -> None:
    rule = f"{HEURISTIC_PREFIX}nearest camera"
    rows = [
        row(sample, arm, 1.0, metrics={rule: float(sample == 0), "own": 1.0})
        for sample in range(4)
        for arm in ("raw", "tools")
    ]
    report = report_of(rows)
    assert report["floors"] == [{"rule": "nearest camera", "by_task": {"near": {"n": 4, "mean": 0.25}}}]
    assert "| nearest camera | baseline heuristic (floor) | – | 25.0 |" in render_markdown(report)
    assert "baseline heuristic (floor)" in render_html(report)


def test_questions_of_gtr_bench_know_the_rules_that_no_prompt_can_guard(tmp_path: Path) -> None:
    generate(tmp_path / "questions", scenes=1, samples=28)
    benchmark = BENCHMARKS.get("gtr-bench")
    assert isinstance(benchmark, HasHeuristics)
    found = benchmark.open(
        data=tmp_path / "questions", select=Select(), protocol="guarded", media=MediaStore(tmp_path / "media")
    )
    rules = {ref.task: set(benchmark.heuristic_scores(found.get(ref.sample_id))) for ref in found.refs}
    assert rules["CausalReordering"] == {
        "CR: option most like the others",
        "CR: both together",
        "straight line: shortest tour",
    }
    assert rules["GeoLocation"] == {"nearest camera", "straight line: least detour"}
    assert any(name.startswith("MTTF: last end") for names in rules.values() for name in names)
    for ref in found.refs:
        assert all(0 <= value <= 1 for value in benchmark.heuristic_scores(found.get(ref.sample_id)).values())
