"""Payload: the body of a chat completion as the bytes that travel, pictures written once a process."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from agents.models import wire
from agents.models.pictures import PICTURES, Pictures
from gnomon.media import MediaStore
from gnomon.message import Message
from gnomon.model import Request
from gnomon.per_toolset import PerToolset

CHUNK_BYTES = 1 << 16  # handed to the socket at a time: what waits there is a copy


def dump(value: object) -> str:
    """Compact JSON.

    Raises:
        ValueError: a number in it is not finite.
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


class Payload:
    """Bodies of one model's calls; `fields` is what all of them say, `pictures` whether it takes any."""

    def __init__(
        self,
        fields: Mapping[str, Any],
        media: MediaStore,
        *,
        pictures: bool = True,
        kept: Pictures = PICTURES,
    ) -> None:
        said = {name: value for name, value in fields.items() if value is not None}
        self._head, self._media, self._pictures, self._kept = dump(said)[:-1], media, pictures, kept
        self._tools = PerToolset(dump)

    def pieces(self, request: Request, drawn: Mapping[str, Any] = MappingProxyType({})) -> list[bytes]:
        """The body, in pieces to be sent one after another; `drawn` are the fields of this call alone.
        A picture is a piece of its own, the same object whichever call it belongs to.

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
            for part in self._parts(message):
                if isinstance(part, bytes):
                    pieces += [plain.encode(), part]
                    plain = ""
                else:
                    plain += part
        return [*pieces, f"{plain}]}}".encode()]

    def _parts(self, message: Message) -> Iterator[str | bytes]:
        """The message as JSON: text, and between it pictures as they are kept."""
        content = message["content"]
        if not self._pictures or not isinstance(content, list):
            yield dump(wire.message_out(message, self._media, pictures=self._pictures))
            return
        fields = wire.message_out({**message, "content": None}, self._media, pictures=True)
        yield dump({name: value for name, value in fields.items() if name != "content"})[:-1] + ',"content":['
        for number, block in enumerate(content):
            yield "," if number else ""
            if block["type"] == "image":
                yield '{"type":"image_url","image_url":{"url":"'
                yield self._kept.url(block, self._media)
                yield '"}}'
            else:
                yield dump(wire.block_out(block, self._media, pictures=True))
        yield "]}"


async def in_chunks(pieces: Sequence[bytes]) -> AsyncIterator[memoryview]:
    """The pieces in small parts, so that no call ever holds a copy of its large body."""
    for piece in pieces:
        view = memoryview(piece)
        for start in range(0, len(view), CHUNK_BYTES):
            yield view[start : start + CHUNK_BYTES]
