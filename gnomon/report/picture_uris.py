"""Turns pictures into small data: URIs, so that a file that stands alone can show them."""

import base64
import io

WIDTH = 560  # pixels at most, of a picture in the report
QUALITY = 72


def picture_uri(data: bytes, *, width: int = WIDTH) -> str | None:
    """The picture as a data: URI, `width` pixels wide or high at most; None where it cannot be read.

    It is always drawn anew, so that nothing but pixels comes with it.
    """
    from PIL import Image  # late: most reports of text have no pictures

    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
            image.draft("RGB", (2 * width, 2 * width))
            small = image.convert("RGB")
            small.thumbnail((width, width), reducing_gap=2.0)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    out = io.BytesIO()
    small.save(out, format="WEBP", quality=QUALITY, method=3)
    return f"data:image/webp;base64,{base64.b64encode(out.getvalue()).decode()}"
