"""Limits a request's body while it streams, by route: its bytes, JSON values and depth."""

import re
from typing import NamedTuple

import numpy as np

from gnomon.exchange.json_lines import count_values
from gnomon.media.uploads import MOST_BYTES as MOST_UPLOAD


class BodyBounds(NamedTuple):
    """The most that a body may hold. `is_kept` is whether it is in memory until it is answered."""

    size: int  # bytes
    values: int
    depth: int
    is_kept: bool = True
    seconds: float | None = None  # in which it must arrive; None: as usual


SMALL = BodyBounds(size=1_000_000, values=300_000, depth=100)
# A batch is read by a process of its own: two columns of a million points each are 6,000,000 values.
BATCH = BodyBounds(size=64_000_000, values=8_000_000, depth=100, is_kept=False)
UPLOAD = BodyBounds(size=MOST_UPLOAD, values=0, depth=0, is_kept=False, seconds=1_800.0)
BY_ROUTE = (  # all others: SMALL
    (re.compile(r"/v1/tools/[^/]+/batch"), BATCH),
    (re.compile(r"/v1/uploads/[^/]+|/ui/new/upload"), UPLOAD),
)
MOST_KEPT = 64_000_000  # bytes of all bodies that are in memory at a time


def bounds_of(path: str) -> BodyBounds:
    """What a body sent to this path may hold.

    >>> bounds_of("/v1/tools/distance/batch").size, bounds_of("/v1/jobs").size
    (64000000, 1000000)
    """
    return next((bounds for route, bounds in BY_ROUTE if route.fullmatch(path)), SMALL)


_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1
_OTHERS = bytes(set(range(256)) - set(b'[]{}"'))


class JsonScan:
    """Counts the values of a JSON text, never too low, and how deep they are nested, as its pieces come.

    Brackets in strings are no brackets. A text that is no JSON is counted as if it were.

    >>> scan = JsonScan()
    >>> for piece in (b'{"a": [1, "]', b'"', b", 2]}"):
    ...     scan.feed(piece)
    >>> scan.values, scan.depth
    (4, 2)
    """

    def __init__(self) -> None:
        self.values = self.depth = 0
        self._level, self._in_string, self._rest = 0, False, b""

    def feed(self, piece: bytes) -> None:
        """Count what is in the next piece."""
        self.values += count_values(piece)
        text = self._rest + piece
        is_open = (len(text) - len(text.rstrip(b"\\"))) % 2  # what it marks comes with the next piece
        text, self._rest = text[: len(text) - is_open], text[len(text) - is_open :]
        parts = text.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _OTHERS).split(b'"')
        brackets = b"".join(parts[self._in_string :: 2])
        self._in_string ^= len(parts) % 2 == 0
        if brackets:
            levels = self._level + np.cumsum(_STEPS[np.frombuffer(brackets, np.uint8)], dtype=np.int32)
            self._level, self.depth = int(levels[-1]), max(self.depth, int(levels.max()))
