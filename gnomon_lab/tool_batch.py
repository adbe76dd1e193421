"""Calls a tool for very many rows at once, on NumPy arrays."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon_tools.scene.scene import Scene


def batch(
    tool: str, scene: "str | Path | Mapping[str, Any] | Scene", /, **columns: Any
) -> "dict[str, NDArray[Any]]":
    """Call the batch form of a tool: columns in, columns out (docs/tools.md lists them, with shapes).

    The scene is a file, GeoJSON as a mapping, or a scene that was read before. A column is an array of one
    value a row, or one value for all rows. To read a scene costs more than a small batch: who calls often
    reads it once, by `read_scene` of `gnomon_tools.scene.format`. Positions are metres on the scene's plane
    (x east, y north), bearings degrees clockwise from north, times seconds. A row that has no answer is
    NaN.

    >>> frame = {"lon_deg": 25.0, "lat_deg": 60.0, "anchored": False}
    >>> about = {"format": 1, "id": "bare", "kind": "outdoor", "frame": frame}
    >>> scene = {"type": "FeatureCollection", "features": [], "gnomon": about}
    >>> batch("distance", scene, start=[[0, 0], [3, 0]], end=[3, 4])["straight_m"].tolist()
    [5.0, 4.0]

    Raises:
        NotFound: the tool does not exist.
        SpecError: it has no batch form, the scene cannot be read, or a column is missing or not allowed; the
            field names the column and its row.
    """
    from gnomon_workbench.tool_call import (  # late: a job needs none of it
        call_batch,
        inline_scene,
        scene_file,
    )

    if isinstance(scene, str | Path):
        read = scene_file(Path(scene))
    else:
        read = inline_scene(scene) if isinstance(scene, Mapping) else scene
    return call_batch(tool, read, columns)
