"""Runs an analysis of stored jobs: figures of rows or of a job, or labels that judges give to traces."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from gnomon.benchmarks.questions.question import OwnQuestion, displayed_in
from gnomon.core.errors import DataError, GnomonError, SpecError
from gnomon.core.ids import stable_hash, stable_seed
from gnomon.core.row import Row
from gnomon.core.sample import Sample, SampleRef
from gnomon.exchange.foreign import benchmark_called
from gnomon.report.score_matrix import RIGHT
from gnomon.spec.spec_file import load_yaml
from gnomon_analyses.benchmarks.judging.benchmark import FILE
from gnomon_analyses.judge_labels import against, judged_contrasts, summarise
from gnomon_analyses.kinds import (
    ANALYSES,
    Analysis,
    ComputedFromJob,
    ComputedFromRows,
    GroupOf,
    LabelledByJudge,
    need,
)
from gnomon_analyses.stored_job import ReadSample, StoredJob
from gnomon_service.settings import Settings
from gnomon_tools.core.registry import UnknownPlugin
from gnomon_workers.open_job import media_of, open_spec
from gnomon_workers.store.records import JobRecord
from gnomon_workers.store.store import Store

TRACE_CHARS = 12_000  # of a trace, so that it fits a judge's context; the cut is marked
RunJob = Callable[[dict[str, Any]], str]  # runs a spec to its end; the job's id


def analysis_called(name: str) -> Analysis:
    """The analysis of this name.

    Raises:
        SpecError: it does not exist.
    """
    try:
        return ANALYSES.get(name)
    except UnknownPlugin as error:
        raise SpecError(str(error), field="NAME") from None


def counted(
    store: Store, analysis: ComputedFromRows, job_ids: Sequence[str], settings: Settings
) -> dict[str, Any]:
    """Figures computed from the jobs' rows.

    Raises:
        NotFound, SpecError, DataError: a job does not exist, the rows are too few, or its samples cannot be
            read.
    """
    jobs = [store.job(job_id) for job_id in job_ids]
    rows = [row for job in jobs for row in store.iter_rows(job.id)]
    by_type = analysis.group == "question_type"
    group_of = _question_type(jobs, settings) if by_type else attrgetter("cell")
    return {"analysis": analysis.name, "jobs": list(job_ids), **analysis.count(rows, group_of)}


def computed(
    store: Store,
    analysis: ComputedFromJob,
    job_id: str,
    settings: Settings,
    *,
    limit: int | None,
    threshold: float | None,
) -> dict[str, Any]:
    """Figures of one job. Of an analysis that reads traces, at most `limit` of them are read.
    `threshold` is the score from which on a trial is right, where only right and wrong will do.

    Raises:
        NotFound, SpecError: the job does not exist, or cannot show these figures.
    """
    job = store.job(job_id)
    stored = StoredJob(
        job_id=job_id,
        spec=job.spec,
        status=job.status,
        rows=list(store.iter_rows(job_id)),
        benchmark=benchmark_called(job.spec.benchmark),
        trace=store.trace,
        sample=_reader(job, settings),
        limit=limit,
        threshold=threshold,
    )
    return {"analysis": analysis.name, "job": job_id, **analysis.count(stored)}


def _reader(job: JobRecord, settings: Settings) -> ReadSample:
    """Reads a sample of the job; None where its data are gone, or the job was run elsewhere."""

    @cache
    def opened() -> Any:
        try:
            return open_spec(job.spec, media_of(settings.data_dir)).samples
        except (DataError, SpecError, OSError):
            return None

    def read(sample_id: str) -> Sample | None:
        samples = opened()
        try:
            return None if samples is None else samples.get(sample_id)
        except (GnomonError, KeyError):
            return None

    return read


def _question_type(jobs: Sequence[JobRecord], settings: Settings) -> GroupOf:
    """The kind of each published question, from the samples of its job."""
    opened = {job.id: open_spec(job.spec, media_of(settings.data_dir)).samples for job in jobs}

    @cache
    def kind(job_id: str, sample_id: str) -> str:
        item = opened[job_id].get(sample_id).target.get("item")
        return str(getattr(item, "kind", "unknown"))

    return lambda row: kind(row.job_id, row.sample_id)


def judged(
    store: Store,
    analysis: LabelledByJudge,
    job_id: str,
    settings: Settings,
    *,
    judges: Sequence[str],
    limit: int | None,
    repeats: int,
    run: RunJob,
) -> dict[str, Any]:
    """Let judge models label the job's traces, in a new job, and count the labels.

    `limit` trials are drawn by the hash of their ids, the same each time.

    Raises:
        NotFound, SpecError: the job does not exist or is of another benchmark, too few trials have a trace,
            or a judge is not a model.
    """
    job = store.job(job_id)
    if job.spec.benchmark not in analysis.benchmarks:
        allowed = ", ".join(analysis.benchmarks)
        raise SpecError(
            f"{job_id} is of {job.spec.benchmark!r}; {analysis.name} reads {allowed}", field="JOB"
        )
    rows = [row for row in store.iter_rows(job_id) if _is_read(analysis, row)]
    rows.sort(key=lambda row: stable_seed(row.trial_id))
    read = _reader(job, settings)
    cases = list(_cases(store, analysis, rows[:limit], read))
    need("trials with a trace to judge", len(cases), analysis.least)
    labelled = _labelled(analysis, {ref.sample_id for ref in _refs(job, settings)}, read)
    cases += labelled
    folder = settings.data_dir / "analyses" / stable_hash(analysis.name, [case["case_id"] for case in cases])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    judging_job = run(
        {
            "name": f"{analysis.name} of {job.name}"[:200],
            "benchmark": "judging",
            "data": str(folder.resolve()),
            "select": {"tasks": [analysis.name]},
            "models": [
                load_yaml(judge) if judge.lstrip().startswith("{") else {"id": judge} for judge in judges
            ],
            "arms": [{"name": analysis.name, "agent": "direct"}],
            "repeats": repeats,
        }
    )
    judgements = list(store.iter_rows(judging_job))
    of_people = {case["case_id"] for case in labelled}
    summary = summarise(
        analysis,
        [row for row in judgements if row.sample_id not in of_people],
        {case["case_id"]: case for case in cases},
    )
    if analysis.shows_truth:
        by_scorer = {row.trial_id: row.score is not None and row.score >= RIGHT for row in rows}
        by_people = {case["case_id"]: case["label"] == "1" for case in labelled}
        summary["against_scorer"] = against(judgements, by_scorer)
        summary["contrasts"] = judged_contrasts(judgements, rows, job.spec.contrasts())
        summary["against_labels"] = against(judgements, by_people)
    return {"job": job_id, "judging_job": judging_job, **summary}


def _refs(job: JobRecord, settings: Settings) -> Sequence[SampleRef]:
    try:
        return open_spec(job.spec, media_of(settings.data_dir)).samples.refs
    except (DataError, SpecError, OSError):
        return ()


def _labelled(analysis: LabelledByJudge, sample_ids: Iterable[str], read: ReadSample) -> list[dict[str, str]]:
    """The replies of the job's questions that people have judged, as cases for the judge."""
    cases = []
    for sample_id in sorted(sample_ids) if analysis.shows_truth else ():
        sample = read(sample_id)
        question = sample.target.get("question") if sample else None
        if sample is None or not isinstance(question, OwnQuestion) or question.label is None:
            continue
        cases.append(
            {
                "case_id": f"label {sample_id}",
                "analysis": analysis.name,
                "task": sample.ref.task,
                "cluster": sample.ref.cluster,
                "model": "people",
                "arm": "labels",
                "question": _cut("\n".join(_texts(sample.messages()))),
                "trace": _cut(question.reply),
                "truth": truth_shown(sample),
                "label": str(int(question.label)),
            }
        )
    return cases


