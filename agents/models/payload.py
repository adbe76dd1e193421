"""Payload: the body of a chat completion as the bytes that travel, pictures written once a process."""

import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from agents.models import wire
from gnomon.media import MediaStore
from gnomon.message import Message
from gnomon.model import Request
from gnomon.per_toolset import PerToolset

CHUNK_BYTES = 1 << 16  # handed to the socket at a time: what waits there is a copy
KEPT_BYTES = 256_000_000  # of written prompts with pictures


def dump(value: object) -> str:
    """Compact JSON.

    Raises:
        ValueError: a number in it is not finite.
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


class Prompts:
    """Messages with pictures as JSON, each written once as long as all of them fit into `limit_bytes`."""

    def __init__(self, limit_bytes: int = KEPT_BYTES) -> None:
        self._kept: OrderedDict[tuple[MediaStore, str], bytes] = OrderedDict()
        self._limit_bytes, self._bytes = limit_bytes, 0
        self.written = 0

    def get(self, message: Message, media: MediaStore) -> bytes:
        """The message as the provider wants it; pictures are compared by hash.

        Raises:
            DataError: a picture is not in the store.
        """
        key = (media, json.dumps(message))
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = dump(wire.message_out(message, media, pictures=True)).encode()
            self.written += 1
            self._bytes += len(found)
            while self._bytes > self._limit_bytes and len(self._kept) > 1:
                self._bytes -= len(self._kept.popitem(last=False)[1])
        self._kept.move_to_end(key)
        return found


PROMPTS = Prompts()  # for all models of the process: the arms and models of a sample lie side by side


class Payload:
    """Bodies of one model's calls; `fields` is what all of them say, `pictures` whether it takes any."""

    def __init__(
        self,
        fields: Mapping[str, Any],
        media: MediaStore,
        *,
        pictures: bool = True,
        prompts: Prompts = PROMPTS,
    ) -> None:
        said = {name: value for name, value in fields.items() if value is not None}
        self._head, self._media, self._pictures, self._prompts = dump(said)[:-1], media, pictures, prompts
        self._tools = PerToolset(dump)

    def pieces(self, request: Request, drawn: Mapping[str, Any] = MappingProxyType({})) -> list[bytes]:
        """The body, in pieces to be sent one after another; `drawn` are the fields of this call alone.
        A message with pictures is a piece of its own, the same object whichever call it belongs to.

        Raises:
            DataError: a picture is not in the store.
        """
        plain = self._head + (f",{dump(drawn)[1:-1]}" if drawn else "")
        if request.seed is not None:
            plain += f',"seed":{request.seed}'
        if request.tools:
            plain += f',"tools":{self._tools(request.tools)},"tool_choice":"{request.tool_choice}"'
        pieces, comma = [], ""
        plain += ',"messages":['
        for message in wire.arranged(request.messages):
            plain += comma
            comma = ","
            if self._pictures and _has_pictures(message):
                pieces += [plain.encode(), self._prompts.get(message, self._media)]
                plain = ""
            else:
                plain += dump(wire.message_out(message, self._media, pictures=self._pictures))
        return [*pieces, f"{plain}]}}".encode()]


def _has_pictures(message: Message) -> bool:
    content = message["content"]
    return isinstance(content, list) and any(block["type"] == "image" for block in content)


async def in_chunks(pieces: Sequence[bytes]) -> AsyncIterator[memoryview]:
    """The pieces in small parts, so that no call ever holds a copy of its large body."""
    for piece in pieces:
        view = memoryview(piece)
        for start in range(0, len(view), CHUNK_BYTES):
            yield view[start : start + CHUNK_BYTES]
