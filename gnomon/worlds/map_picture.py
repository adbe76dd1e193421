"""Map picture: a scene's map, drawn so that a person can answer from it."""

import io

from gnomon.worlds.map_ground import ground
from gnomon.worlds.map_lettering import letter
from gnomon.worlds.map_sheet import sheet_of
from tools.scene.scene import Scene


def draw_map(scene: Scene) -> bytes:
    """The map as PNG: streets or floor plans, cameras with their views, places, scale and compass.

    Raises:
        ValueError: the scene has neither roads nor zones.
    """
    if not scene.roads and not scene.zones:
        raise ValueError(f"the scene {scene.id!r} has neither roads nor zones to draw")
    sheet = sheet_of(scene, file=scene.map_image.file if scene.map_image else "")
    image = ground(scene, sheet)
    letter(image, scene, sheet)
    out = io.BytesIO()
    image.save(out, format="PNG", compress_level=4)
    return out.getvalue()
