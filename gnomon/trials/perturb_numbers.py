"""Perturbs numbers by chance, so that a call says something plausible and nothing that is true.

Unlike `corrupt_measurements`, which is wrong by one scale and one turn, each number gets a change of its own:
what is larger or nearer than what cannot be read off.
"""

import json
import random
from typing import Any

from gnomon.trials.corrupt_measurements import DIRECTIONS

LEAST, MOST = 1.25, 2.0  # the factor, up or down, equally likely by its logarithm

IN_ORDER = ("times_s",)  # lists that must go on rising: one factor for all of their numbers
UNTOUCHED = ("error", "floor", "rotation")  # parts of names of fields
DECIMALS = 3


def perturb_numbers(content: str, *, key: str) -> str:
    """JSON text with its numbers changed, each by a draw that `key` decides: the same key, the same text.

    Measures become a quarter to twice as large, or as much smaller; directions become anything. Names, truth
    values, floors, stated errors and whole numbers below two stay, as do lengths of lists and decimals.

    >>> perturb_numbers('{"floor": 2, "distance_m": 10.0, "via": ["r1"]}', key="k")
    '{"floor": 2, "distance_m": 6.7, "via": ["r1"]}'
    """
    return json.dumps(
        _perturbed(json.loads(content), "", random.Random(f"perturbed {key}")),
        ensure_ascii=False,
        allow_nan=False,
    )


def _perturbed(value: Any, name: str, chance: random.Random) -> Any:
    if isinstance(value, dict):
        return {key: _perturbed(item, key, chance) for key, item in value.items()}
    if isinstance(value, list):
        if name in IN_ORDER and all(isinstance(item, int | float) for item in value):
            factor = _factor(chance)
            return [_scaled(item, factor) for item in value]
        return [_perturbed(item, name, chance) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if any(part in name for part in UNTOUCHED) or (isinstance(value, int) and -2 < value < 2):
        return value
    if name.endswith(DIRECTIONS):
        return round(chance.uniform(0.0, 360.0), _decimals(value))
    if name.endswith("cosine"):
        return round(chance.uniform(-1.0, 1.0), DECIMALS)
    return _scaled(value, _factor(chance))


def _factor(chance: random.Random) -> float:
    factor = float(LEAST * (MOST / LEAST) ** chance.random())
    return factor if chance.random() < 0.5 else 1.0 / factor


def _scaled(value: float, factor: float) -> float:
    if isinstance(value, int):
        return round(value * factor)
    return float(round(value * factor, _decimals(value)))


def _decimals(value: float) -> int:
    """As many as it is written with."""
    return max(1, min(DECIMALS, len(repr(float(value)).partition(".")[2])))
