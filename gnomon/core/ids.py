"""Makes ids and seeds from content: equal content has the same id on every machine."""

import hashlib
import json

_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True
).encode  # made once: dumps makes one a call


def stable_hash(*parts: object, size: int = 20) -> str:
    """Hash JSON-able parts into `size` hex digits.

    >>> stable_hash("a", 1) == stable_hash("a", 1), stable_hash("a", "b") == stable_hash("ab", "")
    (True, False)
    """
    return hashlib.sha256(_encode(parts).encode()).hexdigest()[:size]


def stable_seed(*parts: object) -> int:
    """A seed in [0, 2**31) from the same parts on every machine.

    >>> 0 <= stable_seed("job", "sample", 0) < 2**31
    True
    """
    return int(stable_hash(*parts, size=16), 16) % 2**31
