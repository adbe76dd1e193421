"""Writes the body of a chat completion as bytes; pictures are written once per process."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from gnomon.core.compact_json import compact_json, dump
from gnomon.core.message import Message
from gnomon.core.model import Request, memoize_by_tools
from gnomon.media import MediaStore
from gnomon_agents.models import chat_format as wire
from gnomon_agents.models.chat_turn import AS_IT_CAME, TurnRules
from gnomon_agents.models.image_urls import PICTURES, DataUrlCache
from gnomon_agents.models.prompt_cache import MARK, mark, marked_places


class Payload:
    """Bodies of one model's calls; `fields` is what all of them say, `pictures` whether it takes any."""

    def __init__(
        self,
        fields: Mapping[str, Any],
        media: MediaStore,
        *,
        pictures: bool = True,
        kept: DataUrlCache = PICTURES,
        rules: TurnRules = AS_IT_CAME,
        seed_name: str | None = "seed",
        is_marked: bool = False,
    ) -> None:
        """`rules` say which turns go back whole, `is_marked` whether prefixes to be cached get a mark."""
        stated = {name: value for name, value in fields.items() if value is not None}
        self._head, self._media, self._pictures, self._kept = dump(stated)[:-1], media, pictures, kept
        self._rules, self._seed_name, self._is_marked = rules, seed_name, is_marked
        self._tools = memoize_by_tools(dump)

    def pieces(self, request: Request, drawn: Mapping[str, Any] = MappingProxyType({})) -> list[bytes]:
        """The body, in pieces to be sent one after another; `drawn` are the fields of this call alone.
        A picture is a piece of its own, the same object whichever call it belongs to.

        Raises:
            DataError: a picture is not in the store.
        """
        plain = self._head + (f",{dump(drawn)[1:-1]}" if drawn else "")
        if request.seed is not None and self._seed_name:
            plain += f',"{self._seed_name}":{request.seed}'
        if request.tools:
            plain += f',"tools":{self._tools(request.tools)},"tool_choice":"{request.tool_choice}"'
        pieces, comma = [], ""
        plain += ',"messages":['
        for parts in self._messages(request):
            plain += comma
            comma = ","
            for part in parts:
                if isinstance(part, bytes):
                    pieces += [plain.encode(), part]
                    plain = ""
                else:
                    plain += part
        return [*pieces, f"{plain}]}}".encode()]

    def _messages(self, request: Request) -> Iterable[Iterable[str | bytes]]:
        """Each message in its parts."""
        chosen = self._rules.chosen(request.messages)
        messages = wire.arranged(chosen, between=self._rules.provider.between)
        marked = marked_places(messages, offers_tools=bool(request.tools)) if self._is_marked else ()
        return [[*self._parts(message, is_marked=place in marked)] for place, message in enumerate(messages)]

    def _parts(self, message: Message, *, is_marked: bool) -> Iterator[str | bytes]:
        """The message as JSON: text, and between it pictures as they are kept."""
        content = message["content"]
        if not self._pictures or not isinstance(content, list):
            out = wire.message_out(message, self._media, pictures=self._pictures, rules=self._rules)
            yield compact_json(mark(out) if is_marked else out)
            return
        fields = wire.message_out({**message, "content": None}, self._media, pictures=True)
        yield dump({name: value for name, value in fields.items() if name != "content"})[:-1] + ',"content":['
        for number, block in enumerate(content):
            yield "," if number else ""
            if block["type"] != "text":
                kind = f"{block['type']}_url"
                yield f'{{"type":"{kind}","{kind}":{{"url":"'
                yield self._kept.url(block, self._media)
                yield '"}'
            else:
                yield dump(wire.block_out(block, self._media, pictures=True))[:-1]
            yield f',"cache_control":{dump(MARK)}}}' if is_marked and number + 1 == len(content) else "}"
        yield "]}"
