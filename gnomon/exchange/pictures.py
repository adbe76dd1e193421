"""Pictures and videos of a trace in the words and shapes of other formats, and back."""

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]
ReadPicture = Callable[[str], bytes | None]

FOLDER = "media"  # beside the file that names its pictures by path
SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
MEDIA_TYPES = {suffix: media_type for media_type, suffix in SUFFIXES.items()}
PLACEHOLDER = re.compile(r"<(image/[\w.+-]+|video/[\w.+-]+) ([0-9a-f]+)>")
PATH = re.compile(rf"{FOLDER}/([0-9a-f]{{64}})\.(\w+)")
TOOL_PICTURE = "image/png"  # what tools draw; those of servers may be JPEG as well
STARTS = ((b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))


def path_of(sha256: str, media_type: str) -> str:
    """Where a picture lies beside the file that names it.

    >>> path_of("ab", "image/jpeg")
    'media/ab.jpg'
    """
    return f"{FOLDER}/{sha256}.{SUFFIXES.get(media_type, 'bin')}"


def placeholder(block: Json) -> str:
    """A picture or a video in words: its media type and the hash of its bytes."""
    return f"<{block.get('media_type')} {block.get('sha256')}>"


def block_of_placeholder(text: str) -> dict[str, str] | None:
    """The block that such words name; None of other text, and of a video, whose length they do not say.

    >>> block_of_placeholder("<image/png ab>")
    {'type': 'image', 'sha256': 'ab', 'media_type': 'image/png'}
    """
    match = PLACEHOLDER.fullmatch(text)
    if match is None or not match[1].startswith("image/"):
        return None
    return {"type": "image", "sha256": match[2], "media_type": match[1]}


def data_url(block: Json, picture: ReadPicture) -> str | None:
    r"""A picture as a data URL; None of a video, and where its bytes are gone.

    Its first bytes say what it is, as a trace has the mere hash of what a tool returned.

    >>> data_url({"type": "image", "sha256": "ab", "media_type": "image/png"}, lambda _: b"\xff\xd8\xff")
    'data:image/jpeg;base64,/9j/'
    """
    if block.get("type") != "image":
        return None
    data = picture(str(block.get("sha256")))
    if data is None:
        return None
    media_type = next((name for start, name in STARTS if data.startswith(start)), block.get("media_type"))
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


def tool_blocks(pictures: Sequence[str]) -> list[dict[str, str]]:
    """The pictures that a tool returned, as blocks."""
    return [{"type": "image", "sha256": str(each), "media_type": TOOL_PICTURE} for each in pictures]
