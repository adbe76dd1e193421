"""Route that streams a job in the format of another program."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response, StreamingResponse

from gnomon.exchange.format import single_stream
from gnomon_service.api.places import in_place
from gnomon_service.api.state import Shared, State
from gnomon_service.web.questions import unknown_question

router = APIRouter(tags=["jobs"])


@router.get("/v1/jobs/{job_id}/export", response_class=Response)
@in_place("reports")
def get_export(
    state: Shared,
    job_id: str,
    kind: Annotated[str, Query(alias="format", description="a format of docs/exchange.md")] = "rows",
    media: Annotated[bool, Query(description="with pictures, where the format has them")] = False,
) -> Response:
    """The job so far as another program reads it: one file, or a zip of several. It is streamed."""
    return export_response(state, job_id, kind, with_media=media)


def export_response(state: State, job_id: str, kind: str, *, with_media: bool = False) -> Response:
    """The job in a format, to be downloaded."""
    from gnomon_service.job_export import exported_job  # late, as the start needs no reports

    job = exported_job(
        state.store,
        job_id,
        question=state.questions.views(job_id, state.store.job(job_id).spec) or unknown_question,
        media=state.questions.media,
        with_media=with_media,
    )
    stream = single_stream(kind, job)
    name = {"Content-Disposition": f'attachment; filename="{stream.name}"'}
    pieces = state.places.downloads.stream(stream.chunks)
    return StreamingResponse(pieces, media_type=stream.media_type, headers=name)
