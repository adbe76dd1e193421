"""Opens stored jobs: once per process, and before the fork where that is possible."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cachetools import LRUCache

from gnomon.core.benchmark import SampleSet
from gnomon.core.sample import DataFault, Sample, SampleRef
from gnomon.media import MediaStore
from gnomon.spec.data_rules import opened_samples
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.pins import check_pins
from gnomon.trials.job_context import JobContext
from gnomon_workers.object_storage import Bucket, read_media_url

if TYPE_CHECKING:
    from gnomon_workers.store.store import Store

KEPT = 2  # jobs that a worker keeps open
SAMPLES_KEPT = 64  # the arms and repeats of a sample lie side by side


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedSamples:
    """Samples of which the last ones stay built: a question's pictures are looked up once for all arms."""

    refs: Sequence[SampleRef]
    faults: Sequence[DataFault]
    get: Callable[[str], Sample]


def cached(samples: SampleSet) -> CachedSamples:
    """The same samples, each built once as long as it is among the last SAMPLES_KEPT that were asked for.

    Threads that ask for one while it is built wait for it; an error reaches them all, and is not kept.
    """
    futures: LRUCache[str, Future[Sample]] = LRUCache(SAMPLES_KEPT)
    lock = threading.Lock()

    def get(sample_id: str) -> Sample:
        with lock:
            is_new = sample_id not in futures
            sample = futures.setdefault(sample_id, Future())
        if is_new:
            _build(sample, lambda: samples.get(sample_id))
            if sample.exception() is not None:
                with lock:
                    futures.pop(sample_id, None)
        return sample.result()

    return CachedSamples(refs=samples.refs, faults=samples.faults, get=get)


def _build(sample: Future[Sample], build: Callable[[], Sample]) -> None:
    try:
        sample.set_result(build())
    except BaseException as error:  # noqa: BLE001 - every caller that asks for the sample has it raised
        sample.set_exception(error)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenJob:
    """A job with its benchmark and its samples."""

    bench: JobContext
    samples: SampleSet


def open_spec(spec: JobSpec, media: MediaStore) -> OpenJob:
    """A spec made ready to run.

    Raises:
        DataError, SpecError: its data or its selection cannot be read here.
    """
    return open_job(spec, opened_samples(spec, media), media)


def open_job(spec: JobSpec, samples: SampleSet, media: MediaStore) -> OpenJob:
    """A spec made ready to run whose samples have been opened."""
    kept = cached(samples)
    bench = JobContext(spec=spec, benchmark=spec.plugin(), media=media, samples=kept)
    return OpenJob(bench=bench, samples=kept)


OpenSpec = Callable[[JobSpec, MediaStore], OpenJob]


class JobCache:
    """Opens jobs, and keeps the last few open."""

    def __init__(self, *, media: MediaStore, open_spec: OpenSpec = open_spec) -> None:
        self._media, self._open_spec = media, open_spec
        self._jobs: LRUCache[str, OpenJob] = LRUCache(KEPT)

    def open(self, job_id: str, *, store: "Store") -> OpenJob:
        """The job, made ready to run.

        Raises:
            NotFound: the job does not exist.
            DataError, SpecError: its data or its selection cannot be read here, or a plug-in of others is
                absent or another than the job was stored with.
        """
        if job_id not in self._jobs:
            spec = store.job(job_id).spec
            check_pins(spec)
            self._jobs[job_id] = self._open_spec(spec, self._media)
        return self._jobs[job_id]


def media_of(data_dir: Path) -> MediaStore:
    """The media of a data folder, and of the bucket that `GNOMON_MEDIA_URL` names."""
    url = read_media_url(os.environ)
    return MediaStore(data_dir / "media", Bucket(url) if url else None)
