"""Catalogue: from a model's spec to the model."""

import importlib
from collections.abc import Iterable

from agents import _langgraph
from agents.models import litellm_model
from agents.models.litellm_model import LiteLLMModel
from agents.models.openai_model import OpenAIModel, is_fast
from agents.models.scripted import ScriptedModel
from gnomon.media import MediaStore
from gnomon.model import Model, is_built_in
from gnomon.spec import ModelSpec

REFERENCE, REFERENCE_MODULE = "reference", "agents.models.reference.model"  # late: it plans trips, with SciPy


def open_model(spec: ModelSpec, media: MediaStore) -> Model:
    """The model that a spec names: `reference`, `scripted` with any suffix, one at an OpenAI-compatible
    address of one's own, else LiteLLM's.

    Raises:
        SpecError: its options are not what the model takes; the message names the option.
    """
    if spec.id == REFERENCE:
        reference: Model = importlib.import_module(REFERENCE_MODULE).ReferenceModel(spec)
        return reference
    if is_built_in(spec.id):
        return ScriptedModel(spec)
    return OpenAIModel(spec, media) if is_fast(spec) else LiteLLMModel(spec, media)


def preload(models: Iterable[ModelSpec]) -> None:
    """Import what these models and the agents need; workers do so before they fork."""
    models = list(models)
    _langgraph.load()
    if any(spec.id == REFERENCE for spec in models):
        importlib.import_module(REFERENCE_MODULE)
    if not all(is_built_in(spec.id) or is_fast(spec) for spec in models):
        litellm_model.load()
