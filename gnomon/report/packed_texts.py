"""Keeps texts in order, without an object for each."""

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray


class PackedTexts:
    """Texts, or None, each cut off after so many characters; those that came together are one long text."""

    def __init__(self, most_chars: int | None = None) -> None:
        self._most_chars = most_chars
        self._batches: list[str] = []
        self._ends: list[NDArray[np.int32]] = []  # by batch: where each text ends
        self._absent: list[set[int]] = []  # by batch: the places that hold None
        self._starts = [0]  # by batch: the number of its first text

    def extend(self, texts: Sequence[str | None]) -> None:
        """Keep these texts too."""
        absent = {place for place, text in enumerate(texts) if text is None} if None in texts else set()
        present = [text or "" for text in texts] if absent else cast(Sequence[str], texts)
        lengths = np.fromiter(map(len, present), np.int64, len(present))
        if self._most_chars is not None and lengths.max(initial=0) > self._most_chars:
            present = [text[: self._most_chars] for text in present]
            lengths = np.minimum(lengths, self._most_chars)
        self._batches.append("".join(present))
        self._ends.append(np.cumsum(lengths, dtype=np.int32))
        self._absent.append(absent)
        self._starts.append(self._starts[-1] + len(present))

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, number: int) -> str | None:
        batch = int(np.searchsorted(self._starts, number, side="right")) - 1
        place, ends = number - self._starts[batch], self._ends[batch]
        if place in self._absent[batch]:
            return None
        return self._batches[batch][int(ends[place - 1]) if place else 0 : int(ends[place])]
