"""Serves pictures of questions and traces, whole or as thumbnails, by the hash of their bytes."""

import functools
import io
import re
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi import Path as FromPath
from fastapi.responses import Response

from gnomon.core.errors import NotFound
from gnomon_service.api.places import in_place
from gnomon_service.api.state import Shared
from gnomon_workers.open_job import media_of

WIDTHS = (160, 320, 640, 1280)
THUMBNAILS_KEPT = 256
IMMUTABLE = "private, max-age=31536000, immutable"

router = APIRouter(include_in_schema=False)


@router.get("/ui/media/{sha256}", response_model=None)
@in_place("pictures")
def media(
    state: Shared,
    sha256: Annotated[str, FromPath(pattern="^[0-9a-f]{64}$")],
    w: Annotated[int | None, Query(description="at most so many pixels wide")] = None,
) -> Response:
    """A picture, `w` pixels wide at most: the next larger of WIDTHS."""
    folder = state.settings.data_dir
    width = None if w is None else next((size for size in WIDTHS if size >= w), None)
    read = media_of(folder).read if width is None else functools.partial(_thumbnail, folder, width=width)
    data = read(sha256)
    headers = {"Cache-Control": IMMUTABLE, "Content-Security-Policy": "default-src 'none'"}
    return Response(data, media_type=_kind(data), headers=headers)


@functools.lru_cache(maxsize=THUMBNAILS_KEPT)
def _thumbnail(folder: Path, sha256: str, *, width: int) -> bytes:
    from PIL import Image  # late: pages without pictures need none

    data = media_of(folder).read(sha256)
    with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
        if image.width <= width:
            return data
        # A JPEG is read at a smaller size where it need not be converted before.
        small = image if image.mode in ("L", "RGB") else image.convert("RGB")
        small.thumbnail((width, 10 * width))
        out = io.BytesIO()
        small.save(out, format="PNG" if image.format == "PNG" else "JPEG", quality=85, optimize=True)
        return out.getvalue()


def _kind(data: bytes) -> str:
    if data.startswith(b"\x89PNG"):
        return "image/png"
    if re.match(rb"\xff\xd8", data):
        return "image/jpeg"
    raise NotFound("these bytes are no picture; allowed: PNG, JPEG", field="sha256")
