"""Draws other samples of a job, whose scenes answer in place of a question's own."""

import random
from collections.abc import Iterator
from itertools import islice

from gnomon.core.benchmark import SampleSet
from gnomon.core.errors import DataError, NotFound
from gnomon.core.sample import Sample, SampleRef
from gnomon.trials.stand_in_scene import is_same_place
from gnomon_tools.core.inputs import BlindInput
from gnomon_tools.scene.scene import Scene

DONORS = 3  # a call that fails on one is answered by the next
DRAWS = 300  # refs that are looked at for them; a set may have millions
BUILT = 12  # samples that are built for them: all questions of a job may be about one place
BUILT_OF_ANY_CELL = 40  # of which fewer are alike: one trip in seven begins on the same day of the week


class Donors:
    """Samples of the same cell and of other clusters, drawn by a trial's seed and built when they are needed.

    For some inputs they are of any cell. None is of the place that the question is about.
    """

    def __init__(self, asked: Sample, samples: SampleSet | None, *, seed: int) -> None:
        self.asked, self._samples, self._seed = asked, samples, seed
        self._blind = [(kind, value) for kind, value in asked.inputs.items() if isinstance(value, BlindInput)]
        self._drawn: list[Sample] = []
        self._more = self._draw()

    def first(self) -> Sample | None:
        return next(iter(self), None)

    def __iter__(self) -> Iterator[Sample]:
        at = 0
        while at < len(self._drawn) or self._draw_one():
            yield self._drawn[at]
            at += 1

    def _draw_one(self) -> bool:
        donor = next(self._more, None) if len(self._drawn) < DONORS else None
        if donor is not None:
            self._drawn.append(donor)
        return donor is not None

    def _draw(self) -> Iterator[Sample]:
        """Those like the question's scene first: on its floors, with as many cameras."""
        samples = self._samples
        if samples is None:
            return
        unlike: list[Sample] = []
        is_any_cell = any(value.is_of_any_cell for _, value in self._blind)
        refs = _drawn_refs(samples, self.asked.ref, self._seed, is_any_cell=is_any_cell)
        for ref in islice(refs, BUILT_OF_ANY_CELL if is_any_cell else BUILT):
            donor = _built(samples, ref)
            if donor is None or not self._fits(donor):
                continue
            if self._is_like(donor):
                yield donor
            else:
                unlike.append(donor)
        yield from unlike

    def _fits(self, donor: Sample) -> bool:
        """Whether the donor is about another place, or has other inputs of the same types."""
        asked, other = self.asked.scene, donor.scene
        if asked is not None and other is not None:
            return asked.kind == other.kind and not is_same_place(asked, other)
        blind_kinds = {kind for kind, value in donor.inputs.items() if isinstance(value, BlindInput)}
        if (asked is None) != (other is None) or blind_kinds != {kind for kind, _ in self._blind}:
            return False
        if self._blind:
            return all(value.may_be_replaced_by(donor.inputs[kind]) for kind, value in self._blind)
        return self.asked.inputs != donor.inputs

    def _is_like(self, donor: Sample) -> bool:
        """Whether the donor's inputs are like the question's; its scene, where it has no floor that the other
        lacks, and no fewer cameras.
        """
        if self._blind:
            return all(value.is_like(donor.inputs[kind]) for kind, value in self._blind)
        asked, other = self.asked.scene, donor.scene
        if asked is None or other is None:
            return True
        return len(other.cameras) >= len(asked.cameras) and _floors(other) <= _floors(asked)


def _floors(scene: Scene) -> set[int]:
    return {item.floor for items in (scene.cameras, scene.zones, scene.places) for item in items.values()}


def _drawn_refs(samples: SampleSet, asked: SampleRef, seed: int, *, is_any_cell: bool) -> Iterator[SampleRef]:
    """Refs of the same cell, or of any, and of other clusters, no cluster twice, in the order of a draw."""
    refs, chance, clusters = samples.refs, random.Random(f"donors {seed}"), {asked.cluster}
    count = len(refs)
    # A sample of a range costs as much as it draws, however long the range is.
    for at in chance.sample(range(count), min(DRAWS, count)):
        ref = refs[at]
        is_of_cell = is_any_cell or (ref.cell == asked.cell and ref.task == asked.task)
        if is_of_cell and ref.cluster not in clusters:
            clusters.add(ref.cluster)
            yield ref


def _built(samples: SampleSet, ref: SampleRef) -> Sample | None:
    """The sample, or None where its data are broken: another one is drawn."""
    try:
        donor = samples.get(ref.sample_id)
    except (DataError, NotFound):
        return None
    return None if donor.broken else donor
