"""Makes the pictures of two colours that an endpoint is asked about."""

import io

from PIL import Image

from gnomon.core.message import ImageBlock
from gnomon.fitness.examine import PICTURE_COLOURS, TOOL_PICTURE_COLOURS
from gnomon.media import MediaStore

SIZE_PX = (160, 80)


def pictures_in(media: MediaStore) -> list[ImageBlock]:
    """The picture for a prompt, and that for the result of a tool, kept among the media."""
    return [_picture(media, *colours) for colours in (PICTURE_COLOURS, TOOL_PICTURE_COLOURS)]


def _picture(media: MediaStore, left: str, right: str) -> ImageBlock:
    image = Image.new("RGB", SIZE_PX, left)
    image.paste(right, (SIZE_PX[0] // 2, 0, *SIZE_PX))
    data = io.BytesIO()
    image.save(data, format="PNG")
    kept = media.put(data.getvalue())
    return {"type": "image", "sha256": kept.sha256, "media_type": kept.media_type}
