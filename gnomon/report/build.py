"""Builds the report from stored rows, at any time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from gnomon.core.benchmark import Benchmark
from gnomon.core.review import HumanAnswer
from gnomon.core.row import Row
from gnomon.core.row_batch import RowBatch, in_batches
from gnomon.core.sample import DataFault, SampleRef
from gnomon.core.seal import SealLine
from gnomon.exchange.foreign import benchmark_called
from gnomon.exchange.imported_job import is_imported
from gnomon.report.pairs import pairs
from gnomon.report.report import Report
from gnomon.report.score_matrix import read_scores
from gnomon.report.section import Collector, ModelCheckRow, ReadTrace, ReportInput, Section, sections
from gnomon.report.sequence import StoredLook, drawn_plan
from gnomon.spec.job_spec import JobSpec
from gnomon.stopping import while_wanted


def _no_trace(_: str) -> None:
    return None


def build_report(
    *,
    job_id: str,
    spec: JobSpec,
    status: str,
    rows: Iterable[Row] | Iterable[RowBatch],
    planned: int,
    faults: Sequence[DataFault] = (),
    benchmark: Benchmark | None = None,
    trace: ReadTrace = _no_trace,
    error: str = "",
    checks: Sequence[ModelCheckRow] = (),
    possible: tuple[float, int] = (0.0, 0),
    spec_hash: str = "",
    human_answers: Sequence[HumanAnswer] = (),
    seal: Sequence[SealLine] = (),
    planned_samples: Sequence[SampleRef] = (),
    looks: Sequence[StoredLook] = (),
) -> Report:
    """The report of a job in any state, down to one without rows: the parts of all sections.

    `planned` counts trials; a run from elsewhere was planned as its rows are. `benchmark` is the spec's own
    unless given. Rows are read once, so an iterator over a store will do, best of all of batches; `trace`
    reads a stored trace by its trial's id. `error` says why a job failed, and `checks` what came of its
    models' preflights. `possible` are the dollars and tokens that calls may have cost beside what is told,
    such as those of a worker that died. `spec_hash` is that of the spec unless given: a job keeps the one
    that it was stored with, however many fields a spec has gained since.
    `human_answers` are those of the review desk, and `seal` fixes plan and results. Of a job that may stop
    early `planned_samples` are all, in the order of its plan. `looks` are those that were
    taken at it. The result holds plain data only and no number that is not finite.

    Raises:
        ValueError: the job may stop early, and no planned samples are given.
        Unwanted: the report is no longer wanted, see `gnomon.stopping`.
    """
    benchmark = benchmark or benchmark_called(spec.benchmark)
    collectors = [section.collector(spec, benchmark.name) for section in sections() if section.collector]
    groups = [(model.label, arm.name) for model in spec.models for arm in spec.arms]
    scores = read_scores(
        _collecting(while_wanted(in_batches(rows)), collectors),
        groups,
        clustered=spec.analysis.cluster == "auto",
    )
    plan = None
    if spec.analysis.sequential:
        if not planned_samples:
            raise ValueError("a job that may stop early is judged by its plan: planned_samples is empty")
        plan = drawn_plan(spec, planned_samples, scores.samples, headline=benchmark.headline)
    report_input = ReportInput(
        job_id=job_id,
        spec=spec,
        status=status,
        planned=planned,
        benchmark=benchmark,
        scores=scores,
        pairs=pairs(spec),
        collectors=collectors,
        faults=faults,
        checks=checks,
        possible=possible,
        trace=trace,
        error=error,
        spec_hash=spec_hash or spec.content_hash,
        human_answers=human_answers,
        seal=seal,
        drawn_plan=plan,
        looks=looks,
    )
    if is_imported(spec):
        known = sum(report_input.planned_of(scores.at[group]) for group in groups)
        report_input = replace(report_input, planned=known)
    fields: dict[str, Any] = {}
    every = sections()
    for section in every:
        fields |= report_input.part(section)
    others = [section for section in every if section.behind]
    order = dict.fromkeys([*_with_others(Report.__annotations__, others), *fields])
    return cast(Report, {name: fields[name] for name in order})


def _with_others(names: Iterable[str], others: Sequence[Section[Any]]) -> Iterator[str]:
    """These fields of the document, each with those that sections of packages put behind it."""
    for name in names:
        yield name
        for section in others:
            if section.behind == name:
                yield from _with_others(section.fields.__annotations__, others)


def _collecting(batches: Iterable[RowBatch], collectors: Sequence[Collector]) -> Iterator[RowBatch]:
    """Pass the rows on after every collector has taken note of them."""
    for batch in batches:
        for collector in collectors:
            collector.add(batch)
        yield batch
