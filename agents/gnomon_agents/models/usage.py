"""Reads and checks the provider's counts of what a call used, and prices it."""

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypedDict

from gnomon.core.model import UNREADABLE
from gnomon.price_table import Entry, price_entry
from gnomon.spec.model_spec import ModelSpec

MAX_TOKENS = 10**9  # of one call; what claims more is no count
MAX_USD = 1e6


class TokenUsage(NamedTuple):
    """Tokens of one call, None where unknown; cached ones are part of `prompt`, reasoning of `completion`.

    `usd` is what the provider says it charged (OpenRouter). `is_unreadable`: a count was sent that is none.
    `is_charged_elsewhere`: somebody else charges besides, and nobody says how much.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    usd: float | None = None
    is_unreadable: bool = False
    is_charged_elsewhere: bool = False


def token_count(value: object) -> int | None:
    """A count as a provider may send it; None for anything that is none: no number is repaired or guessed.

    >>> [token_count(value) for value in (7, 0, -1, True, 7.5, "7", 10**30, float("nan"), [], None)]
    [7, 0, None, None, None, None, None, None, None, None]
    """
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS
    return value if is_count and isinstance(value, int) else None


def dollars(value: object) -> float | None:
    """Dollars as a provider may send them; None for anything that is none.

    >>> [dollars(value) for value in (0.5, 0, -1, True, "1", float("inf"), 1e300)]
    [0.5, 0.0, None, None, None, None, None]
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= MAX_USD else None


def usage_of(
    *,
    prompt: object,
    completion: object,
    cached: object = None,
    cache_write: object = None,
    reasoning: object = None,
    usd: object = None,
) -> TokenUsage:
    """Counts of any protocol, checked. Without both of the main ones all are unknown: no prompt has zero
    tokens. A part that is more than its whole is unknown.

    >>> usage = usage_of(prompt=10, completion=7, cached=11)
    >>> usage.prompt, usage.cached, usage.is_unreadable
    (10, None, True)
    """
    inputs, outputs, charged = token_count(prompt), token_count(completion), dollars(usd)
    is_unreadable = usd is not None and charged is None
    if not inputs or outputs is None:
        stated = (prompt, completion, cached, cache_write, reasoning)
        is_unreadable |= any(value is not None and token_count(value) is None for value in stated)
        is_unreadable |= bool(inputs or outputs)  # one without the other
        return TokenUsage(usd=charged or None, is_unreadable=is_unreadable)
    parts: list[int | None] = []
    for part, whole in ((cached, inputs), (cache_write, inputs), (reasoning, outputs)):
        count = None if part is None else token_count(part)
        parts.append(count if count is None or count <= whole else None)
        is_unreadable |= part is not None and parts[-1] is None
    return TokenUsage(
        prompt=inputs,
        completion=outputs,
        cached=parts[0],
        cache_write=parts[1],
        reasoning=parts[2],
        usd=charged,
        is_unreadable=is_unreadable,
    )


def chat_usage(usage: object) -> TokenUsage:
    """The `usage` of a chat completion; unknown where it says nothing, or nonsense.

    Reasoning that a provider counts beside the completion (xAI; Gemini, whose total alone holds it) is added
    to it: it is billed as output.

    >>> chat_usage({"prompt_tokens": 11, "completion_tokens": 7}).completion
    7
    >>> chat_usage({"prompt_tokens": 0, "completion_tokens": 0}) == TokenUsage()
    True
    >>> chat_usage({"prompt_tokens": 10**30, "completion_tokens": 7}) == TokenUsage(is_unreadable=True)
    True
    >>> xai = {"reasoning_tokens": 200}
    >>> chat_usage({"prompt_tokens": 9, "completion_tokens": 100, "total_tokens": 309,
    ...             "completion_tokens_details": xai}).completion
    300
    """
    if not isinstance(usage, Mapping):
        return TokenUsage(is_unreadable=usage is not None)
    inputs, outputs = (_part(usage, f"{what}_tokens_details") for what in ("prompt", "completion"))
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    reasoning = outputs.get("reasoning_tokens")
    beside = _beside(prompt, completion, reasoning, usage.get("total_tokens"))
    if beside:
        completion, reasoning = (token_count(completion) or 0) + beside, beside
    usd = cost if isinstance(cost := usage.get("cost"), int | float | str) else None
    is_charged_elsewhere = (
        usage.get("is_byok") is True
    )  # OpenRouter's `cost` is its fee, for a key of one's own
    if is_charged_elsewhere:
        upstream = dollars(_part(usage, "cost_details").get("upstream_inference_cost"))
        fee = dollars(usd)
        is_charged_elsewhere = upstream is None or fee is None
        usd = None if upstream is None or fee is None else fee + upstream
    own = usage_of(
        prompt=prompt,
        completion=completion,
        cached=_first(inputs.get("cached_tokens"), usage, "prompt_cache_hit_tokens", "cached_tokens"),
        cache_write=_first(inputs.get("cache_write_tokens"), inputs, "cache_creation_tokens"),
        reasoning=reasoning,
        usd=usd,
    )
    return own._replace(is_charged_elsewhere=True) if is_charged_elsewhere else own


def _beside(prompt: object, completion: object, reasoning: object, total: object) -> int:
    """Reasoning tokens that the completion's do not hold."""
    inputs, outputs, thought, whole = map(token_count, (prompt, completion, reasoning, total))
    if inputs is None or outputs is None:
        return 0
    if whole is not None and whole > inputs + outputs:
        beside = whole - inputs - outputs
        return beside if thought in (None, 0, beside) else 0
    return thought if whole is None and thought is not None and thought > outputs else 0


def _part(usage: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = usage.get(name)
    return part if isinstance(part, Mapping) else {}


def _first(value: object, more: Mapping[str, Any], *names: str) -> object:
    """The first that is said: DeepSeek and Kimi count cached tokens beside OpenAI's details."""
    for name in names:
        if value is not None:
            break
        value = more.get(name)
    return value


class ReplyCounts(TypedDict):
    """The fields of a reply that its usage fills."""

    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    usd: float | None
    flags: tuple[str, ...]


def counts_of(usage: TokenUsage, price: Callable[[TokenUsage], float | None]) -> ReplyCounts:
    """What a reply says of its usage and price, whatever protocol it came in."""
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "cached_tokens": usage.cached,
        "cache_write_tokens": usage.cache_write,
        "reasoning_tokens": usage.reasoning,
        "usd": price(usage),
        "flags": (UNREADABLE,) if usage.is_unreadable else (),
    }


def pricing(spec: ModelSpec) -> Callable[[TokenUsage], float | None]:
    """The price of each call of a model, in dollars; None where nobody knows it."""
    return functools.partial(price_of_call, entry=price_entry(spec), is_stated=spec.price is not None)


def price_of_call(usage: TokenUsage, entry: Entry | None, *, is_stated: bool) -> float | None:
    """Dollars: by the entry if the spec states it, else as the provider charged, else by the entry, which is
    the table's; None if unknown.
    """
    if not is_stated and (usage.usd is not None or usage.is_charged_elsewhere):
        return usage.usd
    if entry is None or usage.prompt is None or usage.completion is None:
        return None
    usd = entry.usd(
        prompt=usage.prompt,
        cached=usage.cached or 0,
        cache_write=usage.cache_write or 0,
        completion=usage.completion,
        reasoning=usage.reasoning or 0,
    )
    return usd if math.isfinite(usd) else None
