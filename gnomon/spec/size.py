"""Limits on the sizes of a spec as it was written, before anything is made of it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.core.arm import MAX_INSTRUCTIONS
from gnomon.core.errors import SpecError

MAX_BYTES = 200_000  # of the parts that are passed on as they are, as JSON
MOST_LIST, MOST_TEXT = 1_000, 1_000  # entries, and characters, where MOST says nothing else
MOST: Mapping[str, int] = {
    "models": 100,
    "arms": 256,
    "arms.*.tools": 200,
    "arms.*.show": 20,
    "arms.*.instructions": MAX_INSTRUCTIONS,
    "models.*.options": 100,
    "decoding": 100,
    "data": 4_096,
    "analysis.contrasts": 1_000,
    "analysis.contrasts.*.factor": 20,
    "analysis.chain": 256,
    "analysis.notes": 100,
    "analysis.notes.*": 10_000,
    "analysis.attribution.players": 200,
    # Options of presets are in the place of the arms.
    "arms.tools": 200,
    "arms.show": 20,
    "arms.groups": 200,
    "arms.calls": 64,
}
AS_THEY_ARE = ("models.*.options", "select.request", "servers")
DEEPEST = 6  # no field is deeper; the models refuse what is


def check_sizes(written: Mapping[str, Any]) -> None:
    """Refuse a spec with more entries, or longer texts, than any job needs.

    >>> check_sizes({"models": [{"id": "m"}] * 101})
    Traceback (most recent call last):
    gnomon.core.errors.SpecError: models: has 101 entries; allowed: 100

    Raises:
        SpecError: names the field, what it has, and what is allowed.
    """
    for field, kind, value in _parts("", "", written, 0):
        most = MOST.get(kind, MOST_TEXT if isinstance(value, str) else MOST_LIST)
        if len(value) > most:
            unit = "characters" if isinstance(value, str) else "entries"
            raise SpecError(f"has {len(value):,} {unit}; allowed: {most:,}", field=field)
        if kind in AS_THEY_ARE and (size := _bytes_of(value, field)) > MAX_BYTES:
            raise SpecError(f"has {size:,} bytes as JSON; allowed: {MAX_BYTES:,}", field=field)


def _parts(field: str, kind: str, value: object, depth: int) -> Iterator[tuple[str, str, Any]]:
    """Every text, list and mapping with its path, and with the path in which numbers are stars."""
    if not isinstance(value, str | list | dict) or depth > DEEPEST:
        return
    if field:
        yield field, kind, value
    if kind in AS_THEY_ARE or isinstance(value, str):
        return
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in pairs:
        step = str(name) if isinstance(value, dict) else "*"
        dot = "." if field else ""
        yield from _parts(f"{field}{dot}{name}", f"{kind}{dot}{step}", inner, depth + 1)


def _bytes_of(value: object, field: str) -> int:
    try:
        return len(json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass"))
    except (TypeError, ValueError, RecursionError):
        raise SpecError("holds what no JSON can hold", field=field) from None
