"""Opens pictures from outside, if their format is known and their size can be decoded."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

MAX_PIXELS = 50_000_000
KEPT_AS_THEY_ARE = ("PNG", "JPEG")  # formats that every provider reads


class BadPicture(Exception):
    """A picture that cannot be shown; its text goes on a sentence that names the picture."""


class TooManyPixels(BadPicture):
    """A picture of more than MAX_PIXELS pixels."""


@contextmanager
def open_picture(file: IO[bytes], formats: tuple[str, ...] = KEPT_AS_THEY_ARE) -> "Iterator[PillowImage]":
    """The picture, of which only the head is read yet.

    Raises:
        BadPicture: it is in none of the formats, has too many pixels, or breaks off as the block decodes it.
    """
    from PIL import Image  # late: jobs of text have no picture

    fault = f"is no picture; allowed: {', '.join(formats)}"
    try:
        with Image.open(file, formats=formats) as image:
            if image.width * image.height > MAX_PIXELS:
                raise TooManyPixels(f"has {image.width:,} x {image.height:,} pixels; allowed: {MAX_PIXELS:,}")
            fault = "is a broken picture"
            yield image
    except Image.DecompressionBombError as error:
        # Pillow counted them in the head, and does not say how many.
        raise TooManyPixels(f"has far more than the {MAX_PIXELS:,} pixels that are allowed") from error
    except (OSError, ValueError, SyntaxError) as error:
        raise BadPicture(fault) from error
