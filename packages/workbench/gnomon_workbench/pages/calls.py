"""Routes that call a tool on a scene, once or for very many rows."""

import asyncio
import tempfile
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from fastapi.responses import Response, StreamingResponse

from gnomon_service.api.content_negotiation import choose
from gnomon_service.api.places import watched
from gnomon_service.api.request_body import (
    JSON,
    YAML,
    PostedBody,
    body_docs,
    posted_body,
    type_of_body,
)
from gnomon_service.api.state import Shared, State
from gnomon_service.posted_json import json_body
from gnomon_workbench.answer_apart import answer_apart, pieces_of
from gnomon_workbench.batch import ARROW, batch_answer
from gnomon_workbench.tool_call import call_tool, parts_of

router = APIRouter(prefix="/v1/tools", tags=["tools"])

OFFERED = (JSON, ARROW)
LARGE_BYTES = 1_000_000  # a batch beyond it is answered by a process of its own

SCENE = "GeoJSON, or a path to it; for tools that need a scene"

CALL_BODY = body_docs(
    {
        "type": "object",
        "properties": {
            "scene": {"type": ["object", "string"], "description": SCENE},
            "args": {"type": "object", "description": "the tool's arguments"},
        },
    }
)

BATCH_BODY = body_docs(
    {
        "type": "object",
        "required": ["args"],
        "properties": {
            "scene": {"type": ["object", "string"], "description": SCENE},
            "args": {"type": "object", "description": "the batch form's columns, by name"},
        },
    }
)


@router.post("/{name}", openapi_extra=CALL_BODY)
async def post_call(request: Request, state: Shared, name: str, body: PostedBody) -> dict[str, Any]:
    """Call a tool, on a scene where it needs one: GeoJSON in the body, or a path under GNOMON_MEDIA_ROOTS."""

    def call() -> dict[str, Any]:
        scene, args = parts_of(body(), state.settings.media_roots)
        return call_tool(name, scene, args)

    return await state.places.calls.run(request, call)


@router.post("/{name}/batch", openapi_extra=BATCH_BODY, response_model=None)
async def post_batch(
    request: Request, state: Shared, name: str, accept: Annotated[str | None, Header()] = None
) -> Response:
    """Call a tool for very many rows: columns in `args`, columns in the answer, as JSON or as Arrow.

    Up to 1,000,000 rows and 64 MB. A column is a list of one value a row, or one value for all. A row that
    has no answer is null. A large batch ends when its client disconnects.
    """
    kind = choose(accept, OFFERED)
    if type_of_body(request, JSON, *YAML) != JSON:
        read = await posted_body(request)
        return await state.places.calls.run(request, lambda: _batch(state, name, read(), kind))
    async with state.places.batch_bodies.taken(asyncio.Event()):
        with tempfile.TemporaryFile() as file:
            async for piece in request.stream():
                file.write(piece)
            size = file.tell()
            file.seek(0)
            if size <= LARGE_BYTES:
                text = file.read()
                return await state.places.calls.run(
                    request, lambda: _batch(state, name, json_body(text), kind)
                )
            async with watched(request) as gone, state.places.batches.taken(gone):
                roots = state.settings.media_roots
                answer = await answer_apart(file, name, kind, roots=roots, gone=gone)
    return StreamingResponse(pieces_of(answer), media_type=kind)


def _batch(state: State, name: str, body: object, kind: str) -> Response:
    answer = b"".join(batch_answer(body, name, kind, roots=state.settings.media_roots))
    return Response(answer, media_type=kind)
