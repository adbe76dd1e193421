"""Scene files: GeoJSON (RFC 7946) in WGS 84, read into and written from the scene's local metres.

The format is told in docs/scenes.md; this is its front door.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from tools.core.regular_file import open_regular
from tools.scene.decode import Decoder
from tools.scene.document import SceneDocument
from tools.scene.encode import encode
from tools.scene.errors import SceneError
from tools.scene.scene import Scene

MAX_SCENE_BYTES = 20_000_000


def read_scene(path: Path) -> Scene:
    """Read a scene file.

    Raises:
        SceneError: the file is absent, larger than 20 MB, not JSON, or not a scene.
    """
    try:
        with open_regular(path) as file:
            text = file.read(MAX_SCENE_BYTES + 1).decode()
    except OSError as error:
        raise SceneError(f"{path.name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SceneError(f"{path.name} cannot be read: {error}") from None
    if len(text) > MAX_SCENE_BYTES:
        raise SceneError(f"{path.name} is larger than {MAX_SCENE_BYTES:,} bytes")
    try:
        given = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise SceneError(f"{path.name} nests too deep") from None
    except SceneError:
        raise
    except ValueError as error:
        raise SceneError(f"{path.name} is not JSON: {error}") from None
    return scene_from_json(given)


def write_scene(scene: Scene, path: Path) -> None:
    """Write a scene file, one feature a line, readable again by `read_scene`.

    Raises:
        SceneError: the scene holds something that the format refuses, such as a heading of 400°.
    """
    document = scene_to_json(scene)
    features = ",\n".join(json.dumps(feature, allow_nan=False) for feature in document["features"])
    head = json.dumps(
        {name: value for name, value in document.items() if name != "features"}, allow_nan=False
    )
    path.write_text(f'{head[:-1]}, "features": [\n{features}\n]}}\n', encoding="utf-8")


def scene_from_json(given: object) -> Scene:
    """Make a scene of parsed JSON.

    Raises:
        SceneError: the first fault, with the path to it.
    """
    try:
        document = SceneDocument.model_validate(given)
    except ValidationError as error:
        raise _first_fault(error, given) from None
    return Decoder(document).scene()


def scene_to_json(scene: Scene) -> dict[str, Any]:
    """The scene as JSON-able data; coordinates survive the way there and back to 1 µm.

    Raises:
        SceneError: the scene holds something that the format refuses.
    """
    document = encode(scene)
    scene_from_json(document)
    return document


def scene_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a scene file."""
    return SceneDocument.model_json_schema()


def _refuse_constant(constant: str) -> NoReturn:
    raise SceneError(f"{constant} is no JSON number")


def _first_fault(error: ValidationError, given: object) -> SceneError:
    fault = error.errors(include_url=False)[0]
    loc = list(fault["loc"])
    if len(loc) > 2 and loc[0] == "features":
        del loc[2]  # the kind, which the discriminator put there; no part of the document's own path
    value = "" if isinstance(fault["input"], dict | list) else f", not {repr(fault['input'])[:60]}"
    message = fault["msg"].removeprefix("Value error, ")
    return SceneError(f"{message}{value}{_whose(loc, given)}", field=".".join(map(str, loc)) or "scene")


def _whose(loc: Sequence[object], given: object) -> str:
    """` (camera 'c1')` where the fault lies in a feature that can be named."""
    try:
        feature = given["features"][loc[1]]  # type: ignore[index]  # whatever came in: any miss is caught
        return f" ({feature['properties']['kind']} {feature['id']!r})"
    except (KeyError, IndexError, TypeError):
        return ""
