"""Keeps texts in order, without an object for each."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Generic, TypeVar, cast

Kept = TypeVar("Kept", bound=str | None)
ABSENT = -1  # the length of None
STRETCH = 1_000  # texts that are decoded for one of them


class PackedTexts(Generic[Kept]):
    """Texts, or None, each cut off after so many characters; all of them are one array of bytes.

    It grows in its place. Many small pieces, kept among the objects of rows being read, would keep the
    memory of those from being used again.
    """

    def __init__(self, most_chars: int | None = None) -> None:
        self._most_chars = most_chars
        self._bytes = bytearray()
        self._lengths = array("i")  # in characters
        self._firsts = array("q", [0])  # by stretch of texts: the number of its first one
        self._starts = array("q", [0])  # by stretch: where it starts among the bytes

    def extend(self, texts: Sequence[Kept]) -> None:
        """Keep these texts too."""
        for start in range(0, len(texts), STRETCH):
            stretch = texts[start : start + STRETCH]
            kept = ["" if text is None else text[: self._most_chars] for text in stretch]
            self._bytes += "".join(kept).encode(errors="surrogatepass")
            self._lengths.extend(map(len, kept) if None not in stretch else map(_length, stretch, kept))
            self._firsts.append(len(self._lengths))
            self._starts.append(len(self._bytes))

    def __len__(self) -> int:
        return len(self._lengths)

    def __getitem__(self, number: int) -> Kept:
        number = range(len(self))[number]
        stretch = bisect_right(self._firsts, number) - 1
        before = self._lengths[self._firsts[stretch] : number]
        return self._cut(
            self._text(stretch), sum(before) - ABSENT * before.count(ABSENT), self._lengths[number]
        )

    def __iter__(self) -> Iterator[Kept]:
        for stretch, (first, last) in enumerate(pairwise(self._firsts)):
            text, start = self._text(stretch), 0
            for length in self._lengths[first:last]:
                yield self._cut(text, start, length)
                start += max(length, 0)

    def _text(self, stretch: int) -> str:
        start, end = self._starts[stretch : stretch + 2]
        return self._bytes[start:end].decode(errors="surrogatepass")

    def _cut(self, text: str, start: int, length: int) -> Kept:
        return cast(Kept, None if length == ABSENT else text[start : start + length])


def _length(text: str | None, kept: str) -> int:
    return ABSENT if text is None else len(kept)
