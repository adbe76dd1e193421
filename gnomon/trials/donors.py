"""Draws other samples of a job, whose scenes answer in place of a question's own."""

import random
from collections.abc import Iterator
from itertools import islice

from gnomon.core.benchmark import SampleSet
from gnomon.core.errors import DataError, NotFound
from gnomon.core.sample import Sample, SampleRef
from gnomon.trials.stand_in_scene import is_same_place
from tools.map_record.record import MapRecord
from tools.scene.scene import Scene

DONORS = 3  # a call that fails on one is answered by the next
DRAWS = 300  # refs that are looked at for them; a set may have millions
BUILT = 12  # samples that are built for them: all questions of a job may be about one place
BUILT_TRIPS = 40  # of any cell, and one in seven begins on the same day of the week


class Donors:
    """Samples of the same cell and of other clusters, drawn by a trial's seed and built when they are needed.

    Those of trips are of any cell. None is of the place that the question is about.
    """

    def __init__(self, asked: Sample, samples: SampleSet | None, *, seed: int) -> None:
        self.asked, self._samples, self._seed = asked, samples, seed
        self._drawn: list[Sample] = []
        self._more = self._draw()

    def first(self) -> Sample | None:
        """The first donor, if there is one."""
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
        # Whether a trip can be planned at all is a task of its own: its donors are of any.
        is_any_cell = self.asked.trip is not None
        refs = _drawn_refs(samples, self.asked.ref, self._seed, is_any_cell=is_any_cell)
        for ref in islice(refs, BUILT_TRIPS if is_any_cell else BUILT):
            donor = _built(samples, ref)
            if donor is None or not self._fits(donor):
                continue
            if self._is_like(donor):
                yield donor
            else:
                unlike.append(donor)
        yield from unlike

    def _fits(self, donor: Sample) -> bool:
        asked = self.asked
        if asked.scene is None or donor.scene is None:
            own, others = (
                (sample.footage, sample.map_record, sample.sandbox, sample.trip and sample.trip.request)
                for sample in (asked, donor)
            )
            unlike = own != others
            return (asked.scene is None) == (donor.scene is None) and unlike and self._has_such_trip(donor)
        return asked.scene.kind == donor.scene.kind and not is_same_place(asked.scene, donor.scene)

    def _has_such_trip(self, donor: Sample) -> bool:
        """Whether the donor's trip, where the question is about one, is of the same data and means."""
        if self.asked.trip is None or donor.trip is None:
            return (self.asked.trip is None) == (donor.trip is None)
        first, other = self.asked.trip, donor.trip
        return (first.provider.name, first.request.mode) == (other.provider.name, other.request.mode)

    def _is_like(self, donor: Sample) -> bool:
        """Whether the donor's scene has no floor that the question's lacks, and no fewer cameras; its map
        record all kinds of facts that the question's has; or its trip as many places and days.
        """
        if self.asked.trip is not None and donor.trip is not None:
            from gnomon.trials.stand_in_trip import is_like  # late: few samples are trips

            return is_like(self.asked.trip, donor.trip)
        if self.asked.map_record is not None and donor.map_record is not None:
            return _kinds(self.asked.map_record) <= _kinds(donor.map_record)
        asked, other = self.asked.scene, donor.scene
        if asked is None or other is None:
            return True
        return len(other.cameras) >= len(asked.cameras) and _floors(other) <= _floors(asked)


def _kinds(record: MapRecord) -> set[str]:
    kinds = {"places": record.places, "nearby": record.nearby, "routes": record.routes}
    return {kind for kind, facts in kinds.items() if facts} | {leg.mode for leg in record.legs}


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
