"""A disk that is full stops the trials that need room, and ends none of them."""

import asyncio
import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon import whole_file
from gnomon.core.agent import AgentContext
from gnomon.core.model import Reply, Request
from gnomon.core.sample import Sample
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon_workers import trial_attempts
from gnomon_workers.budget.usage import Usage
from gnomon_workers.open_job import OpenJob
from gnomon_workers.replays import Replays
from gnomon_workers.shard import run_shard
from gnomon_workers.slots import Slots
from gnomon_workers.store import Store
from gnomon_workers.tracing import no_spans
from gnomon_workers.trial_attempts import TrialAttempts
from tests.gnomon.media.test_media_store import noise
from tests.workers.conftest import create, wait_until
from tests.workers.faults import fill, small_disk
from tests.workers.tiny_worker import context_of, open_fake_job


def open_with_pictures(spec: JobSpec, media: MediaStore) -> OpenJob:
    """The tiny benchmark, each of whose samples keeps a picture of its own as it is built."""
    opened = open_fake_job(spec, media)

    class Samples:
        refs, faults = opened.samples.refs, opened.samples.faults

        def get(self, sample_id: str) -> Sample:
            media.put(noise())
            return opened.samples.get(sample_id)

    return replace(opened, samples=Samples(), bench=replace(opened.bench, media=media))


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    with (folder / "filler").open("wb", buffering=0) as file:
        fill(file)
    yield
    (folder / "filler").unlink()


@contextmanager
def refusing(number: int = errno.ENOSPC) -> Iterator[None]:
    """As if the disk were full: nothing reaches it. For users who may not mount one."""

    def full(_: int) -> None:
        raise OSError(number, os.strerror(number))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", full)
        yield


@pytest.mark.parametrize("kind_of_disk", ["refusing", "full", "failing"])
def test_trials_that_meet_a_full_disk_or_one_that_fails_go_on_once_it_takes_more(
    real_store: Store, tmp_path: Path, kind_of_disk: str
) -> None:
    job = create(real_store, 6, concurrency=12)
    with small_disk(8) as disk:
        if kind_of_disk == "full" and disk is None:
            pytest.skip("this user may not mount a disk; the other case runs everywhere")
        folder = disk if kind_of_disk == "full" and disk else tmp_path
        context = context_of(real_store, folder, open_spec=open_with_pictures)
        shards = [
            threading.Thread(target=run_shard, args=(job.id, shard), kwargs={"context": context})
            for shard in range(job.shards)
        ]
        number = errno.EIO if kind_of_disk == "failing" else errno.ENOSPC
        with full_disk(folder) if kind_of_disk == "full" else refusing(number):
            for shard in shards:
                shard.start()
            wait_until(lambda: real_store.job(job.id).counts.running == 12)
            for shard in shards:
                shard.join(0.5)
            assert real_store.job(job.id).counts.done == 0, "no trial ends for want of room"
        for shard in shards:
            shard.join(60.0)
        assert [path.name for path in (folder / "media").rglob(".part-*")] == []
        assert len([path for path in (folder / "media").rglob("*") if path.is_file()]) > 0
    record = real_store.job(job.id)
    assert (record.status, record.counts.scored) == ("completed", 12)
    assert {row.attempt for row in real_store.iter_rows(job.id)} == {1}


class Kept:
    """A model one reply of which comes from the cache; the others are paid."""

    id = "kept"

    def __init__(self) -> None:
        self.calls = 0

    async def reply(self, request: Request) -> Reply:
        self.calls += 1
        return Reply(text="A", prompt_tokens=3, completion_tokens=4, usd=0.5, cached=self.calls == 1)

    async def close(self) -> None:
        return


class Drawer:
    """Asks twice, then keeps a picture."""

    name, uses_tools, description = "drawer", False, "draws"

    def __init__(self, media: MediaStore) -> None:
        self._media = media

    async def answer(self, context: AgentContext) -> str:
        for _ in range(2):
            reply = await context.generate(context.prompt)
        self._media.put(noise())
        return reply.text


async def test_a_trial_that_met_a_full_disk_pays_again_only_once_there_is_room(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_attempts, "NO_ROOM_S", 0.001)
    monkeypatch.setattr(trial_attempts, "MOST_NO_ROOM_S", 0.01)
    job, media, model = create(store, 1), MediaStore(tmp_path / "media"), Kept()
    lease = store.lease(job.id, 0, worker="w", ttl_s=60.0)[0]
    attempts = TrialAttempts(
        open_fake_job(job.spec, media),
        agents={arm.name: Drawer(media) for arm in job.spec.arms},
        models={"scripted": model},
        tracer=no_spans,
        replays=Replays(store, open_fake_job(job.spec, media)),
    )
    looks: list[bool] = []
    loop, has_looked = asyncio.get_running_loop(), asyncio.Event()

    def has_room(media: MediaStore) -> bool:
        looks.append(whole_file.has_room(media.folder))
        if len(looks) == 5:
            loop.call_soon_threadsafe(has_looked.set)
        return looks[-1]

    monkeypatch.setattr(MediaStore, "has_room", has_room)
    slot = Slots(1, changed=lambda: None).take("scripted")
    with refusing():
        running = asyncio.create_task(attempts.run(lease, slot))
        await has_looked.wait()
        assert model.calls == 2
    _, row, _ = await running
    assert (row.outcome, model.calls) == ("scored", 4)
    assert attempts.cancelled == [Usage(0.5, 7)], "what came from the cache was paid before"
    assert [looks[0], looks[-1]] == [False, True]
