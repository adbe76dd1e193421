"""What an outside agent is asked, and what it answers: a request and a reply with the agent's own account."""

import base64
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gnomon.core.errors import DataError
from gnomon.core.message import ImageBlock, Message, VideoBlock
from gnomon.core.model import Reply, Request
from gnomon.core.trace import Account, Step
from gnomon.media import MediaStore
from gnomon_agents.models.chat_format import messages_out

UNKNOWN = Account()
MAX_MEDIA_BYTES = 64_000_000  # of one question


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServer:
    """The MCP server that holds the tools of one trial."""

    url: str
    token: str

    def as_json(self) -> dict[str, Any]:
        """As contracts tell it."""
        return {
            "url": self.url,
            "token": self.token,
            "headers": {"Authorization": f"Bearer {self.token}"},
            "transport": "streamable_http",
        }


@dataclass(slots=True, kw_only=True)
class Question(Request):
    """A request to an agent that is not ours; `limits` are told, not enforced, but for those of our tools."""

    sample_id: str
    model_id: str
    limits: Mapping[str, Any]
    media: MediaStore | None = None
    tool_server: ToolServer | None = None


@dataclass(slots=True, kw_only=True)
class AgentReply(Reply):
    """The answer, the steps on the way to it as far as the agent tells, and what it used."""

    steps: tuple[Step, ...] = ()
    account: Account = UNKNOWN


class Subject(ABC):
    """The way to one agent. It is called as a model is, so that what is put around models fits around it."""

    def __init__(self, name: str) -> None:
        self.id = name

    async def reply(self, request: Request) -> Reply:
        """The agent's reply to a question."""
        if not isinstance(request, Question):
            raise TypeError(f"{self.id} takes questions, not a {type(request).__name__}")
        return await self.ask(request)

    @abstractmethod
    async def ask(self, question: Question) -> AgentReply:
        """The agent's answer.

        Raises:
            ProviderFault: it cannot be reached, or refuses.
            AgentFault: it ended without an answer.
        """

    async def close(self) -> None:  # noqa: B027 (most have nothing open)
        """Close what is open."""


def media_blocks(messages: list[Message]) -> Iterator[ImageBlock | VideoBlock]:
    """The pictures and videos of the messages, in order."""
    for message in messages:
        content = message["content"]
        for block in content if isinstance(content, list) else ():
            if block["type"] != "text":
                yield block


def bytes_of(question: Question) -> dict[str, bytes]:
    """The bytes of the question's pictures and videos, by hash.

    Raises:
        DataError: one is not in the store, or they are too many bytes for one question.
    """
    data: dict[str, bytes] = {}
    for block in media_blocks(question.messages):
        if block["sha256"] not in data:
            if question.media is None:
                raise DataError("the question's pictures are not here")
            data[block["sha256"]] = question.media.read(block["sha256"])
    size = sum(map(len, data.values()))
    if size > MAX_MEDIA_BYTES:
        raise DataError(f"pictures of {size:,} bytes; an outside agent is sent {MAX_MEDIA_BYTES:,} at most")
    return data


def chat_messages(question: Question) -> list[dict[str, Any]]:
    """The question's messages in the shape of OpenAI's, with its pictures as data URLs.

    Raises:
        DataError: as `bytes_of`.
    """
    bytes_of(question)  # refuses what is absent or too large
    if question.media is None:
        return [dict(message) for message in question.messages]
    return messages_out(question.messages, question.media, pictures=True)


def base64_text(data: bytes) -> str:
    """Bytes as JSON carries them."""
    return base64.b64encode(data).decode("ascii")
