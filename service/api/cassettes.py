"""Route of a job's cassette: the calls of its tool servers with their results."""

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from service.api.state import Shared
from service.cassettes import cassette_of_job

router = APIRouter(tags=["jobs"])


@router.get("/v1/jobs/{job_id}/cassette", response_class=StreamingResponse)
def get_cassette(state: Shared, job_id: str) -> StreamingResponse:
    """The calls of the job's tool servers so far, as a file that `cassette: {replay: FILE}` of an arm
    answers from: JSON lines, the hash of all others in the last.
    """
    lines = cassette_of_job(state.store, state.store.job(job_id), state.settings.data_dir)
    name = f'attachment; filename="{job_id}.cassette.jsonl"'
    headers = {"Content-Disposition": name}
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)
