"""References to generated samples, each made when it is asked for."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import overload

from gnomon.core.sample import SampleRef


class RefsOnDemand(Sequence[SampleRef]):
    """The first `limit` of endlessly many samples, each made when it is asked for."""

    __slots__ = ()

    limit: int

    @abstractmethod
    def ref_at(self, index: int) -> SampleRef:
        """The reference at `index`, counted from 0."""

    def __len__(self) -> int:
        return self.limit

    @overload
    def __getitem__(self, index: int) -> SampleRef: ...
    @overload
    def __getitem__(self, index: slice) -> list[SampleRef]: ...
    def __getitem__(self, index: int | slice) -> SampleRef | list[SampleRef]:
        chosen = range(self.limit)[index]  # raises IndexError as a list does
        if isinstance(chosen, range):
            return [self.ref_at(number) for number in chosen]
        return self.ref_at(chosen)
