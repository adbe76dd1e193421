"""Chooses the media type of a response by the request's Accept header (RFC 9110)."""

from collections.abc import Sequence

from starlette.exceptions import HTTPException


def choose(accept: str | None, offered: Sequence[str]) -> str:
    """The offered type that `accept` prefers; the first one offered if it has no preference.

    Raises:
        HTTPException: 406, it accepts none of them.
    """
    ranges = [_media_range(part) for part in (accept or "*/*").split(",")]
    best = max(offered, key=lambda kind: _quality(kind, ranges))
    if _quality(best, ranges) <= 0:
        raise HTTPException(406, f"offered here: {', '.join(offered)}")
    return best


def _media_range(part: str) -> tuple[str, float]:
    kind, _, parameters = part.strip().lower().partition(";")
    for parameter in parameters.split(";"):
        name, _, value = parameter.strip().partition("=")
        if name == "q":
            try:
                return kind.strip(), float(value)
            except ValueError:
                return kind.strip(), 0.0
    return kind.strip(), 1.0


def _quality(kind: str, ranges: Sequence[tuple[str, float]]) -> float:
    """The weight of the most specific range that covers `kind` (RFC 9110, section 12.5.1)."""
    weights = dict(ranges)
    family = kind.partition("/")[0]
    for pattern in (kind, f"{family}/*", "*/*"):
        if pattern in weights:
            return weights[pattern]
    return 0.0
