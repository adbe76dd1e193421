"""Keeps map readings on disk, so that a picture is read once, and puts them into a scene."""

import hashlib
import io
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from PIL import Image
from pydantic import TypeAdapter, ValidationError

from gnomon.core.ids import stable_hash
from gnomon.core.sample import ImageRef
from gnomon.whole_file import write_whole
from gnomon_published.benchmarks.gtr_bench.map_reading.reading import READER_VERSION, MapReading, read_map
from gnomon_tools.scene.scene import MapImage, Scene


def mapped_scene(scene: Scene, reading: MapReading, image: ImageRef) -> Scene:
    """The scene with positions, headings and map image; cameras that were not read stay as they are.

    `image` may be a smaller copy of the picture that was read. The drawn field of view is left out: it is the
    same symbol for every camera, 41 px and 60 degrees, on maps of either scale.
    """
    cameras = dict(scene.cameras)
    for camera in reading.cameras:
        cameras[camera.camera_id] = replace(
            cameras[camera.camera_id],
            xy_m=reading.xy_m(camera),
            heading_deg=camera.heading_deg,
            position_error_m=round(reading.error_m(camera), 2),
        )
    if reading.scale is None:
        return replace(scene, cameras=cameras)
    shrunk = image.width / reading.size_px[0]
    centre_px = (reading.centre_px[0] * shrunk, reading.centre_px[1] * shrunk)
    map_image = MapImage(
        file=image.sha256,
        metres_per_pixel=reading.scale.metres_per_pixel / shrunk,
        origin_px={0: centre_px},
    )
    return replace(scene, cameras=cameras, map_image=map_image)


class ReadingStore:
    """A folder of readings, named by the picture's content, the ids asked for and the reader's version.

    Writing twice is harmless, and a broken file is read from the picture anew.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, picture: bytes, camera_ids: Collection[str]) -> MapReading:
        """What a PNG or JPEG says about these cameras.

        Raises:
            OSError: the picture is neither PNG nor JPEG.
            NoRoom: the disk is full.
        """
        key = stable_hash(READER_VERSION, hashlib.sha256(picture).hexdigest(), sorted(set(camera_ids)))
        path = self.folder / f"{key}.json"
        adapter = TypeAdapter(MapReading)
        try:
            return adapter.validate_json(path.read_bytes())
        except (FileNotFoundError, ValidationError):
            pass
        with Image.open(io.BytesIO(picture), formats=("PNG", "JPEG")) as image:
            reading = read_map(image, camera_ids)
        write_whole(path, adapter.dump_json(reading))
        return reading
