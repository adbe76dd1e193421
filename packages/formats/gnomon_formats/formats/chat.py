"""Reads chat lines, and writes them for fine-tuning."""

from gnomon.exchange.format import LINES, Format, Start
from gnomon_formats.chat import files
from gnomon_formats.chat_read import read_chats


def _is_of(start: Start) -> bool:
    return "messages" in start.fields and not {"doc_id", "evaluation_id"} & start.fields.keys()


chat = Format(
    name="chat",
    about="chat.jsonl, messages for fine-tuning",
    files=files,
    media_type=LINES,
    is_single=True,
    is_of=_is_of,
    read=read_chats,
    reasons={"chat:unscored": "without a score"},
)
