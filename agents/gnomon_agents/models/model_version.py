"""Reads the version of the model from a reply, if the provider states it."""

from collections.abc import Callable, Mapping
from typing import Any

from gnomon_agents.models.chat_format import sanitize

MAX_CHARS = 200


def version_of(body: Mapping[str, Any], scrub: Callable[[str], str]) -> str:
    """The name of the model in an answer, and the fingerprint of its system; empty where neither is told.

    >>> version_of({"model": "gpt-4o-2024-08-06", "system_fingerprint": "fp_abc"}, str)
    'gpt-4o-2024-08-06 fp_abc'
    >>> version_of({"modelVersion": "gemini-2.5-flash"}, str), version_of({"model": None}, str)
    ('gemini-2.5-flash', '')
    """
    parts = (body.get("modelVersion") or body.get("model"), body.get("system_fingerprint"))
    words = " ".join(part for part in parts if isinstance(part, str))
    return sanitize(scrub(words))[:MAX_CHARS].strip() if words else ""
