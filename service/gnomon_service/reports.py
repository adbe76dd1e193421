"""Builds the report of a stored job, and writes it to a folder."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import cast

from gnomon.report.build import build_report
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.report.row_formats import rows_csv, rows_ndjson
from gnomon.report.section import ModelCheckRow
from gnomon.whole_file import PUBLIC, whole_file, write_whole
from gnomon_workers.store.store import Store


def report_of(store: Store, job_id: str) -> Report:
    """The report of a job from the rows it has now.

    Raises:
        NotFound: the job does not exist.
    """
    job = store.job(job_id)
    return build_report(
        job_id=job.id,
        spec=job.spec,
        status=job.status,
        rows=store.iter_batches(job_id),
        planned=job.counts.planned,
        faults=job.faults,
        trace=store.trace,
        error=job.error,
        checks=[cast(ModelCheckRow, asdict(check)) for check in job.checks],
        possible=(job.possible_usd, job.possible_tokens),
        spec_hash=job.spec_hash,
        human_answers=store.human_answers(job_id),
        seal=store.seal(job_id),
        planned_samples=store.refs(job_id) if job.spec.analysis.sequential else (),
        looks=store.looks(job_id) if job.spec.analysis.sequential else (),
    )


def write_folder(
    store: Store, job_id: str, report: Report, out: Path, *, data_dir: Path | None = None
) -> None:
    """Write report.json, report.html, report.md, rows.ndjson and rows.csv into `out`.

    The page opens some samples again where `data_dir`, the folder of their media, is given.
    """
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / "report.json", (as_json(report) + "\n").encode(), rights=PUBLIC)
    write_whole(
        out / "report.html", page_of(store, job_id, report, data_dir=data_dir).encode(), rights=PUBLIC
    )
    write_whole(out / "report.md", render_markdown(report).encode(), rights=PUBLIC)
    with whole_file(out / "rows.ndjson", "w", rights=PUBLIC, encoding="utf-8") as file:
        rows_ndjson(store.iter_rows(job_id), file)
    with whole_file(out / "rows.csv", "w", rights=PUBLIC, encoding="utf-8", newline="") as file:
        rows_csv(store.iter_rows(job_id), file)


def page_of(store: Store, job_id: str, report: Report, *, data_dir: Path | None) -> str:
    """The report as one HTML file, with samples where `data_dir`, the folder of their media, is given."""
    from gnomon.report.html import render_html  # late, as all here: a run without `--out` draws nothing
    from gnomon_service.report_samples import StoredSamples
    from gnomon_service.web.questions import Questions

    samples = None if data_dir is None else StoredSamples(store, job_id, Questions(data_dir))
    return render_html(report, samples=samples)


def as_json(report: Report) -> str:
    """The report as one JSON document."""
    return json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
