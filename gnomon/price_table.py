"""The price of a model: what its spec says, else LiteLLM's shipped table, read without importing LiteLLM.

The import takes two seconds and 170 MB; an entry is found in the text of the file in a few milliseconds.
"""

import functools
import importlib.util
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnomon.core.model import is_built_in
from gnomon.price_options import SERVICES, Chosen, as_chosen, dearer_or_cheaper
from gnomon.spec.job_spec import ModelSpec, Price

FILE = "model_prices_and_context_window_backup.json"
_NAMES = {  # of a rate, in the table
    "input": "input_cost_per_token",
    "cached_input": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
    "output": "output_cost_per_token",
    "reasoning": "output_cost_per_reasoning_token",
}
_PLAIN = {_NAMES[name] for name in ("input", "output", "cached_input")}
_INCLUSIVE = ("xai",)  # providers whose dearer tier begins at its threshold, not above it
_HALF_IF_CACHED = ("fireworks_ai",)  # as its price page says, where the table says nothing
_FINE_TUNED = re.compile(r"(ft:[^:]+):.*")  # OpenAI's `ft:base:organization:name:id`: priced as `ft:base`


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Dollars for a token of each kind."""

    input: float
    cached_input: float
    cache_write: float
    output: float
    reasoning: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A model's prices; `is_plain` unless it has other prices or parameter rules of its own.

    `tiers` are the rates for every token of a call whose prompt is longer than so many tokens, ascending.
    Discounts for certain hours of the day are left out.
    """

    rates: Rates
    tiers: tuple[tuple[int, Rates], ...] = ()
    is_plain: bool = True

    @classmethod
    def of(cls, price: Price) -> "Entry":
        """The prices that a spec states, for a million tokens; what it leaves out costs as its whole does."""
        stated = price.model_dump(exclude_none=True)
        return cls(rates=_rates({name: value / 1e6 for name, value in stated.items()}))

    @property
    def dearest(self) -> tuple[float, float]:
        """The most dollars for a token of the prompt and one of the reply, in any tier."""
        every = [self.rates, *(rates for _, rates in self.tiers)]
        return (
            max(max(rates.input, rates.cached_input, rates.cache_write) for rates in every),
            max(max(rates.output, rates.reasoning) for rates in every),
        )

    def usd(
        self,
        *,
        prompt: float,
        completion: float,
        cached: float = 0,
        cache_write: float = 0,
        reasoning: float = 0,
    ) -> float:
        """What a call costs, in dollars. Tokens read from and written to the provider's prompt cache are part
        of `prompt`, those of reasoning part of `completion`.
        """
        rates = self.rates
        for above, tier in self.tiers:
            rates = tier if prompt > above else rates
        cached = min(cached, prompt)
        cache_write = min(cache_write, prompt - cached)
        reasoning = min(reasoning, completion)
        return (
            (prompt - cached - cache_write) * rates.input
            + cached * rates.cached_input
            + cache_write * rates.cache_write
            + (completion - reasoning) * rates.output
            + reasoning * rates.reasoning
        )


def price_entry(spec: ModelSpec) -> Entry | None:
    """The prices of a model, for plan, limits and replies alike; None where neither its spec nor the table
    says, and for models of this program, which cost nothing.

    >>> price_entry(ModelSpec(id="openai/m", price={"input": 1, "output": 2})).dearest
    (1e-06, 2e-06)
    >>> price_entry(ModelSpec(id="openai/gpt-4o")).dearest
    (2.5e-06, 1e-05)
    >>> price_entry(ModelSpec(id="openai/m")) is None
    True
    >>> price_entry(ModelSpec(id="openai/gpt-5", options={"service_tier": "flex"})).dearest
    (6.25e-07, 5e-06)
    """
    if spec.price is not None:
        return Entry.of(spec.price)
    if is_built_in(spec.id):
        return None
    chosen = dearer_or_cheaper(spec.options)
    return _entry_as_chosen(spec.id, chosen) if chosen else entry_of(spec.id)


@functools.lru_cache(maxsize=256)
def _entry_as_chosen(model_id: str, chosen: Chosen) -> Entry | None:
    found = _found(model_id)
    priced = None if found is None else as_chosen(found, chosen)
    return None if priced is None else _entry(priced)


@functools.lru_cache(maxsize=256)
def entry_of(model_id: str) -> Entry | None:
    """The table's entry for a LiteLLM id, with its provider or without; None if it has none, or one without a
    price: a zero in the table says that nobody published one.

    >>> entry_of("openai/gpt-4o").usd(prompt=1_000_000, cached=400_000, completion=0)
    2.0
    >>> entry_of("o3-mini").is_plain, entry_of("no-such-model")
    (False, None)
    """
    found = _found(model_id)
    return None if found is None else _entry(found)


