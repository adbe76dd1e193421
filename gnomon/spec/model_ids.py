"""Tells whether LiteLLM knows the provider of a model id, from its files without importing it.

The import takes two seconds and 170 MB. The rules are those of its `get_llm_provider`: a known provider
before the first slash; else a name that its tables know; else an address that it knows.
"""

import difflib
import functools
import importlib.util
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gnomon.core.errors import SpecError
from gnomon.core.model import is_built_in
from gnomon.price_table import FILE
from gnomon_tools.core.registry import IF_YOURS

SUGGESTED, NEAR = 2, 0.75
# Beside its lists: what `get_llm_provider` takes by form.
_BY_FORM = re.compile(r"ft:gpt-|gpt-image|amazon_nova|[^:]+:[0-9a-f]{64}$")


def check_model_id(model_id: str, api_base: str | None, *, field: str) -> None:
    """Refuse an id that names no provider.

    Raises:
        SpecError: names the field, the form of an id, and near ones where there are any.

    >>> check_model_id("openai/gpt-4o", None, field="models.0.id")
    """
    if is_built_in(model_id) or _is_known(model_id, api_base):
        return
    near = _near(model_id, api_base)
    suggestion = (
        f"; did you mean {' or '.join(near)}?" if near else f"; {IF_YOURS}" if "/" in model_id else ""
    )
    allowed = "allowed: PROVIDER/MODEL as LiteLLM knows them, reference or scripted"
    raise SpecError(f"{model_id!r} names no provider; {allowed}{suggestion}", field=field)


@functools.lru_cache(maxsize=1024)
def _is_known(model_id: str, api_base: str | None) -> bool:
    provider, slash, name = model_id.partition("/")
    if not providers():
        return True  # LiteLLM's files are not where they were: the preflight will find out
    if slash and provider in providers():
        return bool(name)
    if api_base is not None and urlsplit(api_base).hostname in _hosts():
        return True
    return bool(
        _BY_FORM.match(model_id) or model_id in _table() or any(rule.search(model_id) for rule in _routes())
    )


@functools.cache
def providers() -> frozenset[str]:
    """The names that may come before the slash."""
    body = re.search(r"^class LlmProviders\(.*?(?=^\S)", _shipped("types/utils.py"), re.MULTILINE | re.DOTALL)
    named = re.findall(r'^    [A-Z0-9_]+ = "([^"]+)"', body[0], re.MULTILINE) if body else []
    more = json.loads(_shipped("llms/openai_like/providers.json") or "{}")
    return frozenset([*named, *more])


@functools.cache
def _hosts() -> frozenset[str]:
    """Addresses of which LiteLLM knows the provider, by host."""
    listed = re.search(
        r"^openai_compatible_endpoints\b.*?= \[(.*?)^\]", _shipped("constants.py"), re.MULTILINE | re.DOTALL
    )
    ends = re.findall(r'"([^"]+)"', listed[1]) if listed else []
    hosts = (urlsplit(end if "://" in end else f"//{end}").hostname for end in ends)
    return frozenset(filter(None, hosts))


@functools.cache
def _table() -> dict[str, Any]:
    """LiteLLM's table of models: some 4,000 entries."""
    table: dict[str, Any] = json.loads(_shipped(FILE) or "{}")
    return table


def _routes() -> tuple[re.Pattern[str], ...]:
    """Forms of names that newer models of a known provider will have."""
    rules = _table().get("fallback_generalizations", {}).get("rules", [])
    return tuple(
        re.compile(rule["pattern"], re.IGNORECASE)
        for rule in rules
        if "litellm_provider" in rule.get("model_info", {})
    )


def _near(model_id: str, api_base: str | None) -> list[str]:
    """Ids that may have been meant."""
    provider, slash, name = model_id.partition("/")
    if api_base is not None:
        return [f"openai/{model_id}"]
    if slash:
        close = difflib.get_close_matches(provider, sorted(providers()), n=1, cutoff=NEAR)
        return [f"{provider_name}/{name}" for provider_name in close if name]
    named = {
        key: f"{entry['litellm_provider']}/{key}"
        for key, entry in _table().items()
        if "/" not in key and entry.get("mode") == "chat" and entry.get("litellm_provider") in providers()
    }
    return [named[key] for key in difflib.get_close_matches(model_id, named, n=SUGGESTED, cutoff=NEAR)]


def _shipped(name: str) -> str:
    """A file of the installed LiteLLM; empty where it is absent."""
    package = importlib.util.find_spec("litellm")
    if package is None or package.origin is None:
        return ""
    file = Path(package.origin).parent / name
    return file.read_text(encoding="utf-8") if file.is_file() else ""
