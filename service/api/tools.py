"""Route that calls a tool on a scene."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from gnomon.core.errors import SpecError
from gnomon.spec import data_paths
from service.api.request_body import body_docs, plain_body
from service.api.state import Shared
from service.tool_call import call_tool, inline_scene, scene_file

router = APIRouter(prefix="/v1/tools", tags=["tools"])

CALL_BODY = body_docs(
    {
        "type": "object",
        "required": ["scene"],
        "properties": {
            "scene": {"type": ["object", "string"], "description": "GeoJSON, or a path to it"},
            "args": {"type": "object", "description": "the tool's arguments"},
        },
    }
)


@router.post("/{name}", openapi_extra=CALL_BODY)
def post_call(state: Shared, name: str, body: Annotated[object, Depends(plain_body)]) -> dict[str, Any]:
    """Call a tool on a scene: GeoJSON in the body, or a path under GNOMON_MEDIA_ROOTS."""
    if not isinstance(body, dict):
        raise SpecError("must be one JSON object {scene, args}", field="body")
    unknown = sorted(set(body) - {"scene", "args"})
    if unknown:
        raise SpecError("unknown field; allowed: scene, args", field=unknown[0])
    scene = body.get("scene")
    if isinstance(scene, str):
        parsed = scene_file(data_paths.from_request(scene, state.settings.media_roots, field="scene"))
    elif isinstance(scene, dict):
        parsed = inline_scene(scene)
    else:
        raise SpecError("needs a GeoJSON object, or a path under GNOMON_MEDIA_ROOTS", field="scene")
    return call_tool(name, parsed, body.get("args", {}))
