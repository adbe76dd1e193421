"""A request that a model's template refuses is written in the way that it takes, and the reply says so."""

import io
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gnomon.core.decoding import Decoding
from gnomon.core.errors import ProviderFault
from gnomon.core.message import Message
from gnomon.core.model import Model, Request
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models import dialect
from gnomon_agents.models.catalog import open_model
from tests.agents.conftest import FakeProvider

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
CLIENTS = ("auto", "litellm")
Refusal = tuple[int, str]


def mistral(body: dict[str, Any]) -> Refusal | None:
    """As mistral-common."""
    roles = [message["role"] for message in body["messages"]]
    if ("tool", "user") in pairwise(roles):
        return 400, "Unexpected role 'user' after role 'tool'"
    return None


def gemma(body: dict[str, Any]) -> Refusal | None:
    """As the template of Gemma in llama.cpp."""
    roles = [message["role"] for message in body["messages"]]
    if "system" in roles:
        return 500, "Jinja Exception: System role not supported"
    if any(left == right for left, right in pairwise(roles)):
        return 500, "Conversation roles must alternate user/assistant/user/assistant/..."
    return None


def old_template(body: dict[str, Any]) -> Refusal | None:
    """One that counts turns, and says of a system's message no more than that."""
    roles = [message["role"] for message in body["messages"]]
    if roles != [("user", "assistant")[at % 2] for at in range(len(roles))]:
        return 400, "Conversation roles must alternate user/assistant/user/assistant/..."
    return None


def texts_only(body: dict[str, Any]) -> Refusal | None:
    if any(isinstance(message["content"], list) for message in body["messages"]):
        return 422, "messages[0]: invalid type: sequence, expected a string"
    return None


def no_requirement(body: dict[str, Any]) -> Refusal | None:
    if body.get("tool_choice") == "required":
        return 400, "deepseek-reasoner does not support this tool_choice"
    return None


def new_limit(body: dict[str, Any]) -> Refusal | None:
    if "max_tokens" in body:
        words = "Unsupported parameter: 'max_tokens' is not supported with this model."
        return 400, f"{words} Use 'max_completion_tokens' instead."
    return None if body["max_completion_tokens"] == 50 else (400, "no limit")


def no_seed(body: dict[str, Any]) -> Refusal | None:
    return (400, 'Unknown name "seed": Cannot find field.') if "seed" in body else None


def own_temperature(body: dict[str, Any]) -> Refusal | None:
    words = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value"
    return (400, words) if "temperature" in body else None


def picture(media: MediaStore) -> Any:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, "PNG")
    ref = media.put(buffer.getvalue())
    return {"type": "image", "sha256": ref.sha256, "media_type": ref.media_type}


SYSTEM: Message = {"role": "system", "content": "Be brief."}
ASKED: Message = {"role": "user", "content": [{"type": "text", "text": "Where?"}]}
AGAIN: Message = {"role": "user", "content": "Say it."}


def looked(media: MediaStore) -> list[Message]:
    call: Any = {"id": "abcdefghi", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return [
        ASKED,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {
            "role": "tool",
            "tool_call_id": "abcdefghi",
            "content": [{"type": "text", "text": "1"}, picture(media)],
        },
    ]


CASES: dict[str, tuple[Any, Any, set[str]]] = {
    "pictures of a tool": (mistral, looked, {"messages"}),
    "words after a tool": (mistral, lambda media: [*looked(media), AGAIN], {"messages"}),
    "system": (gemma, lambda _: [SYSTEM, ASKED], {"messages"}),
    "system and two users": (gemma, lambda _: [SYSTEM, ASKED, AGAIN], {"messages"}),
    "a template that counts": (old_template, lambda _: [SYSTEM, ASKED, AGAIN], {"messages"}),
    "lists of texts": (texts_only, lambda _: [SYSTEM, ASKED], {"content"}),
    "a required call": (no_requirement, lambda _: [ASKED], {"tool_choice"}),
    "a limit": (new_limit, lambda _: [ASKED], {"max_tokens"}),
    "a seed": (no_seed, lambda _: [ASKED], {"seed"}),
    "a temperature": (own_temperature, lambda _: [ASKED], {"temperature"}),
}  # fmt: skip


def behind(provider: FakeProvider, template: Any) -> None:
    """The provider answers as a server with that template."""
    refusals: list[Refusal] = []

    def chosen(body: dict[str, Any]) -> int:
        refusal = template(body)
        if refusal is None:
            return 0
        if refusal not in refusals:
            refusals.append(refusal)
            provider.answers(refusal[0], {"error": {"code": refusal[0], "message": refusal[1]}})
        return 1 + refusals.index(refusal)

    provider.says("A")
    provider.choose = chosen


def opened(provider: FakeProvider, client: str, media: MediaStore) -> Model:
    model = {"id": "openai/weights-of-somebody", "api_base": provider.url, "client": client}
    return open_model(ModelSpec.model_validate(model), media)


def asking(messages: list[Message]) -> Request:
    drawn = Decoding(temperature=0, max_tokens=50)
    return Request(messages=messages, tools=[TOOL], tool_choice="required", seed=7, decoding=drawn)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("case", CASES)
async def test_what_a_template_refuses_is_written_as_it_takes_it_and_told(
    case: str, client: str, provider: FakeProvider, tmp_path: Path
) -> None:
    template, talk, changed = CASES[case]
    behind(provider, template)
    media = MediaStore(tmp_path)
    model = opened(provider, client, media)
    request = asking(talk(media))
    reply = await model.reply(request)
    assert reply.text == "A"
    assert changed <= {change.partition(":")[0] for change in reply.request_changes}
    assert len(set(reply.request_changes)) == len(reply.request_changes)
    first = len(provider.requests)
    assert 2 <= first <= 4
    assert (await model.reply(request)).request_changes == reply.request_changes
    assert len(provider.requests) == first + 1  # what worked is remembered
    said = str(provider.requests[-1]["messages"])
    assert "Where?" in said
    assert said.count("Be brief.") == (SYSTEM in request.messages)
    await model.close()


@pytest.mark.parametrize("client", CLIENTS)
async def test_what_is_not_refused_is_sent_as_ever(
    client: str, provider: FakeProvider, tmp_path: Path
) -> None:
    provider.says("A")
    model = opened(provider, client, MediaStore(tmp_path))
    reply = await model.reply(asking([SYSTEM, ASKED, AGAIN]))
    assert (reply.request_changes, len(provider.requests)) == ((), 1)
    await model.close()


@pytest.mark.parametrize(
    "words",
    [
        "the model is overloaded",
        "Unexpected role 'user' after role 'tool'",
        "roles must alternate",
        "no such field",
    ],
)
async def test_a_refusal_that_no_other_way_mends_is_the_providers_fault(
    words: str, provider: FakeProvider, tmp_path: Path
) -> None:
    provider.answers(400, {"error": {"message": words}})
    model = opened(provider, "auto", MediaStore(tmp_path))
    with pytest.raises(ProviderFault, match=re.escape(words)):
        await model.reply(asking([ASKED]))
    assert len(provider.requests) == 1
    with pytest.raises(ProviderFault):
        await model.reply(asking([SYSTEM, ASKED, AGAIN]))
    assert len(provider.requests) <= 1 + len(dialect.WAYS)
    await model.close()


def test_a_field_that_is_refused_is_named_beside_the_words(provider: FakeProvider) -> None:
    assert any(
        way.asked_by.search("HTTP 422: Extra inputs are not permitted (body.seed)") for way in dialect.WAYS
    )
