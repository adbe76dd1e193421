"""Route of a job's cassette: the calls of its tool servers with their results."""

import tempfile
from collections.abc import Iterator
from typing import IO

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from service.api.state import Shared
from service.cassettes import write_job

CHUNK = 1 << 18

router = APIRouter(tags=["jobs"])


@router.get("/v1/jobs/{job_id}/cassette", response_class=StreamingResponse)
def get_cassette(state: Shared, job_id: str) -> StreamingResponse:
    """The calls of the job's tool servers so far, as a file that `cassette: {replay: FILE}` of an arm
    answers from: JSON lines, the hash of all others in the last.
    """
    file = tempfile.TemporaryFile()  # noqa: SIM115 (closed once it is sent)
    try:
        write_job(state.store, state.store.job(job_id), file, state.settings.data_dir)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    name = f'attachment; filename="{job_id}.cassette.jsonl"'
    return StreamingResponse(
        _chunks(file), media_type="application/x-ndjson", headers={"Content-Disposition": name}
    )


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK):
            yield chunk
