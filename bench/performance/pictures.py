"""Measures a call of twenty pictures, the first time and every time after, on the fast path."""

import asyncio
import io
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from agents.models.image_urls import PICTURES
from agents.models.openai_model import OpenAIModel
from gnomon.core.message import ImageBlock
from gnomon.core.model import Request
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec

PICTURES_N, WIDTH = 20, 1024
CALLS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureCost:
    """CPU milliseconds of the first call and (median) of later ones, each with other words; `sent_bytes` a
    call, and how often a picture was encoded in all.
    """

    calls: int
    first_ms: float
    later_ms: float
    sent_bytes: int
    encoded: int


def picture_cost(port: int) -> PictureCost:
    """Ask the mock server about twenty JPEGs, again and again."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_ask(MediaStore(Path(folder)), f"http://127.0.0.1:{port}/v1"))


async def _ask(media: MediaStore, base: str) -> PictureCost:
    blocks = [_picture(media, number) for number in range(PICTURES_N)]
    model = OpenAIModel(ModelSpec(id="openai/mock", api_base=base), media)
    warm_up = Request(messages=[{"role": "user", "content": "hello"}], tools=[])
    await model.reply(warm_up)
    spent_ms, before = [], PICTURES.written
    for call in range(CALLS):
        words = f"the prompt of arm {call}"
        request = Request(
            messages=[{"role": "user", "content": [{"type": "text", "text": words}, *blocks]}], tools=[]
        )
        began_s = time.process_time()
        await model.reply(request)
        spent_ms.append((time.process_time() - began_s) * 1000)
    await model.close()
    return PictureCost(
        calls=CALLS,
        first_ms=spent_ms[0],
        later_ms=statistics.median(spent_ms[1:]),
        sent_bytes=sum(len(PICTURES.url(block, media)) for block in blocks),
        encoded=PICTURES.written - before,
    )


def _picture(media: MediaStore, seed: int) -> ImageBlock:
    """A JPEG of smooth noise, as large as a photograph."""
    coarse = np.random.default_rng(seed).integers(0, 255, (WIDTH // 8, WIDTH // 8, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(coarse).resize((WIDTH, WIDTH)).save(file, "JPEG", quality=85)
    ref = media.put(file.getvalue())
    return {"type": "image", "sha256": ref.sha256, "media_type": ref.media_type}
