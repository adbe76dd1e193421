"""Serves style sheets and scripts at addresses that change with their content, so browsers may keep them."""

import functools
import hashlib
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import Response

from gnomon import drawing, report
from gnomon.core.errors import NotFound
from gnomon_service.extension import EXTENSIONS

TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
FOREVER = "public, max-age=31536000, immutable"

open_router = APIRouter(include_in_schema=False)


@open_router.get("/ui/static/{name}")
def static_file(name: str) -> Response:
    """A file of the page's own: style or script."""
    if name not in _files():
        raise NotFound(f"no file {name!r}", field="name")
    body, _ = _files()[name]
    headers = {"Cache-Control": FOREVER}
    return Response(body, media_type=TYPES[Path(name).suffix], headers=headers)


def static_url(name: str) -> str:
    """The address of a file, with the hash of its content.

    Raises:
        KeyError: the file does not exist.
    """
    return f"/ui/static/{name}?v={_files()[name][1]}"


def folders(name: str) -> list[Path]:
    """The folders of that name that extensions bring for their pages."""
    added = (folder / name for extension in EXTENSIONS for folder in extension.folders)
    return [folder for folder in added if folder.is_dir()]


@functools.cache
def _files() -> dict[str, tuple[bytes, str]]:
    own = (Path(__file__).parent / "static", Path(drawing.__file__).parent)
    paths = [
        path
        for folder in (*own, *folders("static"))
        for path in sorted(folder.iterdir())
        if path.suffix in TYPES
    ]
    bodies = {path.name: path.read_bytes() for path in paths}
    bodies["report.css"] = (Path(report.__file__).parent / "report.css").read_bytes()
    return {name: (body, hashlib.sha256(body).hexdigest()[:12]) for name, body in bodies.items()}
