"""Keeps a text by row, without an object for each."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class PackedTexts:
    """Texts in order, or None; those of a batch are one long text."""

    def __init__(self) -> None:
        self._batches: list[str] = []
        self._ends: list[NDArray[np.int32]] = []  # by batch: where each text ends
        self._absent: list[NDArray[np.bool_]] = []
        self._starts = [0]  # by batch: the number of its first text

    def extend(self, texts: Sequence[str | None]) -> None:
        """Keep these texts too."""
        present = [text or "" for text in texts]
        self._batches.append("".join(present))
        self._ends.append(np.cumsum(np.fromiter(map(len, present), np.int32, len(present)), dtype=np.int32))
        self._absent.append(np.fromiter((text is None for text in texts), np.bool_, len(present)))
        self._starts.append(self._starts[-1] + len(present))

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, number: int) -> str | None:
        batch = int(np.searchsorted(self._starts, number, side="right")) - 1
        place = number - self._starts[batch]
        if self._absent[batch][place]:
            return None
        ends = self._ends[batch]
        return self._batches[batch][int(ends[place - 1]) if place else 0 : int(ends[place])]
