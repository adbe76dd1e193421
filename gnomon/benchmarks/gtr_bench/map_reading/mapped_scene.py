"""Mapped scene: a scene whose cameras stand where a map reading puts them."""

from dataclasses import replace

from gnomon.benchmarks.gtr_bench.map_reading.reading import MapReading
from gnomon.core.sample import ImageRef
from tools.scene.scene import MapImage, Scene


def mapped_scene(scene: Scene, reading: MapReading, image: ImageRef) -> Scene:
    """The scene with positions, headings and map image; cameras that were not read stay as they are.

    `image` may be a smaller copy of the picture that was read. The drawn field of view is left out: it is the
    same symbol for every camera, 41 px and 60 degrees, on maps of either scale.
    """
    cameras = dict(scene.cameras)
    for read in reading.cameras:
        cameras[read.camera_id] = replace(
            cameras[read.camera_id],
            xy_m=reading.xy_m(read),
            heading_deg=read.heading_deg,
            position_error_m=round(reading.error_m(read), 2),
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
