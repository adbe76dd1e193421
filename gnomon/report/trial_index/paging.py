"""Cuts a sorted list into pages without sorting all of it."""

from collections.abc import Sequence

import numpy as np

from gnomon.core.errors import SpecError
from gnomon.report.trial_index.columns import Array
from gnomon.report.trial_index.matching import Mask


def direction(sort: str, allowed: Sequence[str]) -> tuple[str, bool]:
    """The name of a sort, and whether it is descending.

    Raises:
        SpecError: there is no such sort.
    """
    name = sort.removeprefix("-")
    if name not in allowed:
        raise SpecError(f"{sort!r} is no order; allowed: {', '.join(allowed)}, or -NAME", field="sort")
    return name, name != sort


def ascending(values: Array, *, is_descending: bool) -> Array:
    """Keys that sort upwards into the order; what has no value comes last."""
    return np.where(np.isnan(values), np.inf, -values if is_descending else values)


def first_places(
    mask: Mask, key: Array, ties: Array, start: tuple[float, int] | None, limit: int
) -> tuple[Array, bool]:
    """The first `limit` places of the mask by key and tie after the start, and whether these are the last."""
    if start is not None:
        mask = mask & ((key > start[0]) | ((key == start[0]) & (ties > start[1])))
    places = np.flatnonzero(mask)
    is_last = len(places) <= limit
    if not is_last:  # only what may be on the page is sorted
        keys = key[places]
        bound = np.partition(keys, limit - 1)[limit - 1]
        equal = places[keys == bound]
        if len(equal) > limit:
            equal = equal[np.argpartition(ties[equal], limit - 1)[:limit]]
        places = np.concatenate([places[keys < bound], equal])
    return places[np.lexsort((ties[places], key[places]))][:limit], is_last
