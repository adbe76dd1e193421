"""Pictures that are drawn when they are first read, once for all workers of a machine."""

import fcntl
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from gnomon.core.sample import ImageRef, VideoRef
from gnomon.media.store import MediaStore
from gnomon.whole_file import make_private_folder, room_for, write_whole


class DrawnLater(ImageRef):
    """A picture whose hash and size are found when one of them is first read; else as any other.

    Copies that leave the process are plain `ImageRef`s.
    """

    __slots__ = ("_draw",)
    _draw: Callable[[], ImageRef]

    def __init__(self, draw: Callable[[], ImageRef]) -> None:
        object.__setattr__(self, "_draw", draw)

    def __getattr__(self, name: str) -> Any:
        """Draw the picture; Python calls this only while the fields are empty."""
        if name not in ImageRef.__slots__:
            raise AttributeError(name)
        drawn = self._draw()
        for field in ImageRef.__slots__:
            object.__setattr__(self, field, getattr(drawn, field))
        return getattr(drawn, name)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, ImageRef) and asdict(self) == asdict(other))

    def __hash__(self) -> int:
        return hash((self.sha256, self.media_type, self.width, self.height))

    def __reduce__(self) -> Any:
        return partial(ImageRef, **asdict(self)), ()


class FilmedLater(VideoRef):
    """A video that is made when its hash is first read; its type and length are told beforehand."""

    __slots__ = ("_film",)
    _film: Callable[[], VideoRef]

    def __init__(self, film: Callable[[], VideoRef], *, media_type: str, seconds: float) -> None:
        object.__setattr__(self, "_film", film)
        object.__setattr__(self, "media_type", media_type)
        object.__setattr__(self, "seconds", seconds)

    def __getattr__(self, name: str) -> Any:
        """Make the video; Python calls this only while the hash is empty."""
        if name != "sha256":
            raise AttributeError(name)
        object.__setattr__(self, "sha256", self._film().sha256)
        return self.sha256

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, VideoRef) and asdict(self) == asdict(other))

    def __hash__(self) -> int:
        return hash((self.sha256, self.media_type, self.seconds))

    def __reduce__(self) -> Any:
        return partial(VideoRef, **asdict(self)), ()


def filmed_later(
    media: MediaStore, key: str, film: Callable[[], bytes], *, media_type: str, seconds: float
) -> VideoRef:
    """The video that `film` returns, made once as `drawn_later` draws pictures."""
    return FilmedLater(
        partial(_filmed, media, key, film, media_type, seconds), media_type=media_type, seconds=seconds
    )


def _filmed(
    media: MediaStore, key: str, film: Callable[[], bytes], media_type: str, seconds: float
) -> VideoRef:
    file = media.folder / "drawn" / key[:2] / f"{key}.json"
    with alone(media.folder / "drawn" / "locks", key):
        try:
            kept = VideoRef(**json.loads(file.read_bytes()))
            if media.has(kept.sha256):
                return kept
        except (OSError, ValueError, TypeError):
            pass
        video = media.put_film(film(), media_type=media_type, seconds=seconds)
        write_whole(file, json.dumps(asdict(video)).encode())
        return video


def drawn_later(media: MediaStore, key: str, draw: Callable[[], bytes]) -> ImageRef:
    """The picture that `draw` returns. Equal keys must mean equal bytes.

    Whoever looks first draws it, others wait and read; it is drawn again only where it is no longer kept.
    Looking raises what `draw` and `MediaStore.put` raise.
    """
    return DrawnLater(partial(_drawn, media, key, draw))


def _drawn(media: MediaStore, key: str, draw: Callable[[], bytes]) -> ImageRef:
    file = media.folder / "drawn" / key[:2] / f"{key}.json"
    if kept := _kept(media, file):
        return kept
    with alone(media.folder / "drawn" / "locks", key):
        if kept := _kept(media, file):
            return kept
        image = media.put(draw())
        write_whole(file, json.dumps(asdict(image)).encode())
        return image


def _kept(media: MediaStore, file: Path) -> ImageRef | None:
    try:
        image = ImageRef(**json.loads(file.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
    return image if media.has(image.sha256) else None


@contextmanager
def alone(folder: Path, key: str) -> Iterator[None]:
    """A context in which no other process or thread works on that key; `folder` holds the locks."""
    with room_for(folder):
        make_private_folder(folder)
        file = (folder / key[:2]).open("w")
    with file as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
