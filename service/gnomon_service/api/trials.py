"""Routes with result rows as JSON pages, NDJSON or CSV, and one trial with its trace."""

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from gnomon.core.errors import SpecError
from gnomon.core.reply_state import ReplyState
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.report.row_formats import ndjson_line, row_to_json, rows_csv
from gnomon_service.api.content_negotiation import choose
from gnomon_service.api.jobs import MAX_LIMIT, Cursor
from gnomon_service.api.places import in_place
from gnomon_service.api.request_body import PostedBody, body_docs
from gnomon_service.api.serializers import listing, trial_view
from gnomon_service.api.state import Shared, State
from gnomon_service.cassettes import cassette_of_job

OFFERED = ("application/json", "application/x-ndjson", "text/csv")
DEFAULT_LIMIT = 100
FIRST_PAGE, STREAM_PAGE = 100, 1000
FileKind = Literal["yaml", "json"]
FILE_TYPES = {"yaml": "application/yaml", "json": "application/json"}
FILE_BODY = body_docs(
    {
        "type": "object",
        "required": ["from_step", "result"],
        "properties": {
            "from_step": {"type": "integer", "description": "number of a tool's step, from 1"},
            "result": {"description": "what the tool gives instead: text as it is, else JSON"},
        },
    }
)
TextFilter = Annotated[str | None, Query(max_length=200)]

router = APIRouter(tags=["trials"])


@router.get("/v1/jobs/{job_id}/trials", response_model=None)
def list_trials(
    state: Shared,
    job_id: str,
    cursor: Cursor = None,
    limit: Annotated[
        int | None,
        Query(
            ge=1,
            le=MAX_LIMIT,
            description="maximum number of rows; without it NDJSON and CSV stream all rows",
        ),
    ] = None,
    arm: TextFilter = None,
    model: TextFilter = None,
    task: TextFilter = None,
    outcome: Outcome | None = None,
    reply_state: ReplyState | None = None,
    accept: Annotated[str | None, Header()] = None,
) -> Response:
    """Result rows in the order they were finished; the Accept header chooses their format."""
    kind = choose(accept, OFFERED)
    state.store.job(job_id)
    asked = {"arm": arm, "model": model, "task": task, "outcome": outcome, "reply_state": reply_state}
    filters = {name: value for name, value in asked.items() if value is not None}
    if kind != OFFERED[0] and limit is None:
        return encoded_rows(state, kind, _pages(state, job_id, cursor, filters))
    page = state.store.rows(job_id, cursor=cursor, limit=limit or DEFAULT_LIMIT, **filters)
    if kind == OFFERED[0]:
        return JSONResponse(listing([row_to_json(row) for row in page.items], page.next_cursor))
    response = encoded_rows(state, kind, iter([page.items]))
    if page.next_cursor is not None:
        query = urlencode({"cursor": page.next_cursor, "limit": limit, **filters})
        response.headers["Link"] = f'</v1/jobs/{job_id}/trials?{query}>; rel="next"'
    return response


def _pages(
    state: State, job_id: str, cursor: str | None, filters: Mapping[str, str]
) -> Iterator[Sequence[Row]]:
    """All rows that match, page by page; the first is short, so that it is soon there."""
    limit = FIRST_PAGE
    while True:
        page = state.store.rows(job_id, cursor=cursor, limit=limit, **filters)
        yield page.items
        cursor, limit = page.next_cursor, STREAM_PAGE
        if cursor is None or not page.items:
            return


@router.get("/v1/trials/{trial_id}")
def get_trial(state: Shared, trial_id: str) -> dict[str, Any]:
    """One trial: its plan, its row once it is finished, and its trace."""
    trial = state.store.trial(trial_id)
    return trial_view(trial)


@router.get("/v1/trials/{trial_id}/file", response_class=Response)
@in_place("calls")
def get_trial_file(
    state: Shared,
    trial_id: str,
    from_step: Annotated[
        int | None, Query(ge=1, description="the last step, counted from 1, that is given from the record")
    ] = None,
    kind: Annotated[FileKind, Query(alias="format")] = "yaml",
) -> Response:
    """The trial as a file for `gnomon try FILE`: to try it again, or to continue it from one of its steps."""
    return trial_file_response(state, trial_id, from_step=from_step, result=None, kind=kind)


@router.post("/v1/trials/{trial_id}/file", openapi_extra=FILE_BODY, response_class=Response)
async def post_trial_file(
    request: Request,
    state: Shared,
    trial_id: str,
    body: PostedBody,
    kind: Annotated[FileKind, Query(alias="format")] = "yaml",
) -> Response:
    """The trial as a file that continues from a tool's step with another result; nothing is stored or run."""
    return await state.places.calls.run(request, lambda: _changed_file(state, trial_id, body(), kind))


def _changed_file(state: State, trial_id: str, body: object, kind: FileKind) -> Response:
    if not isinstance(body, dict):
        raise SpecError("must be one JSON object {from_step, result}", field="body")
    unknown = sorted(set(body) - {"from_step", "result"})
    if unknown:
        raise SpecError("unknown field; allowed: from_step, result", field=unknown[0])
    step = body.get("from_step")
    if not isinstance(step, int) or isinstance(step, bool):
        raise SpecError("must be the number of a tool's step, counted from 1", field="from_step")
    if body.get("result") is None:
        raise SpecError("needed: the tool's result, as text or as JSON", field="result")
    return trial_file_response(state, trial_id, from_step=step, result=body["result"], kind=kind)


def trial_file_response(
    state: State, trial_id: str, *, from_step: int | None, result: object, kind: FileKind
) -> Response:
    """The file of a stored trial, to be downloaded."""
    from gnomon.trials.trial_file import trial_file, trial_file_text

    record = state.store.trial(trial_id)
    spec = state.store.job(record.trial.job_id).spec
    trial = trial_file(spec, record.trial, record.trace, from_step=from_step, result=result)
    name = {"Content-Disposition": f'attachment; filename="{record.trial.trial_id}.{kind}"'}
    return Response(trial_file_text(trial, kind), media_type=FILE_TYPES[kind], headers=name)


def encoded_rows(state: State, kind: str, rows: Iterator[Sequence[Row]]) -> StreamingResponse:
    """Rows as CSV or NDJSON, sent page by page."""
    encode = _csv if kind == "text/csv" else _ndjson
    pieces = state.places.downloads.stream(encode(rows))
    return StreamingResponse(pieces, media_type=f"{kind}; charset=utf-8")


def _ndjson(pages: Iterator[Sequence[Row]]) -> Iterator[str]:
    for rows in pages:
        yield "".join(ndjson_line(row) for row in rows)


def _csv(pages: Iterator[Sequence[Row]]) -> Iterator[str]:
    for number, rows in enumerate(pages):
        text = io.StringIO(newline="")
        rows_csv(rows, text)
        # Each page is written as a table of its own; only the first keeps its header line.
        yield text.getvalue() if number == 0 else text.getvalue().partition("\n")[2]


@router.get("/v1/jobs/{job_id}/cassette", response_class=StreamingResponse)
@in_place("reports")
def get_cassette(state: Shared, job_id: str) -> StreamingResponse:
    """The calls of the job's tool servers so far, as a file that `cassette: {replay: FILE}` of an arm
    answers from: JSON lines, the hash of all others in the last.
    """
    lines = cassette_of_job(state.store, state.store.job(job_id), state.settings.data_dir)
    pieces = state.places.downloads.stream(lines)
    name = f'attachment; filename="{job_id}.cassette.jsonl"'
    headers = {"Content-Disposition": name}
    return StreamingResponse(pieces, media_type="application/x-ndjson", headers=headers)
