"""The price of a model: what its spec states, else LiteLLM's shipped table under the model's options.

The table is read without importing LiteLLM, which takes two seconds and 170 MB; an entry is found in the text
of the file in a few milliseconds.
"""

import functools
import importlib.util
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnomon.core.model import is_built_in, provider_in
from gnomon.spec.model_spec import ModelSpec, Price

FILE = "model_prices_and_context_window_backup.json"
_NAMES = {  # of a rate, in the table
    "input": "input_cost_per_token",
    "cached_input": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
    "output": "output_cost_per_token",
    "reasoning": "output_cost_per_reasoning_token",
}
_PLAIN = {_NAMES[name] for name in ("input", "output", "cached_input")}
_SERVICES = ("_batches", "_priority", "_flex")  # ends of prices of other services than the usual one
# Options that change what is charged, and their values that do not.
_USUAL = {
    "service_tier": ("auto", "default", "standard", "standard_only", "on_demand"),
    "inference_geo": ("global",),
    "speed": ("standard",),
    "ttl": ("5m",),  # of `cache_control`
}
_INPUT, _OUTPUT, _WRITE = "input_cost_per_token", "output_cost_per_token", "cache_creation_input_token_cost"
_FOR_AN_HOUR = "_above_1hr"

_INCLUSIVE = ("xai",)  # providers whose dearer tier begins at its threshold, not above it
_HALF_IF_CACHED = ("fireworks_ai",)  # as its price page says, where the table says nothing
_FINE_TUNED = re.compile(r"(ft:[^:]+):.*")  # OpenAI's `ft:base:organization:name:id`: priced as `ft:base`

PricedOptions = tuple[tuple[str, str], ...]  # name and value


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
    states them, and for built-in models, which cost nothing.

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
    options = _priced_options(spec.options)
    return _entry_with(spec.id, options) if options else entry_of(spec.id)


@functools.lru_cache(maxsize=256)
def _entry_with(model_id: str, options: PricedOptions) -> Entry | None:
    row = _row(model_id)
    priced = None if row is None else _under_options(row, options)
    return None if priced is None else _entry(priced)


@functools.lru_cache(maxsize=256)
def entry_of(model_id: str) -> Entry | None:
    """The table's entry for a LiteLLM id, with its provider or without; None if it has none, or one without a
    price: a zero in the table says that none is published.

    >>> entry_of("openai/gpt-4o").usd(prompt=1_000_000, cached=400_000, completion=0)
    2.0
    >>> entry_of("o3-mini").is_plain, entry_of("no-such-model")
    (False, None)
    """
    row = _row(model_id)
    return None if row is None else _entry(row)


@functools.lru_cache(maxsize=64)
def most_output_tokens(model_id: str) -> int | None:
    """The most tokens that the table lets a reply of this model have; None where it does not say.

    >>> most_output_tokens("anthropic/claude-sonnet-4-5"), most_output_tokens("anthropic/no-such-model")
    (64000, None)
    """
    most = (_row(model_id) or {}).get("max_output_tokens")
    return most if isinstance(most, int) else None


@functools.lru_cache(maxsize=64)
def context_tokens(model_id: str) -> int | None:
    """The most tokens that the table lets a prompt of this model have; None where it does not say.

    >>> context_tokens("openai/gpt-4o"), context_tokens("openai/no-such-model")
    (128000, None)
    """
    most = (_row(model_id) or {}).get("max_input_tokens")
    return most if isinstance(most, int) else None


def model_ids(prefix: str) -> list[str]:
    """The ids of the table that begin so, with their provider as a spec names it, sorted.

    >>> model_ids("openai/gpt-4o-mini-2024")
    ['openai/gpt-4o-mini-2024-07-18']
    """
    provider, slash, name = prefix.partition("/")
    ids = re.findall(r'^    "([^"\n]+)": \{', _text(), flags=re.MULTILINE)
    listed = {model_id for model_id in ids if model_id.startswith(prefix)}
    if slash and provider in ("openai", "anthropic"):  # the table lists theirs without the provider
        family = "claude-" if provider == "anthropic" else ("gpt-", "o1", "o3", "o4", "chatgpt-")
        own = (x for x in ids if x.startswith(name) and x.startswith(family) and "/" not in x)
        listed |= {f"{provider}/{model_id}" for model_id in own}
    return sorted(listed)


@functools.lru_cache(maxsize=64)
def needs_responses_api(model_id: str) -> bool:
    """Whether OpenAI serves this model by its Responses API alone, or the id asks for that API.

    >>> [needs_responses_api(f"openai/{name}") for name in ("o3-pro", "o3", "responses/o3")]
    [True, False, True]
    """
    provider, slash, name = model_id.partition("/")
    if slash and provider != "openai":
        return False
    row = _row(model_id) or {}
    return name.startswith("responses/") or (
        row.get("mode") == "responses" and row.get("litellm_provider") == "openai"
    )


# Their clients have no form for videos.
_WITHOUT_VIDEOS = ("anthropic",)


def takes_videos(spec: ModelSpec) -> bool:
    """Whether a model is sent whole videos: as its entry says, else as the table says of a known model.

    >>> [takes_videos(ModelSpec(id=name)) for name in ("gemini/gemini-2.5-flash", "openai/gpt-4o")]
    [True, False]
    >>> takes_videos(ModelSpec(id="openai/qwen-vl", api_base="http://127.0.0.1:1/v1", videos=True))
    True
    """
    if not spec.pictures or spec.api == "responses" or provider_in(spec.id) in _WITHOUT_VIDEOS:
        return False
    if spec.videos is not None or spec.api_base is not None or is_built_in(spec.id):
        return bool(spec.videos)
    return _table_says_videos(spec.id)