@functools.lru_cache(maxsize=64)
def most_output_tokens(model_id: str) -> int | None:
    """The most tokens that the table lets a reply of this model have; None where it does not say.

    >>> most_output_tokens("anthropic/claude-sonnet-4-5"), most_output_tokens("anthropic/no-such-model")
    (64000, None)
    """
    most = (_found(model_id) or {}).get("max_output_tokens")
    return most if isinstance(most, int) else None


@functools.lru_cache(maxsize=64)
def needs_responses_api(model_id: str) -> bool:
    """Whether OpenAI serves this model by its Responses API alone, or the id asks for that API.

    >>> [needs_responses_api(f"openai/{name}") for name in ("o3-pro", "o3", "responses/o3")]
    [True, False, True]
    """
    provider, slash, name = model_id.partition("/")
    if slash and provider != "openai":
        return False
    found = _found(model_id) or {}
    return name.startswith("responses/") or (
        found.get("mode") == "responses" and found.get("litellm_provider") == "openai"
    )


def _found(model_id: str) -> dict[str, Any] | None:
    """What the table says of a LiteLLM id, with its provider or without."""
    provider, slash, name = model_id.partition("/")
    name = name.removeprefix("responses/")
    text = _text()
    for key in dict.fromkeys((model_id, name, _FINE_TUNED.sub(r"\1", name or provider))):
        found = _object_at(text, key) if key else None
        if found is None:
            continue
        owner = str(found.get("litellm_provider", ""))
        if not slash or key == model_id or owner == provider or owner.startswith(f"{provider}-"):
            return found
    return None


def _text() -> str:
    package = importlib.util.find_spec("litellm")
    if package is None or package.origin is None:
        return ""
    return (Path(package.origin).parent / FILE).read_text(encoding="utf-8")


def _object_at(text: str, key: str) -> dict[str, Any] | None:
    """The member `key` of the outermost object: only its keys are indented by four spaces."""
    mark = f"\n    {json.dumps(key)}: "
    start = text.find(mark)
    if start < 0:
        return None
    value, _ = json.JSONDecoder().raw_decode(text, start + len(mark))
    return value if isinstance(value, dict) else None


def _entry(found: dict[str, Any]) -> Entry | None:
    said = {kind: float(found[name]) for kind, name in _NAMES.items() if _is_price(found.get(name))}
    if str(found.get("litellm_provider")) in _HALF_IF_CACHED and "input" in said:
        said.setdefault("cached_input", said["input"] / 2)
    tiers = [*_above(found, said), *_ranges(found, said)]
    first = _rates(said) if said.get("input") else next((rates for above, rates in tiers if above == 0), None)
    if first is None or not first.input:
        return None
    costs = {name for name in found if "cost" in name and not name.endswith(SERVICES)}
    return Entry(
        rates=first,
        tiers=tuple(sorted(tiers, key=lambda tier: tier[0])),
        is_plain=costs <= _PLAIN and not found.get("supports_reasoning"),
    )


def _above(found: dict[str, Any], said: dict[str, float]) -> list[tuple[int, Rates]]:
    """Rates such as `input_cost_per_token_above_200k_tokens`."""
    tiers: dict[int, dict[str, float]] = {}
    for kind, name in _NAMES.items():
        for key, value in found.items():
            named = re.fullmatch(rf"{name}_above_(\d+)(k?)_tokens", key)
            if named and _is_price(value):
                threshold = int(named[1]) * (1_000 if named[2] else 1)
                tiers.setdefault(threshold, {})[kind] = float(value)
    is_inclusive = found.get("litellm_provider") in _INCLUSIVE
    rates = dict(said)
    out = []
    for above, tier in sorted(tiers.items()):
        rates |= tier
        out.append((above - is_inclusive, _rates(rates)))
    return out


def _ranges(found: dict[str, Any], said: dict[str, float]) -> list[tuple[int, Rates]]:
    """Rates by `tiered_pricing`, each for prompts longer than where its range begins."""
    tiers = []
    for tier in found.get("tiered_pricing") or ():
        rates = {kind: float(tier[name]) for kind, name in _NAMES.items() if _is_price(tier.get(name))}
        if "input" in rates and len(tier.get("range", ())) == 2:
            output = {"output": said["output"]} if "output" in said else {}
            tiers.append((int(tier["range"][0]), _rates(output | rates)))
    return tiers


def _rates(said: Mapping[str, float]) -> Rates:
    """Rates of which some are said; a part that has no price of its own costs what its whole does."""
    whole_in, whole_out = said.get("input", 0.0), said.get("output", 0.0)
    return Rates(
        input=whole_in,
        cached_input=said.get("cached_input", whole_in),
        cache_write=said.get("cache_write", whole_in),
        output=whole_out,
        reasoning=said.get("reasoning", whole_out),
    )


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