def _is_read(analysis: LabelledByJudge, row: Row) -> bool:
    return row.score is not None and (not analysis.only_wrong or row.score < RIGHT)


def _cases(
    store: Store, analysis: LabelledByJudge, rows: Sequence[Row], read: ReadSample
) -> Iterator[dict[str, str]]:
    for row in rows:
        trace = store.trace(row.trial_id)
        truth: dict[str, str] = {}
        if analysis.shows_truth:
            sample = read(row.sample_id)
            if sample is None:
                continue
            truth = {"truth": truth_shown(sample)}
        if trace is not None and trace.get("steps"):
            yield {
                **truth,
                "case_id": row.trial_id,
                "analysis": analysis.name,
                "task": row.task,
                "cluster": row.cluster or row.sample_id,
                "model": row.model,
                "arm": row.arm,
                "question": _cut("\n".join(_texts(trace.get("prompt") or ()))),
                "trace": _cut(
                    str(trace.get("response") or "")
                    if analysis.shows_truth
                    else "\n".join(_step_text(step) for step in trace["steps"])
                ),
            }


def truth_shown(sample: Sample) -> str:
    """The right answer for a judge, with the rubric where the question has one."""
    question = displayed_in(sample)
    rubric = f"\nRubric: {question.rubric}" if question.rubric else ""
    return f"{question.truth.text}{rubric}"


def _texts(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for message in messages:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        for block in blocks:
            yield str(block["text"]) if block.get("type") == "text" else "[picture]"


def _step_text(step: Mapping[str, Any]) -> str:
    if step.get("kind") == "tool":
        return f"tool {step.get('name')}({step.get('arguments')}) -> {step.get('observation')}"
    return str(step.get("text") or "")


def _cut(text: str) -> str:
    if len(text) <= TRACE_CHARS:
        return text
    half = TRACE_CHARS // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"