@functools.lru_cache(maxsize=64)
def _table_says_videos(model_id: str) -> bool:
    row = _row(model_id) or {}
    return bool(row.get("supports_video_input")) or "video" in row.get("supported_modalities", ())


def _row(model_id: str) -> dict[str, Any] | None:
    """The row of the table for a LiteLLM id, with its provider or without."""
    provider, slash, name = model_id.partition("/")
    name = name.removeprefix("responses/")
    text = _text()
    for key in dict.fromkeys((model_id, name, _FINE_TUNED.sub(r"\1", name or provider))):
        row = _object_at(text, key) if key else None
        if row is None:
            continue
        owner = str(row.get("litellm_provider", ""))
        if not slash or key == model_id or owner == provider or owner.startswith(f"{provider}-"):
            return row
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


def _entry(row: dict[str, Any]) -> Entry | None:
    stated = {kind: float(row[name]) for kind, name in _NAMES.items() if _is_price(row.get(name))}
    if str(row.get("litellm_provider")) in _HALF_IF_CACHED and "input" in stated:
        stated.setdefault("cached_input", stated["input"] / 2)
    tiers = [*_above(row, stated), *_ranges(row, stated)]
    without_tier = (rates for above, rates in tiers if above == 0)
    first = _rates(stated) if stated.get("input") else next(without_tier, None)
    if first is None or not first.input:
        return None
    costs = {name for name in row if "cost" in name and not name.endswith(_SERVICES)}
    return Entry(
        rates=first,
        tiers=tuple(sorted(tiers, key=lambda tier: tier[0])),
        is_plain=costs <= _PLAIN and not row.get("supports_reasoning"),
    )


def _above(row: dict[str, Any], stated: dict[str, float]) -> list[tuple[int, Rates]]:
    """Rates such as `input_cost_per_token_above_200k_tokens`."""
    tiers: dict[int, dict[str, float]] = {}
    for kind, name in _NAMES.items():
        for key, value in row.items():
            named = re.fullmatch(rf"{name}_above_(\d+)(k?)_tokens", key)
            if named and _is_price(value):
                threshold = int(named[1]) * (1_000 if named[2] else 1)
                tiers.setdefault(threshold, {})[kind] = float(value)
    is_inclusive = row.get("litellm_provider") in _INCLUSIVE
    rates = dict(stated)
    out = []
    for above, tier in sorted(tiers.items()):
        rates |= tier
        out.append((above - is_inclusive, _rates(rates)))
    return out


def _ranges(row: dict[str, Any], stated: dict[str, float]) -> list[tuple[int, Rates]]:
    """Rates by `tiered_pricing`, each for prompts longer than where its range begins."""
    tiers = []
    for tier in row.get("tiered_pricing") or ():
        rates = {kind: float(tier[name]) for kind, name in _NAMES.items() if _is_price(tier.get(name))}
        if "input" in rates and len(tier.get("range", ())) == 2:
            output = {"output": stated["output"]} if "output" in stated else {}
            tiers.append((int(tier["range"][0]), _rates(output | rates)))
    return tiers


def _rates(stated: Mapping[str, float]) -> Rates:
    """Rates of which some are stated; a part that has no price of its own costs what its whole does."""
    whole_in, whole_out = stated.get("input", 0.0), stated.get("output", 0.0)
    return Rates(
        input=whole_in,
        cached_input=stated.get("cached_input", whole_in),
        cache_write=stated.get("cache_write", whole_in),
        output=whole_out,
        reasoning=stated.get("reasoning", whole_out),
    )


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _priced_options(options: Mapping[str, Any]) -> PricedOptions:
    """The options that change what is charged, with their values.

    >>> _priced_options({"service_tier": "flex", "speed": "standard", "cache_control": {"ttl": "1h"}})
    (('service_tier', 'flex'), ('ttl', '1h'))
    """
    cache_control = options.get("cache_control")
    values = {**options, "ttl": cache_control.get("ttl") if isinstance(cache_control, Mapping) else None}
    return tuple(
        (name, str(values[name]))
        for name, usual in _USUAL.items()
        if values.get(name) is not None and values[name] not in usual
    )


def _under_options(row: Mapping[str, Any], options: PricedOptions) -> dict[str, Any] | None:
    """A table's entry under such options; None where it does not say what they cost."""
    priced: dict[str, Any] | None = dict(row)
    for name, value in options:
        if priced is None:
            return None
        if name == "service_tier":
            priced = _of_service(priced, f"_{value}")
        elif name == "ttl":
            priced = _cached_for_an_hour(priced) if value == "1h" else None
        else:
            priced = _times(priced, (priced.get("provider_specific_entry") or {}).get(value))
    return priced


def _of_service(row: dict[str, Any], end: str) -> dict[str, Any] | None:
    prices = {name.removesuffix(end): value for name, value in row.items() if name.endswith(end)}
    if end not in _SERVICES or not {_INPUT, _OUTPUT} <= prices.keys():
        return None
    others = {name: value for name, value in row.items() if "cost" not in name and name != "tiered_pricing"}
    return others | prices


def _cached_for_an_hour(row: dict[str, Any]) -> dict[str, Any] | None:
    dearer = {
        name.replace(_FOR_AN_HOUR, "", 1): value
        for name, value in row.items()
        if name.startswith(_WRITE + _FOR_AN_HOUR)
    }
    return {**row, **dearer} if _WRITE in dearer else None


def _times(row: dict[str, Any], factor: object) -> dict[str, Any] | None:
    """The entry with all its prices multiplied."""
    if not isinstance(factor, int | float) or "tiered_pricing" in row:
        return None
    return {
        name: value * factor if "cost" in name and isinstance(value, int | float) else value
        for name, value in row.items()
    }
