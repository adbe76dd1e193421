"""Serves a job's report, rows and outputs as files, filtered or whole, and the job in other formats."""

import csv
import io
import math
from collections.abc import Iterable, Iterator
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from gnomon.core.row import Row
from gnomon.report.row_formats import csv_cell, escape_surrogates
from gnomon_service.api.exports import export_response
from gnomon_service.api.places import in_place
from gnomon_service.api.reports import report_response
from gnomon_service.api.state import Shared, State
from gnomon_service.api.trials import FIRST_PAGE, STREAM_PAGE, encoded_rows, list_trials
from gnomon_service.web.trial_lists import TrialList, asked_of, trial_list
from gnomon_service.web.trials import grid_row
from gnomon_workers.store.records import JobRecord

ROW_TYPES = {"csv": "text/csv", "ndjson": "application/x-ndjson"}

router = APIRouter(include_in_schema=False)


@router.get("/ui/jobs/{job_id}/report.{form}", response_model=None)
@in_place("reports")
def report_file(state: Shared, job_id: str, form: Literal["json", "html"]) -> Response:
    """The report as a file that needs nothing else."""
    response = report_response(state, job_id, is_page=form == "html")
    response.headers["Content-Disposition"] = f'attachment; filename="{job_id}-report.{form}"'
    return response


@router.get("/ui/jobs/{job_id}/export/{form}", response_model=None)
@in_place("reports")
def export_file(state: Shared, job_id: str, form: str) -> Response:
    """The job as another program reads it."""
    return export_response(state, job_id, form)


@router.get("/ui/jobs/{job_id}/grid.csv", response_model=None)
@in_place("reports")
def grid_file(request: Request, state: Shared, job_id: str) -> Response:
    """Questions down, arms across: what was answered, its score, and how the reply begins."""
    job = state.store.job(job_id)
    listed = trial_list(job.id, job.spec, request.query_params.multi_items())
    headers = {"Content-Disposition": f'attachment; filename="{job_id}-grid.csv"'}
    pieces = state.places.downloads.stream(_grid(state, job, listed))
    return StreamingResponse(pieces, media_type="text/csv; charset=utf-8", headers=headers)


def _grid(state: State, job: JobRecord, listed: TrialList) -> Iterator[str]:
    index, after = state.indexes.get(job.id).value, None
    asked, _ = asked_of(state, job, listed)
    sort = listed.sort if listed.kind != "trials" else "sample"
    arms = [f"{name}: {what}" for name in index.arms for what in ("score", "answer", "ended", "reply")]
    yield _csv_line(["sample", "subset", "model", "question", *arms])
    while True:
        page = index.grid(asked, sort, after, FIRST_PAGE)
        names = [item.sample_id for item in page.items]
        texts = state.questions.texts(job.id, job.spec, names, patience_s=math.inf)
        for row in (grid_row(item, state, listed) for item in page.items):
            cells = [cell[name] for cell in row["cells"] for name in ("score", "answer", "outcome", "reply")]
            question = texts.get(row["sample_id"], "")
            yield _csv_line([row["sample_id"], row["cell"], row["model"], question, *cells])
        after = page.next_cursor
        if after is None:
            return


def _csv_line(values: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(map(csv_cell, values))
    return escape_surrogates(line.getvalue())


@router.get("/ui/jobs/{job_id}/rows.{form}", response_model=None)
@in_place("reports")
def rows_file(request: Request, state: Shared, job_id: str, form: Literal["csv", "ndjson"]) -> Response:
    """All rows, or those of the trials that a filter leaves."""
    job = state.store.job(job_id)
    listed = trial_list(job.id, job.spec, request.query_params.multi_items())
    if listed.filters.as_query():
        response: Response = encoded_rows(state, ROW_TYPES[form], _chosen_rows(state, job, listed))
    else:
        response = list_trials(state, job_id, accept=ROW_TYPES[form])
    response.headers["Content-Disposition"] = f'attachment; filename="{job_id}-rows.{form}"'
    return response


def _chosen_rows(state: State, job: JobRecord, listed: TrialList) -> Iterator[list[Row]]:
    index, after, limit = state.indexes.get(job.id).value, None, FIRST_PAGE
    asked, _ = asked_of(state, job, listed)
    while True:
        entries = index.trials(asked, "seq", after, limit)
        rows = state.store.rows_by_trial([entry.trial_id for entry in entries.items])
        yield [rows[entry.trial_id] for entry in entries.items if entry.trial_id in rows]
        after, limit = entries.next_cursor, STREAM_PAGE
        if after is None:
            return
