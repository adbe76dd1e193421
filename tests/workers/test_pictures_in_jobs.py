"""A question of twenty pictures under several arms and repeats: built and encoded once, kept as hashes."""

import io
import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PIL import Image

from gnomon.core.row import COLUMNS
from gnomon.core.sample import ImageRef, Part, Sample
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.job_context import JobContext
from gnomon_agents.models.image_urls import PICTURES
from gnomon_workers.open_job import OpenJob, cached
from gnomon_workers.shard import run_shard
from gnomon_workers.store import Store
from tests.agents.conftest import FakeProvider, provider
from tests.workers.conftest import create
from tests.workers.tiny_worker import Tiny, TinySet, context_of, refs

__all__ = ["provider"]  # a fixture
TOGETHER = 20


@dataclass(frozen=True)
class Album(TinySet):
    """The tiny questions, each with twenty pictures of its own; `built` grows with each sample built."""

    media: MediaStore | None = None
    built: list[str] = field(default_factory=list)

    def get(self, sample_id: str) -> Sample:
        self.built.append(sample_id)
        plain = super().get(sample_id)
        shown = (Part(content=self._picture(f"{sample_id} {number}")) for number in range(TOGETHER))
        return Sample(ref=plain.ref, parts=(*plain.parts, *shown), target=plain.target)

    def _picture(self, seed: str) -> ImageRef:
        assert self.media is not None
        file = io.BytesIO()
        Image.frombytes("RGB", (8, 8), (seed.encode() * 192)[:192]).save(file, "PNG")
        return self.media.put(file.getvalue())


@pytest.fixture
def album(tmp_path: Path) -> Album:
    return Album(refs(2), media=MediaStore(tmp_path / "media"))


def test_twenty_pictures_are_built_and_encoded_once_for_all_arms_repeats_and_models(
    real_store: Store, provider: FakeProvider, album: Album, tmp_path: Path
) -> None:
    provider.says("A")

    def open_album(spec: JobSpec, media: MediaStore) -> OpenJob:
        return OpenJob(bench=JobContext(spec=spec, benchmark=Tiny(), media=media), samples=cached(album))

    context = context_of(real_store, tmp_path, open_spec=open_album)
    arms = [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": []}]
    called = {"api_base": provider.url, "price": {"input": 1, "output": 1}}
    models = [{"id": f"openai/{name}", **called} for name in ("one", "other")]
    before = PICTURES.written
    job = create(real_store, 2, models=models, arms=arms, repeats=2)
    for shard in range(job.shards):
        run_shard(job.id, shard, context=context)
    rows = list(real_store.iter_rows(job.id))
    assert [row.outcome for row in rows] == ["scored"] * 16
    assert sorted(set(album.built)) == ["s0", "s1"]
    assert len(album.built) == 2
    assert PICTURES.written - before == 2 * TOGETHER
    assert all(len(sent["messages"][-1]["content"]) == 1 + TOGETHER for sent in provider.requests)
    said = json.dumps([provider.requests[0]["messages"]])
    assert "data:image/png;base64," in said
    for row in rows:
        trace = json.dumps(real_store.trace(row.trial_id))
        assert trace.count('"sha256"') == TOGETHER
        assert "base64" not in trace + json.dumps({name: str(getattr(row, name)) for name in COLUMNS})
    assert b"base64" not in _file_of(real_store)


def _file_of(store: Store) -> bytes:
    """All bytes of the database; traces in it are deflated, and looked at above."""
    store.close()
    path = store.url.removeprefix("sqlite:///")
    files = [Path(path + end) for end in ("", "-wal")]
    return b"".join(file.read_bytes() for file in files if file.exists())
