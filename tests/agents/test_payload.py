"""The fast path's bodies: pictures are written once, toolsets too, and nothing large is copied."""

import io
import json

import pytest
from PIL import Image

from gnomon.core.errors import ProviderFault
from gnomon.core.model import Request
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models import chat_format as wire
from gnomon_agents.models.http_client import CHUNK_BYTES, in_chunks
from gnomon_agents.models.image_urls import PICTURES, DataUrlCache
from gnomon_agents.models.openai_model import ChatRequest, OpenAIModel


@pytest.fixture
def media(tmp_path):
    return MediaStore(tmp_path)


def picture(media, *, colour, size=(4, 3)):
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "PNG")
    ref = media.put(file.getvalue())
    return {"type": "image", "sha256": ref.sha256, "media_type": ref.media_type}


def asking(*blocks, turns=0, **more):
    messages = [{"role": "user", "content": list(blocks)}]
    messages += [{"role": "assistant", "content": f"turn {turn}"} for turn in range(turns)]
    return Request(messages=messages, tools=[], **more)


def chat(media, name="openai/m"):
    return ChatRequest(ModelSpec(id=name), media)


def test_twenty_pictures_are_written_once_for_all_arms_models_and_turns(media):
    before = PICTURES.written
    models = [chat(media, "openai/one"), chat(media, "openai/other")]
    blocks = [picture(media, colour=(number, 0, 0)) for number in range(20)]
    words = [{"type": "text", "text": f"the prompt of arm {arm}"} for arm in range(3)]
    bodies = [
        model.pieces(asking(word, *blocks, turns=turns))[0]
        for model in models
        for word in words
        for turns in range(4)
    ]
    assert PICTURES.written - before == 20
    urls = [[piece for piece in pieces if piece.startswith(b"data:")] for pieces in bodies]
    assert len({id(url) for of_body in urls for url in of_body}) == 20
    for pieces in bodies:
        assert len(json.loads(b"".join(pieces))["messages"][0]["content"]) == 21


def test_a_body_in_pieces_says_what_the_plain_message_says(media):
    blocks = [
        {"type": "text", "text": 'before "it"\n'},
        picture(media, colour="red"),
        picture(media, colour="blue"),
        {"type": "text", "text": "after\ud800"},
    ]
    request = asking(*blocks, turns=1)
    pieces, _ = chat(media).pieces(request)
    assert json.loads(b"".join(pieces))["messages"] == wire.messages_out(
        request.messages, media, pictures=True
    )


def test_what_no_longer_fits_is_let_go_the_longest_unused_first(media):
    one, two, three = (picture(media, colour=c) for c in ("red", "green", "blue"))
    size = len(DataUrlCache().url(one, media))
    kept = DataUrlCache(limit_bytes=2 * size + size // 2)
    for block in (one, two, one, three, one):
        kept.url(block, media)
    assert kept.written == 3
    kept.url(two, media)
    assert kept.written == 4


async def test_a_large_body_goes_out_in_parts_and_arrives_whole(media):
    noise = Image.effect_noise((600, 600), 90)
    file = io.BytesIO()
    noise.save(file, "PNG")
    ref = media.put(file.getvalue())
    picture = {"type": "image", "sha256": ref.sha256, "media_type": ref.media_type}
    pieces, _ = chat(media).pieces(asking(picture))
    parts = [bytes(part) async for part in in_chunks(pieces)]
    assert max(map(len, parts)) <= CHUNK_BYTES < max(map(len, pieces))
    assert b"".join(parts) == b"".join(pieces)


def test_equal_looking_toolsets_of_other_content_are_not_mixed_up(media):
    model = chat(media)
    for number in range(200):
        tool = {"type": "function", "function": {"name": f"t{number}", "parameters": {}}}
        request = Request(messages=[{"role": "user", "content": "x"}], tools=[tool])
        assert json.loads(b"".join(model.pieces(request)[0]))["tools"] == [tool]


@pytest.mark.parametrize(
    ("status", "body", "cause"),
    [
        (302, "", "bad_request"),
        (504, "", "timeout"),
        (402, {"error": {"message": "pay"}}, "quota"),
        (200, {"error": {"message": "upstream is busy", "code": 429}}, "rate_limit"),
        (400, {"object": "error", "message": "no such field", "code": 400}, "bad_request"),
        (400, {"error": "just words"}, "bad_request"),
    ],
)
async def test_faults_of_many_servers_are_understood(provider, media, status, body, cause):
    provider.answers(status, body, {"Location": provider.url})
    model = OpenAIModel(ModelSpec(id="openai/m", api_base=provider.url), media)
    with pytest.raises(ProviderFault) as caught:
        await model.reply(asking({"type": "text", "text": "hi"}))
    await model.close()
    assert caught.value.cause == cause
    assert len(provider.requests) == 1


async def test_the_price_of_cached_tokens_is_the_tables(provider, media):
    usage = {
        "prompt_tokens": 1_000_000,
        "completion_tokens": 0,
        "prompt_tokens_details": {"cached_tokens": 400_000},
    }
    provider.says("hello", usage=usage)
    model = OpenAIModel(ModelSpec(id="openai/gpt-4o", api_base=provider.url), media)
    reply = await model.reply(asking({"type": "text", "text": "hi"}))
    await model.close()
    assert reply.usd == pytest.approx(0.6 * 2.5 + 0.4 * 1.25)


def test_the_mark_of_a_prefix_stands_on_the_last_part_and_changes_no_other_byte(media):
    file = io.BytesIO()
    Image.new("RGB", (4, 3)).save(file, "PNG")
    ref = media.put(file.getvalue())
    picture = {"type": "image", "sha256": ref.sha256, "media_type": ref.media_type}
    talk = [
        {"role": "user", "content": [{"type": "text", "text": "see"}, picture]},
        {"role": "assistant", "content": "so"},
        {"role": "user", "content": "and?"},
    ]
    request = Request(messages=talk, tools=[])
    bare, marked = (
        json.loads(b"".join(chat(media, name).pieces(request)[0]))["messages"]
        for name in ("openrouter/openai/m", "openrouter/anthropic/m")
    )
    marks = [part.pop("cache_control", None) for one in (marked[0], marked[2]) for part in one["content"]]
    assert marks == [None, {"type": "ephemeral"}, {"type": "ephemeral"}]
    assert marked[0] == bare[0]
    assert marked[2]["content"] == [{"type": "text", "text": bare[2]["content"]}]
