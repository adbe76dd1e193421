"""Builds the scenes of the two places for the tools.

Indoors: the building as read from the map picture (`indoor.geojson`, docs/benchmarks/gtr-indoor.md) with the
published homographies, in metres, x east and y north of the south-west corner of a floor's panel. Outdoors:
the names of the cameras; ids change from question to question, so their positions are read off each
question's own map (`map_reading`, docs/benchmarks/gtr-maps.md).
"""

from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import BaseModel, ConfigDict, FiniteFloat, TypeAdapter, ValidationError

from gnomon.core.errors import DataError
from gnomon.core.sample import ImageRef
from gnomon_published.benchmarks.gtr_bench.case import CAMERA_ID, Case
from gnomon_tools.core.regular_file import open_regular, read_regular
from gnomon_tools.scene.document import SceneError
from gnomon_tools.scene.format import read_scene
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Camera, MapImage, Point, Scene

ATTRIBUTION = "GTR-Bench (MIT); indoor cameras of MTMMC, outdoor cameras of CityFlow"

METRES_PER_PIXEL = 10 / 112  # of the indoor maps: their bar of 10 m is 112 px long
PANEL_PX = 546  # height of a floor's panel below its title
TITLE_PX = 50
FLOOR_BY_INK = {1147: 1, 1268: 2, 1264: 3}  # dark pixels of the titles level_1, level_2, level_3
MARGIN_PX = 100  # left of every title: white in a title's rows, dark in a floor's
COMPASS_PX = 600  # the compass is right of this

_Row = tuple[FiniteFloat, FiniteFloat, FiniteFloat]


class _Homography(BaseModel):
    """One camera of the published file: foot point in image pixels to pixels of its floor's panel."""

    model_config = ConfigDict(extra="ignore")

    camera_id: str
    homography_matrix: tuple[_Row, _Row, _Row]


def outdoor_scene(case: Case) -> Scene:
    """The cameras that a case names, without positions: only its map shows them."""
    texts = " ".join((case.question, *case.choices))
    ids = {clip.camera_id for clip in case.clips} | set(CAMERA_ID.findall(texts))
    cameras = {camera_id: Camera(id=camera_id) for camera_id in sorted(ids)}
    return Scene(id="outdoor", frame=Frame(), kind="outdoor", cameras=cameras, attribution=ATTRIBUTION)


@lru_cache(maxsize=64)
def own_scene(file: Path) -> Scene:
    """The scene of a folder that brings its own.

    Raises:
        DataError: the file is not a scene.
    """
    try:
        return read_scene(file)
    except SceneError as error:
        raise DataError(f"{file.name} is no scene: {error}") from None


def indoor_scene(homographies: Path | None) -> Scene:
    """The building; cameras without a published homography have none. Built once for a file's content.

    Raises:
        DataError: the file exists but is not a list of 3 x 3 matrices by camera.
    """
    if homographies is None or not homographies.is_file():
        return _indoor_scene(b"[]")
    try:
        return _indoor_scene(read_regular(homographies))
    except (OSError, ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"the homographies in {homographies.name} cannot be used: {reason}") from None


@lru_cache(maxsize=8)
def _indoor_scene(published: bytes) -> Scene:
    homographies = TypeAdapter(list[_Homography]).validate_json(published)
    scale = METRES_PER_PIXEL
    to_metres = np.array(((scale, 0.0, 0.0), (0.0, -scale, scale * PANEL_PX), (0.0, 0.0, 1.0)))
    cameras = dict(_building().cameras)
    for item in homographies:
        if item.camera_id in cameras:
            matrix = to_metres @ np.array(item.homography_matrix)
            cameras[item.camera_id] = replace(cameras[item.camera_id], homography=matrix)
    return replace(_building(), cameras=cameras)


@cache
def _building() -> Scene:
    return read_scene(Path(__file__).with_name("indoor.geojson"))


def map_image_of(image: ImageRef, picture: Path) -> MapImage | None:
    """How the pixels of an indoor map become metres, for the floors it shows; None if it shows none.

    The picture stacks panels: a white strip that ends in the floor's title, then the floor. Which floor it is
    shows in how much is printed in the title.
    """
    with open_regular(picture) as file, Image.open(file) as source:
        grey = np.asarray(source.convert("L"))
    shrunk = image.height / grey.shape[0]  # `image` may be a smaller copy of the picture
    white: NDArray[np.bool_] = np.all(grey[:, :MARGIN_PX] > 250, axis=1)
    origins: dict[int, Point] = {}
    for top in np.flatnonzero(white[:-1] & ~white[1:]) + 1:
        title = grey[max(top - TITLE_PX, 0) : top, :COMPASS_PX]
        floor = FLOOR_BY_INK.get(int((title < 128).sum()))
        if floor is not None:
            origins[floor] = (0.0, float(top + PANEL_PX) * shrunk)
    if not origins:
        return None
    return MapImage(file=image.sha256, metres_per_pixel=METRES_PER_PIXEL / shrunk, origin_px=origins)
