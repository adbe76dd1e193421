"""Price table: what LiteLLM's shipped table says of one model, read without importing LiteLLM.

The import takes two seconds and 170 MB; an entry is found in the text of the file in a few milliseconds.
"""

import functools
import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = "model_prices_and_context_window_backup.json"
_PLAIN = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
_COSTS = {
    "input": ("input_cost_per_token", "cache_creation_input_token_cost"),
    "output": ("output_cost_per_token", "output_cost_per_reasoning_token"),
}
_TIERS = ("_batches", "_priority", "_flex")  # of services that nobody can ask for here


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Dollars for a token; `is_plain` unless the model has other prices or parameter rules of its own."""

    prompt_usd: float
    cached_prompt_usd: float
    completion_usd: float
    is_plain: bool

    def usd(self, *, prompt: int, cached: int, completion: int) -> float:
        """What a call costs; `cached` of the prompt's tokens came out of the provider's own cache."""
        cached = min(cached, prompt)
        return (
            (prompt - cached) * self.prompt_usd
            + cached * self.cached_prompt_usd
            + completion * self.completion_usd
        )


@functools.lru_cache(maxsize=64)
def entry_of(name: str) -> Entry | None:
    """The table's entry for an OpenAI model, None if it has none; `name` without the provider.

    >>> entry_of("gpt-4o").usd(prompt=1_000_000, cached=0, completion=0)
    2.5
    >>> entry_of("o3-mini").is_plain, entry_of("no-such-model")
    (False, None)
    """
    text = _text()
    for key in (f"openai/{name}", name):
        found = _object_at(text, key)
        if found is not None and found.get("litellm_provider") == "openai":
            return _entry(found)
    return None


@functools.lru_cache(maxsize=64)
def most_per_token(model_id: str) -> tuple[float, float] | None:
    """The most dollars that the table asks for a token of the prompt and one of the reply, in any tier;
    None where it does not know the model or names no price: zero there says that nobody published one.

    >>> most_per_token("openai/gpt-4o"), most_per_token("openai/no-such-model")
    ((2.5e-06, 1e-05), None)
    """
    provider, slash, name = model_id.partition("/")
    text = _text()
    for key in (model_id, name):
        found = _object_at(text, key) if key else None
        if found is not None and (not slash or key == model_id or found.get("litellm_provider") == provider):
            prompt, reply = (_most(found, kind) for kind in ("input", "output"))
            return (prompt, reply) if prompt > 0 else None
    return None


def _most(found: dict[str, Any], kind: str) -> float:
    costs = [
        float(value or 0.0)
        for name, value in found.items()
        if name.startswith(_COSTS[kind]) and not name.endswith(_TIERS)
    ]
    return max(costs, default=0.0)


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


def _entry(found: dict[str, Any]) -> Entry:
    costs = {name for name in found if "cost" in name and not name.endswith(_TIERS)}
    prompt, completion = (float(found.get(name) or 0.0) for name in _PLAIN[:2])
    return Entry(
        prompt_usd=prompt,
        cached_prompt_usd=float(found.get(_PLAIN[2], prompt)),
        completion_usd=completion,
        is_plain=costs <= set(_PLAIN) and not found.get("supports_reasoning"),
    )
