"""A disk that is full stops the trials that need room, and ends none of them."""

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon.media import MediaStore
from gnomon.sample import Sample
from gnomon.spec import JobSpec
from tests.gnomon.media.test_media_store import noise
from tests.workers.conftest import create, wait_until
from tests.workers.faults import fill, small_disk
from tests.workers.tiny_worker import context_of, open_tiny
from workers.opening import OpenJob
from workers.shard import run_shard
from workers.store import Store


def open_with_pictures(spec: JobSpec, media: MediaStore) -> OpenJob:
    """The tiny benchmark, each of whose samples keeps a picture of its own as it is built."""
    opened = open_tiny(spec, media)

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
def refusing() -> Iterator[None]:
    """As if the disk were full: nothing reaches it. For users who may not mount one."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", full)
        yield


@pytest.mark.parametrize("kind_of_disk", ["refusing", "full"])
def test_trials_that_meet_a_full_disk_go_on_once_there_is_room(
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
        with full_disk(folder) if kind_of_disk == "full" else refusing():
            for shard in shards:
                shard.start()
            wait_until(lambda: real_store.job(job.id).counts.running == 12)
            for shard in shards:
                shard.join(2.0)
            assert real_store.job(job.id).counts.done == 0, "no trial ends for want of room"
        for shard in shards:
            shard.join(60.0)
        assert [path.name for path in (folder / "media").rglob(".part-*")] == []
        assert len([path for path in (folder / "media").rglob("*") if path.is_file()]) > 0
    record = real_store.job(job.id)
    assert (record.status, record.counts.scored) == ("completed", 12)
    assert {row.attempt for row in real_store.iter_rows(job.id)} == {1}
