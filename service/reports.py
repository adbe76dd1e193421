"""Reports: built from stored rows, and written to a folder."""

import json
from pathlib import Path

from gnomon.report.build import build_report
from gnomon.report.html import render_html
from gnomon.report.markdown import render_markdown
from gnomon.report.schema import Report
from gnomon.report.table import rows_csv, rows_ndjson
from workers.store.store import Store


def report_of(store: Store, job_id: str) -> Report:
    """The report of a job as it stands.

    Raises:
        NotFound: there is no such job.
    """
    job = store.job(job_id)
    return build_report(
        job_id=job.id,
        spec=job.spec,
        status=job.status,
        rows=store.iter_rows(job_id),
        planned=job.counts.planned,
        faults=job.faults,
        trace=store.trace,
    )


def write_folder(store: Store, job_id: str, report: Report, out: Path) -> None:
    """Write report.json, report.html, report.md, rows.ndjson and rows.csv into `out`."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.json").write_text(as_json(report) + "\n", encoding="utf-8")
    (out / "report.html").write_text(render_html(report), encoding="utf-8")
    (out / "report.md").write_text(render_markdown(report), encoding="utf-8")
    with (out / "rows.ndjson").open("w", encoding="utf-8") as file:
        rows_ndjson(store.iter_rows(job_id), file)
    with (out / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        rows_csv(store.iter_rows(job_id), file)


def as_json(report: Report) -> str:
    """The report as one JSON document."""
    return json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
