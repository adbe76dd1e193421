"""Routes that call a tool on a scene, once or for very many rows."""

from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Header
from fastapi.responses import JSONResponse, Response

from gnomon.core.errors import SpecError
from gnomon.spec import data_paths
from gnomon_service.api.content_negotiation import choose
from gnomon_service.api.request_body import JSON, body_docs, plain_body
from gnomon_service.api.state import Shared, State
from gnomon_service.tool_call import (
    as_arrow_stream,
    as_json_columns,
    call_batch,
    call_tool,
    inline_scene,
    scene_file,
)
from gnomon_tools.scene.scene import Scene

router = APIRouter(prefix="/v1/tools", tags=["tools"])

ARROW = "application/vnd.apache.arrow.stream"
MAX_ROWS = 1_000_000  # of a batch

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
def post_call(state: Shared, name: str, body: Annotated[object, Depends(plain_body)]) -> dict[str, Any]:
    """Call a tool, on a scene where it needs one: GeoJSON in the body, or a path under GNOMON_MEDIA_ROOTS."""
    scene, args = _parts(state, body)
    return call_tool(name, scene, args)


@router.post("/{name}/batch", openapi_extra=BATCH_BODY, response_model=None)
async def post_batch(
    state: Shared,
    name: str,
    body: Annotated[object, Depends(plain_body)],
    accept: Annotated[str | None, Header()] = None,
) -> Response:
    """Call a tool for very many rows: columns in `args`, columns in the answer, as JSON or as Arrow.

    Up to 1,000,000 rows and 64 MB. A column is a list of one value a row, or one value for all. A row that
    has no answer is null.
    """
    kind = choose(accept, (JSON, ARROW))
    # Few at a time, as with reports: a batch takes long, and much memory.
    return await run_sync(_batch, state, name, body, kind, limiter=state.report_threads)


def _batch(state: State, name: str, body: object, kind: str) -> Response:
    scene, args = _parts(state, body)
    if not isinstance(args, dict):
        raise SpecError("must be one JSON object of columns", field="args")
    for column, values in args.items():
        if isinstance(values, list) and len(values) > MAX_ROWS:
            detail = f"has {len(values):,} rows; up to {MAX_ROWS:,} at once"
            raise SpecError(detail, field=f"args.{column}")
    columns = call_batch(name, scene, args)
    if kind == ARROW:
        return Response(as_arrow_stream(columns), media_type=ARROW)
    return JSONResponse(as_json_columns(columns))


def _parts(state: State, body: object) -> tuple[Scene | None, object]:
    """The scene, if there is one, and the arguments of a call."""
    if not isinstance(body, dict):
        raise SpecError("must be one JSON object {scene, args}", field="body")
    unknown = sorted(set(body) - {"scene", "args"})
    if unknown:
        raise SpecError("unknown field; allowed: scene, args", field=unknown[0])
    scene, parsed = body.get("scene"), None
    if isinstance(scene, str):
        parsed = scene_file(data_paths.from_request(scene, state.settings.media_roots, field="scene"))
    elif isinstance(scene, dict):
        parsed = inline_scene(scene)
    elif scene is not None:
        raise SpecError("needs a GeoJSON object, or a path under GNOMON_MEDIA_ROOTS", field="scene")
    return parsed, body.get("args", {})
