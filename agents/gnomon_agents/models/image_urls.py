"""Writes pictures as data URLs, each once per process for all arms, models, repeats and turns."""

import base64
from contextlib import suppress

from cachetools import LRUCache

from gnomon.core.errors import DataError, NotFound
from gnomon.core.message import ImageBlock, VideoBlock
from gnomon.media import MediaStore

KEPT_BYTES = 256_000_000


class DataUrlCache:
    """Keeps data URLs by the hash of their picture, up to `limit_bytes`; drops the longest unused."""

    def __init__(self, limit_bytes: int = KEPT_BYTES) -> None:
        self._kept: LRUCache[tuple[MediaStore, str, str], bytes] = LRUCache(limit_bytes, getsizeof=len)
        self.written = 0

    def url(self, block: ImageBlock | VideoBlock, media: MediaStore) -> bytes:
        """The picture or video as a data URL, the same object whoever asks.

        Raises:
            DataError: it is not in the store.
        """
        key = (media, block["sha256"], block["media_type"])
        data_url = self._kept.get(key)
        if data_url is None:
            data_url = _data_url(*key)
            self.written += 1
            with suppress(ValueError):  # larger than the limit: written again each time
                self._kept[key] = data_url
        return data_url

    def base64(self, block: ImageBlock | VideoBlock, media: MediaStore) -> memoryview:
        """The picture in base64: a part of its data URL, not a copy.

        Raises:
            DataError: it is not in the store.
        """
        url = self.url(block, media)
        return memoryview(url)[url.index(b",") + 1 :]


PICTURES = DataUrlCache()  # of the process: the arms and models of a sample lie side by side


def _data_url(media: MediaStore, sha256: str, media_type: str) -> bytes:
    try:
        data = media.read(sha256)
    except NotFound as error:
        raise DataError(f"a picture of the prompt is missing: {error}") from None
    return b"data:%b;base64,%b" % (media_type.encode(), base64.b64encode(data))
