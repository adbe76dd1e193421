"""A sample that several arms ask for at the same time is built for all of them, once."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from gnomon.core.errors import DataError
from gnomon.core.sample import Sample
from gnomon_workers.open_job import SAMPLES_KEPT, cached
from tests.workers.tiny_worker import TinySet, refs

ARMS = 4


@dataclass(frozen=True)
class Slow(TinySet):
    """Tiny questions that are built when `go_on` is set; raises what is in `errors` first."""

    built: list[str] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    go_on: threading.Event = field(default_factory=threading.Event)

    def get(self, sample_id: str) -> Sample:
        self.built.append(sample_id)
        assert self.go_on.wait(30)
        if self.errors:
            raise self.errors.pop()
        return super().get(sample_id)


class Told(str):
    """A sample's id that tells when it is looked up."""

    __slots__ = ("looked_up",)
    looked_up: threading.Semaphore

    def __hash__(self) -> int:
        self.looked_up.release()
        return super().__hash__()


def side_by_side(get: Callable[[str], Sample], go_on: threading.Event) -> list[Sample | BaseException]:
    """What the arms get that have all looked for a sample before any of them has it."""
    names = [Told("s0") for _ in range(ARMS)]
    for name in names:
        name.looked_up = threading.Semaphore(0)
    with ThreadPoolExecutor(ARMS) as pool:
        asked = [pool.submit(get, name) for name in names]
        try:
            assert all(name.looked_up.acquire(timeout=30) for name in names)
        finally:
            go_on.set()
        return [one.exception(30) or one.result(30) for one in asked]


def test_a_sample_that_is_asked_for_while_it_is_built_is_built_once() -> None:
    slow = Slow(refs(1))
    first, *others = side_by_side(cached(slow).get, slow.go_on)
    assert all(other is first for other in others)
    assert slow.built == ["s0"]


def test_an_error_reaches_all_who_wait_and_is_not_kept() -> None:
    fault = DataError("the clip is cut off")
    slow = Slow(refs(1), errors=[fault])
    samples = cached(slow)
    assert side_by_side(samples.get, slow.go_on) == [fault] * ARMS
    assert isinstance(samples.get("s0"), Sample)


def test_only_the_samples_asked_for_last_stay_built() -> None:
    slow = Slow(refs(SAMPLES_KEPT + 1))
    slow.go_on.set()
    samples = cached(slow)
    for ref in (slow.refs[0], *slow.refs[1:SAMPLES_KEPT], slow.refs[0], slow.refs[SAMPLES_KEPT]):
        samples.get(ref.sample_id)
    assert len(slow.built) == SAMPLES_KEPT + 1
    samples.get("s0")
    assert len(slow.built) == SAMPLES_KEPT + 1
    samples.get("s1")
    assert slow.built[-1] == "s1"
