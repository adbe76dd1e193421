"""What every provider of models keeps."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from gnomon.core.message import Message, ToolCall
from gnomon.core.model import Reply, Request
from gnomon.media import MediaStore
from gnomon.spec.model_providers import ModelProvider
from gnomon.spec.model_spec import ModelSpec
from gnomon_conformance.agents import ECHO
from gnomon_conformance.check import ensure
from gnomon_tools.core.registry import ALLOWED_NAME, NAME


class ModelProviderSuite:
    """A provider says what it is; one that calls no network opens a model that replies."""

    def __init__(self, provider: ModelProvider) -> None:
        self._provider = provider

    def says_what_it_is(self) -> None:
        """A name that is allowed, a description with a full stop, and whether it calls a network."""
        provider = self._provider
        ensure(NAME.fullmatch(provider.name), f"name {provider.name!r}; allowed: {ALLOWED_NAME}")
        ensure(provider.description.endswith("."), "description: ends with a full stop")
        ensure(isinstance(provider.calls_network, bool), "calls_network: True or False")

    def opens_a_model_that_replies(self) -> None:
        """`NAME/model` gives a Reply to a question, alone, beside a tool and after a tool's result, all at
        once, and closes. Not tried where it calls a network.
        """
        if self._provider.calls_network:
            return
        with tempfile.TemporaryDirectory() as folder:
            spec = ModelSpec(id=f"{self._provider.name}/model")
            replies = asyncio.run(_ask(self._provider, spec, MediaStore(Path(folder))))
        for reply in replies:
            ensure(isinstance(reply, Reply), f"reply: a Reply, not {type(reply).__name__}")
            ensure(isinstance(reply.text, str), "reply: its text is a str")


async def _ask(provider: ModelProvider, spec: ModelSpec, media: MediaStore) -> list[Reply]:
    model = provider.open(spec, media)
    ensure(model.id == spec.id, f"open: a model whose id is {spec.id!r}, not {model.id!r}")
    question: Message = {"role": "user", "content": "What is the capital of France?"}
    call: ToolCall = {
        "id": "1",
        "type": "function",
        "function": {"name": "echo", "arguments": '{"word": "on"}'},
    }
    called: Message = {"role": "assistant", "content": "", "tool_calls": [call]}
    result: Message = {"role": "tool", "content": '{"word": "on"}', "tool_call_id": "1"}
    conversations: list[tuple[list[Message], list[dict[str, Any]]]] = [
        ([question], []),
        ([question], [ECHO.schema()]),
        ([question, called, result], [ECHO.schema()]),
    ]
    try:
        requests = (Request(messages=messages, tools=tools) for messages, tools in conversations)
        return list(await asyncio.gather(*map(model.reply, requests)))
    finally:
        await model.close()
