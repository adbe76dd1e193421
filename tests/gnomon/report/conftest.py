"""A small benchmark and rows as workers would write them, with every value in the test's hands."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnomon.core.benchmark import PromptProtocol, Published, SampleSet, Scoring
from gnomon.core.row import Row
from gnomon.core.row_batch import batch_of
from gnomon.core.sample import Sample
from gnomon.core.score import Outcome, Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.report.build import build_report
from gnomon.report.pairs import pairs as pairs_of
from gnomon.report.report import Report
from gnomon.report.score_matrix import read_scores
from gnomon.report.section import ReportInput, sections
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Headline
from gnomon.trials.trial_plan import trial_id


@dataclass(frozen=True, kw_only=True)
class Quiz:
    """A benchmark of which a report needs to know but a few facts."""

    name: str = "quiz"
    version: str = "7"
    tasks: tuple[str, ...] = ("near", "far")
    scenes: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    needs_data: bool = False
    headline: Headline = "mean_of_cells"
    rows: Sequence[Published] = field(default_factory=tuple)

    def open(
        self, *, data: Path | None, select: Select, protocol: PromptProtocol, media: MediaStore
    ) -> SampleSet:
        raise AssertionError("a report opens no samples")

    def score(self, sample: Sample, response: str, *, scoring: Scoring, variant: str | None = None) -> Score:
        raise AssertionError("a report scores nothing")

    def score_record(
        self, record: Mapping[str, Any], *, scoring: Scoring, variant: str | None = None
    ) -> Score:
        raise AssertionError("a report scores nothing")

    def published(self) -> Sequence[Published]:
        return self.rows


def a_spec(**changes: Any) -> JobSpec:
    """A spec of one model and two arms; `changes` replace whole fields."""
    return JobSpec.model_validate(
        {
            "name": "quiz with tools",
            "benchmark": "quiz",
            "models": [{"id": "m"}],
            "arms": [
                {"name": "raw", "agent": "direct"},
                {"name": "tools", "agent": "react", "tools": ["bearing"]},
            ],
            **changes,
        }
    )


def a_row(sample: int = 0, arm: str = "raw", score: float | None = 1.0, **changes: Any) -> Row:
    """A row; without a score it is missing."""
    model, repeat = changes.get("model", "m"), changes.get("repeat", 0)
    known: dict[str, Any] = {
        "job_id": "j",
        "trial_id": trial_id("j", f"s{sample:03}", model, arm, repeat),
        "benchmark": "quiz",
        "task": "near",
        "cell": "near",
        "sample_id": f"s{sample:03}",
        "cluster": f"c{sample:03}",
        "model": "m",
        "arm": arm,
        "repeat": 0,
        "outcome": Outcome.INFRA_MISSING if score is None else Outcome.SCORED,
        "stop_reason": "provider:rate_limit" if score is None else "answered",
        "score": score,
        "usd": 0.001,
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "model_calls": 1,
        "wall_s": 0.5,
    }
    return Row(**{**known, **changes})


def paired_rows(scores: Sequence[tuple[float | None, float | None]], **changes: Any) -> Iterator[Row]:
    """Rows of the arms raw and tools from pairs of scores, one sample a pair."""
    for sample, (raw, tools) in enumerate(scores):
        yield a_row(sample, "raw", raw, **changes)
        yield a_row(sample, "tools", tools, **changes)


def random_rows(
    *, samples: int, arms: Sequence[str], models: Sequence[str] = ("m",), repeats: int = 1, seed: int = 0
) -> Iterator[Row]:
    """Rows in six cells and clusters of up to seven samples, later arms better, some lost, some failed."""
    random = np.random.default_rng(seed)
    for sample in range(samples):
        level = random.uniform(0.2, 0.7)
        for repeat in range(repeats):
            for model in models:
                for step, arm in enumerate(arms):
                    lost, failed = random.random() < 0.01, random.random() < 0.03
                    right = float(random.random() < level + 0.15 * step) if not failed else 0.0
                    row = a_row(
                        sample,
                        arm,
                        None if lost else right,
                        model=model,
                        repeat=repeat,
                        cell=f"{'indoor' if sample % 2 else 'outdoor'}.{('GL', 'MS', 'TF')[sample % 3]}",
                        cluster=f"v{sample // 7}",
                        answer="ABCD"[sample % 4],
                        tool_calls=2 * step,
                        tools_used={
                            "bearing": {"calls": 2, "bad_arguments": sample % 2, "errors": sample % 2}
                        }
                        if step
                        else {},
                        **(
                            {"outcome": Outcome.MODEL_FAILED, "stop_reason": "no_answer"}
                            if failed and not lost
                            else {}
                        ),
                    )
                    yield row


Reporter = Callable[..., Report]


def build(rows: Iterable[Row], *, benchmark: Quiz | None = None, **changes: Any) -> Report:
    """Build a report; by default as many trials were planned as there are rows."""
    rows = list(rows)
    facts: dict[str, Any] = {"spec": a_spec(), "status": "completed", "planned": len(rows), **changes}
    return build_report(job_id="j", rows=rows, benchmark=benchmark or Quiz(), **facts)


# Test folders are no packages: what tests share reaches them as fixtures.


@pytest.fixture(scope="session")
def report_of() -> Reporter:
    return build


@pytest.fixture(scope="session")
def row() -> Callable[..., Row]:
    return a_row


@pytest.fixture(scope="session")
def pairs() -> Callable[..., Iterator[Row]]:
    return paired_rows


@pytest.fixture(scope="session")
def many() -> Callable[..., Iterator[Row]]:
    return random_rows


@pytest.fixture(scope="session")
def spec() -> Callable[..., JobSpec]:
    return a_spec


@pytest.fixture(scope="session")
def quiz() -> Callable[..., Quiz]:
    return Quiz


@pytest.fixture(scope="session")
def alerts_of() -> Callable[..., list[Any]]:
    """The alerts that a source makes of these rows."""

    def alerts(source: Callable[[ReportInput], Iterable[Any]], rows: Iterable[Row]) -> list[Any]:
        spec, batch = a_spec(), batch_of(list(rows))
        collectors = [section.collector(spec, "quiz") for section in sections() if section.collector]
        for collector in collectors:
            collector.add(batch)
        groups = [(model.label, arm.name) for model in spec.models for arm in spec.arms]
        facts: dict[str, Any] = dict.fromkeys(("faults", "checks"), ()) | dict.fromkeys(
            ("error", "spec_hash"), ""
        )
        report_input = ReportInput(
            job_id="j",
            spec=spec,
            status="completed",
            planned=len(batch),
            benchmark=Quiz(),
            scores=read_scores([batch], groups),
            pairs=pairs_of(spec),
            collectors=collectors,
            trace=lambda _: None,
            **facts,
        )
        return list(source(report_input))

    return alerts
