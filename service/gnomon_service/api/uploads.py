"""Route that takes a file of questions, streamed to the disk, and says what is in it."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from gnomon.core.errors import SpecError
from gnomon.media.uploads import kind_of, new_part
from gnomon_service import uploads
from gnomon_service.answers import UploadView
from gnomon_service.api.request_body import type_of_body
from gnomon_service.api.state import Shared

OCTETS = "application/octet-stream"
BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {OCTETS: {"schema": {"type": "string", "format": "binary"}}}}
}

router = APIRouter(tags=["jobs"])


@router.post("/v1/uploads/{name}", status_code=201, openapi_extra=BODY)
async def post_upload(
    request: Request,
    state: Shared,
    name: str,
    columns: Annotated[list[str] | None, Query(description="OURS=THEIRS, where names differ")] = None,
    scorer: Annotated[str | None, Query(max_length=1_000, description="of rows that name none")] = None,
) -> UploadView:
    """Keep a file of questions, named with its ending. A spec names it by the `data` of the answer.

    The answer tells its columns, what is wrong with which line, and its first questions as a model sees them.
    """
    kind = kind_of(name)
    type_of_body(request, OCTETS)
    reading = uploads.reading_of(dict(map(_pair, columns or ())), scorer)
    media = state.questions.media
    async with state.places.uploads.taken(asyncio.Event()):
        with new_part(media) as part:
            with part.open("xb") as file:
                async for piece in request.stream():
                    file.write(piece)

            def kept() -> UploadView:
                data = uploads.keep(part, kind, state.settings, media)
                return uploads.view_of(data, reading, media)

            return await state.places.jobs.run(request, kept)


def _pair(text: str) -> tuple[str, str]:
    ours, is_pair, theirs = text.partition("=")
    if not is_pair or not theirs:
        raise SpecError(f"{text[:80]!r} is not of the form OURS=THEIRS", field="columns")
    return ours.strip(), theirs.strip()
