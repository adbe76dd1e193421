"""Opens the model that a spec names."""

import importlib
from collections.abc import Iterable
from typing import Literal

from gnomon.core.model import OWN_MODEL, Model, UncalledModel, is_scripted, provider_in
from gnomon.media import MediaStore
from gnomon.price_table import needs_responses_api
from gnomon.spec.model_providers import plugged_provider
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.anthropic_rules import OPTIONS
from gnomon_agents.models.scripted import ScriptedModel

REFERENCE, REFERENCE_MODULE = "reference", "gnomon_agents.models.reference.model"
Client = Literal["reference", "scripted", "plugin", "openai", "anthropic", "responses", "litellm"]

# Each is imported when a model needs it, as one that calls nobody needs no HTTP client.
_CLASSES: dict[Client, tuple[str, str]] = {
    "openai": ("gnomon_agents.models.openai_model", "OpenAIModel"),
    "anthropic": ("gnomon_agents.models.anthropic_model", "AnthropicModel"),
    "responses": ("gnomon_agents.models.responses_model", "ResponsesModel"),
    "litellm": ("gnomon_agents.models.litellm_model", "LiteLLMModel"),
}


def client_of(spec: ModelSpec) -> Client:
    """Who carries a model's calls: `reference`, `scripted` with any suffix, a plug-in of others, a client
    of ours where one speaks the provider's protocol, else LiteLLM.

    >>> [client_of(ModelSpec(id=name)) for name in ("anthropic/claude-opus-4-8", "claude-opus-4-8", "gpt-4o")]
    ['anthropic', 'anthropic', 'litellm']
    >>> client_of(ModelSpec(id="openai/o3-pro")), client_of(ModelSpec(id="openai/o3-pro", options={"n": 1}))
    ('responses', 'litellm')
    """
    if spec.id == REFERENCE:
        return "reference"
    if is_scripted(spec.id):
        return "scripted"
    if plugged_provider(spec.id) is not None:
        return "plugin"
    if spec.api == "responses":
        return "responses"
    if spec.client == "litellm":
        return "litellm"
    if spec.client == "auto" and _needs_responses_api(spec):
        return "responses"
    is_anthropics = provider_in(spec.id) == "anthropic"
    if is_anthropics and (spec.client == "direct" or spec.options.keys() <= OPTIONS):
        return "anthropic"
    from gnomon_agents.models.openai_model import is_direct

    return "openai" if is_direct(spec) else "litellm"


def _needs_responses_api(spec: ModelSpec) -> bool:
    """Whether LiteLLM would turn the calls into those of the Responses API, and lose reasoning there."""
    if not needs_responses_api(spec.id):
        return False
    from gnomon_agents.models.responses_request import OPTIONS as TAKEN

    return spec.options.keys() <= TAKEN


def open_model(spec: ModelSpec, media: MediaStore) -> Model:
    """The model that a spec names: `reference`, `scripted` with any suffix, a plug-in's, one that is called
    directly, else LiteLLM's.

    Raises:
        SpecError: its options are not what the model takes; the message names the option.
    """
    if spec.id == OWN_MODEL:
        return UncalledModel(spec.id)
    client = client_of(spec)
    if client == "reference":
        reference: Model = importlib.import_module(REFERENCE_MODULE).ReferenceModel(spec, media=media)
        return reference
    if client == "scripted":
        return ScriptedModel(spec)
    plugged = plugged_provider(spec.id)
    if plugged is not None:
        return plugged.open(spec, media)
    module, name = _CLASSES[client]
    model: Model = getattr(importlib.import_module(module), name)(spec, media)
    return model


def preload(models: Iterable[ModelSpec]) -> None:
    """Import what these models need; workers do so before they fork."""
    clients = {client_of(spec) for spec in models}
    if "reference" in clients:
        tuple(importlib.import_module(REFERENCE_MODULE).SOLVERS)  # which imports them
    for client in clients & _CLASSES.keys():
        importlib.import_module(_CLASSES[client][0])
    if "litellm" in clients:
        importlib.import_module("gnomon_agents.models.litellm_model").load()
