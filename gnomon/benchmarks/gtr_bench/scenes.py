"""Scenes: what is known of the two places, for tools to look at.

Indoors: cameras as read from the map picture (`indoor.json`) and their published homographies, in metres, x
east and y north of the south-west corner of a floor's panel. Outdoors: names of cameras only; ids change from
question to question and the map is a picture, so positions are unknown and stay None.
"""

import json
import math
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import BaseModel, ConfigDict, FiniteFloat, TypeAdapter, ValidationError
from shapely import Polygon

from gnomon.benchmarks.gtr_bench.case import Case
from gnomon.errors import DataError
from gnomon.sample import ImageRef
from tools.scene.frame import Frame
from tools.scene.scene import Camera, MapImage, Point, Scene

ATTRIBUTION = "GTR-Bench (MIT); indoor cameras of MTMMC, outdoor cameras of CityFlow"

MARGIN_PX = 100  # left of every title: white in a title's rows, dark in a floor's
COMPASS_PX = 600  # the compass lies right of this

_CAMERA_ID = re.compile(r"\bc\d+\b", re.ASCII)
_Row = tuple[FiniteFloat, FiniteFloat, FiniteFloat]


class _Homography(BaseModel):
    """One camera of the published file: foot point in image pixels to pixels of its floor's panel."""

    model_config = ConfigDict(extra="ignore")

    camera_id: str
    homography_matrix: tuple[_Row, _Row, _Row]


def outdoor_scene(case: Case) -> Scene:
    """The cameras that a case names, positions unknown."""
    named = " ".join((case.question, *case.choices))
    ids = {clip.camera_id for clip in case.clips} | set(_CAMERA_ID.findall(named))
    cameras = {camera_id: Camera(id=camera_id) for camera_id in sorted(ids)}
    return Scene(id="outdoor", frame=Frame(), kind="outdoor", cameras=cameras, attribution=ATTRIBUTION)


def indoor_scene(homographies: Path | None) -> Scene:
    """The building; cameras without a published homography have none. Built once for a file's content.

    Raises:
        DataError: the file is there but not a list of 3 x 3 matrices by camera.
    """
    if homographies is None or not homographies.is_file():
        return _indoor_scene(b"[]")
    try:
        return _indoor_scene(homographies.read_bytes())
    except (OSError, ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"the homographies in {homographies.name} cannot be used: {reason}") from None


@lru_cache(maxsize=8)
def _indoor_scene(published: bytes) -> Scene:
    given = TypeAdapter(list[_Homography]).validate_json(published)
    matrices = {item.camera_id: np.array(item.homography_matrix) for item in given}
    cameras = {
        camera_id: _camera(camera_id, drawn, matrices.get(camera_id))
        for camera_id, drawn in _reading()["cameras"].items()
    }
    return Scene(id="indoor", frame=Frame(), kind="indoor", cameras=cameras, attribution=ATTRIBUTION)


def _camera(camera_id: str, drawn: Mapping[str, Any], homography: NDArray[np.float64] | None) -> Camera:
    xy_m = _to_metres(drawn["apex_px"])
    area = Polygon([_to_metres(corner) for corner in drawn["field_of_view_px"]])
    centre = area.centroid
    heading_deg = math.degrees(math.atan2(centre.x - xy_m[0], centre.y - xy_m[1])) % 360
    return Camera(
        id=camera_id,
        xy_m=xy_m,
        floor=drawn["floor"],
        position_error_m=_reading()["position_error_m"],
        heading_deg=round(heading_deg),
        range_m=max(math.dist(xy_m, corner) for corner in area.exterior.coords),
        field_of_view=area,
        homography=None if homography is None else _panel_to_metres() @ homography,
        image_size=tuple(_reading()["image_size_px"]),
    )


def map_image_of(image: ImageRef, picture: Path) -> MapImage | None:
    """How the pixels of an indoor map become metres, for the floors it shows; None if it shows none.

    The picture stacks panels: a white strip that ends in the floor's title, then the floor. Which floor it is
    shows in how much is printed in the title.
    """
    with Image.open(picture) as source:
        grey = np.asarray(source.convert("L"))
    reading = _reading()
    floors = {ink: int(floor) for floor, ink in reading["title_ink_px"].items()}
    white: NDArray[np.bool_] = np.all(grey[:, :MARGIN_PX] > 250, axis=1)
    origins: dict[int, Point] = {}
    for top in np.flatnonzero(white[:-1] & ~white[1:]) + 1:
        title = grey[max(top - reading["title_height_px"], 0) : top, :COMPASS_PX]
        floor = floors.get(int((title < 128).sum()))
        if floor is not None:
            origins[floor] = (0.0, float(top + reading["panel_height_px"]))
    if not origins:
        return None
    return MapImage(file=image.sha256, metres_per_pixel=_metres_per_pixel(), origin_px=origins)


def _to_metres(pixel: Point) -> Point:
    x_m, y_m, _ = _panel_to_metres() @ (*pixel, 1.0)
    return float(x_m), float(y_m)


@cache
def _panel_to_metres() -> NDArray[np.float64]:
    """Pixels of a panel (x right, y down) to metres (x east, y north): the map's north is up."""
    scale, height_px = _metres_per_pixel(), _reading()["panel_height_px"]
    return np.array(((scale, 0.0, 0.0), (0.0, -scale, scale * height_px), (0.0, 0.0, 1.0)))


def _metres_per_pixel() -> float:
    bar = _reading()["scale_bar"]
    return float(bar["metres"] / bar["pixels"])


@cache
def _reading() -> dict[str, Any]:
    """What was read off the map picture by eye."""
    text = files("gnomon.benchmarks.gtr_bench").joinpath("indoor.json").read_text(encoding="utf-8")
    reading: dict[str, Any] = json.loads(text)
    return reading
