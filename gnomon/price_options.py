"""Options that change what a call costs, and a model's entry in the price table as they change it."""

from collections.abc import Mapping
from typing import Any

SERVICES = ("_batches", "_priority", "_flex")  # ends of prices of other services than the usual one
# Options that change what is charged, and the values that do not.
_USUAL = {
    "service_tier": ("auto", "default", "standard", "standard_only", "on_demand"),
    "inference_geo": ("global",),
    "speed": ("standard",),
    "ttl": ("5m",),  # of `cache_control`
}
_INPUT, _OUTPUT, _WRITE = "input_cost_per_token", "output_cost_per_token", "cache_creation_input_token_cost"
_FOR_AN_HOUR = "_above_1hr"

Chosen = tuple[tuple[str, str], ...]


def dearer_or_cheaper(options: Mapping[str, Any]) -> Chosen:
    """The options that change what is charged, with their values.

    >>> dearer_or_cheaper({"service_tier": "flex", "speed": "standard", "cache_control": {"ttl": "1h"}})
    (('service_tier', 'flex'), ('ttl', '1h'))
    """
    kept = options.get("cache_control")
    said = {**options, "ttl": kept.get("ttl") if isinstance(kept, Mapping) else None}
    return tuple(
        (name, str(said[name]))
        for name, usual in _USUAL.items()
        if said.get(name) is not None and said[name] not in usual
    )


def as_chosen(found: Mapping[str, Any], chosen: Chosen) -> dict[str, Any] | None:
    """A table's entry under such options; None where it does not say what they cost."""
    priced: dict[str, Any] | None = dict(found)
    for name, value in chosen:
        if priced is None:
            return None
        if name == "service_tier":
            priced = _of_service(priced, f"_{value}")
        elif name == "ttl":
            priced = _kept_for_an_hour(priced) if value == "1h" else None
        else:
            priced = _times(priced, (priced.get("provider_specific_entry") or {}).get(value))
    return priced


def _of_service(found: dict[str, Any], end: str) -> dict[str, Any] | None:
    prices = {name.removesuffix(end): value for name, value in found.items() if name.endswith(end)}
    if end not in SERVICES or not {_INPUT, _OUTPUT} <= prices.keys():
        return None
    others = {name: value for name, value in found.items() if "cost" not in name and name != "tiered_pricing"}
    return others | prices


def _kept_for_an_hour(found: dict[str, Any]) -> dict[str, Any] | None:
    dearer = {
        name.replace(_FOR_AN_HOUR, "", 1): value
        for name, value in found.items()
        if name.startswith(_WRITE + _FOR_AN_HOUR)
    }
    return {**found, **dearer} if _WRITE in dearer else None


def _times(found: dict[str, Any], factor: object) -> dict[str, Any] | None:
    """The entry with all its prices multiplied."""
    if not isinstance(factor, int | float) or "tiered_pricing" in found:
        return None
    return {
        name: value * factor if "cost" in name and isinstance(value, int | float) else value
        for name, value in found.items()
    }
