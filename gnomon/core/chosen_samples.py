"""Samples of a published file that is read whole."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gnomon.core.errors import NotFound
from gnomon.core.near_equal import Asked
from gnomon.core.sample import DataFault, Sample, SampleRef

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenSamples(Generic[Row]):
    """The selected rows by sample id, in their order; `build` makes the whole sample of one."""

    rows: Mapping[str, tuple[SampleRef, Row]]
    faults: Sequence[DataFault]
    build: Callable[[SampleRef, Row], Sample]
    tell: Callable[[Row], Asked] | None = None  # what a row asks

    def asked(self) -> Iterator[Asked]:
        """What the rows ask."""
        if self.tell is not None:
            yield from (self.tell(row) for _, row in self.rows.values())

    @property
    def refs(self) -> Sequence[SampleRef]:
        return [ref for ref, _ in self.rows.values()]

    def get(self, sample_id: str) -> Sample:
        if sample_id not in self.rows:
            raise NotFound(f"no sample {sample_id!r} in this selection")
        return self.build(*self.rows[sample_id])
