"""Reads chat lines, and writes them for fine-tuning."""

from collections.abc import Iterator
from pathlib import Path

from gnomon.exchange.format import LINES, Format, Reading, Start
from gnomon.exchange.run import Ended
from gnomon_formats.chat import files
from gnomon_formats.chat_read import read_chats


def _is_of(start: Start) -> bool:
    return "messages" in start.fields and not {"doc_id", "evaluation_id"} & start.fields.keys()


def _read(path: Path, reading: Reading) -> Iterator[Ended]:
    for row, trace in read_chats(path, arm=reading.arm):
        reading.check_own(row)
        yield row, trace


chat = Format(
    name="chat",
    about="chat.jsonl, messages for fine-tuning",
    files=files,
    media_type=LINES,
    is_single=True,
    is_of=_is_of,
    read=_read,
    reasons={"chat:unscored": "without a score"},
)
