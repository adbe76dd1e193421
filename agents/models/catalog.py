"""Catalogue: from a model's spec to the model."""

import importlib
from collections.abc import Iterable

from agents.models import litellm_model
from agents.models.litellm_model import LiteLLMModel
from agents.models.reference.model import ReferenceModel
from agents.models.scripted import ScriptedModel
from gnomon.media import MediaStore
from gnomon.model import Model
from gnomon.spec import ModelSpec

BUILT_IN = ("reference", "scripted")


def open_model(spec: ModelSpec, media: MediaStore) -> Model:
    """The model that a spec names: `reference`, `scripted` (or `scripted-…`), else LiteLLM's.

    Raises:
        SpecError: its options are not what the model takes; the message names the option.
    """
    kind = _built_in(spec.id)
    if kind == "scripted":
        return ScriptedModel(spec)
    if kind == "reference":
        return ReferenceModel(spec)
    return LiteLLMModel(spec, media)


def preload(model_ids: Iterable[str]) -> None:
    """Import what these models and the agents need; workers do so before they fork."""
    importlib.import_module("langgraph.graph")
    if any(_built_in(model_id) is None for model_id in model_ids):
        litellm_model.load()


def _built_in(model_id: str) -> str | None:
    """Which of the built-in models an id names.

    >>> _built_in("scripted-b"), _built_in("openai/gpt-4o")
    ('scripted', None)
    """
    return next((name for name in BUILT_IN if model_id == name or model_id.startswith(f"{name}-")), None)
