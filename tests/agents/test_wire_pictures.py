"""Pictures on the wire: in the user's turns, after a tool's words, or left out in words."""

import base64
import io
import json
from pathlib import Path

from PIL import Image

from gnomon.core.message import ImageBlock, Message
from gnomon.core.model import Request
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models import chat_format as wire
from gnomon_agents.models.chat_turn import TurnRules
from gnomon_agents.models.openai_model import ChatRequest
from tests.numbered import number_of, numbered_frame


def conversation(media: MediaStore) -> list[Message]:
    blocks: list[ImageBlock] = []
    for number in (5, 6, 7):
        buffer = io.BytesIO()
        Image.fromarray(numbered_frame(number)).save(buffer, "PNG")
        ref = media.put(buffer.getvalue())
        blocks.append({"type": "image", "sha256": ref.sha256, "media_type": ref.media_type})
    call = {"name": "look", "arguments": "{}"}
    calls = [{"id": name, "type": "function", "function": call} for name in ("c1", "c2")]
    return [
        {"role": "user", "content": [{"type": "text", "text": "Where?"}, blocks[0]]},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "one"}, blocks[1]]},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "two"}, blocks[2]]},
        {"role": "assistant", "content": "I see."},
    ]


def test_a_tools_pictures_follow_all_tool_messages_of_the_turn(tmp_path: Path) -> None:
    media = MediaStore(tmp_path)
    sent = wire.messages_out(conversation(media), media, pictures=True)
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool", "user", "assistant"]
    assert [sent[2]["content"], sent[3]["content"]] == ["one", "two"]
    shown = sent[4]["content"]
    assert [block.get("text", "picture") for block in shown] == [
        "Pictures of call c1:", "picture", "Pictures of call c2:", "picture",
    ]  # fmt: skip
    urls = [block["image_url"]["url"] for block in shown if block["type"] == "image_url"]
    assert [number_of(base64.b64decode(url.partition("base64,")[2])) for url in urls] == [6, 7]


def test_a_model_that_takes_text_only_is_told_what_was_left_out(tmp_path: Path) -> None:
    media = MediaStore(tmp_path)
    sent = wire.messages_out(conversation(media), media, pictures=False)
    assert "image_url" not in str(sent)
    assert str(sent).count("a picture, left out") == 3


def test_mistral_hears_the_assistant_between_a_tool_and_the_pictures(tmp_path: Path) -> None:
    media = MediaStore(tmp_path)
    spec = ModelSpec(id="mistral/m")
    rules = TurnRules.of(spec)
    request = Request(messages=conversation(media)[:4], tools=[])
    body = b"".join(ChatRequest(spec, media).pieces(request)[0])
    for sent in (
        wire.messages_out(request.messages, media, pictures=True, rules=rules),
        json.loads(body)["messages"],
    ):
        assert [one["role"] for one in sent] == ["user", "assistant", "tool", "tool", "assistant", "user"]
        assert sent[4]["content"]


def test_a_signature_within_a_calls_id_is_not_told(tmp_path: Path) -> None:
    media = MediaStore(tmp_path)
    talk = conversation(media)
    talk[2]["tool_call_id"] = "c1__thought__c2VjcmV0"
    shown = wire.arranged(talk)[4]["content"]
    assert isinstance(shown, list)
    assert shown[0] == {"type": "text", "text": "Pictures of call c1:"}
