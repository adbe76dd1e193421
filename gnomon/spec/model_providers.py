"""Providers of models that others wrote: named before the slash of a model's id, `PROVIDER/MODEL`."""

from typing import TYPE_CHECKING, Protocol

from gnomon.core.model import BUILT_IN, Model, is_scripted
from gnomon.media import MediaStore
from gnomon.spec.model_ids import providers
from gnomon_tools.core.abilities import ability_faults
from gnomon_tools.core.registry import Registry

if TYPE_CHECKING:
    from gnomon.spec.model_spec import ModelSpec


class ModelProvider(Protocol):
    """Opens the models whose ids begin with its name and a slash.

    A set `options` names those of its models' options that may come over REST as well, beside the usual ones.
    """

    name: str
    description: str
    calls_network: bool  # False: over REST it needs no leave of the operator to be called

    def open(self, spec: "ModelSpec", media: MediaStore) -> Model:
        """The model that an entry of a spec names.

        Raises:
            SpecError: the entry's options are not what the model takes.
        """


def is_model_provider(item: object) -> bool:
    """Whether an object is a provider: it opens models, and says whether it calls a network."""
    return isinstance(getattr(item, "calls_network", None), bool) and callable(getattr(item, "open", None))


def _reserved(name: str) -> str:
    is_taken = is_scripted(name) or name in BUILT_IN or name in providers()
    return "Gnomon itself or LiteLLM" if is_taken else ""


PROVIDERS: Registry[ModelProvider] = Registry(
    "",
    "model provider",
    group="gnomon.models",
    accepts=is_model_provider,
    reserved=_reserved,
    check=lambda item: "; ".join(ability_faults(item, ModelProvider, is_optional=False)),
)


def plugged_provider(model_id: str) -> ModelProvider | None:
    """The provider of another's that an id names; None for all that Gnomon or LiteLLM serve.

    Raises:
        PluginFault: it does not load.

    >>> plugged_provider("openai/gpt-4o"), plugged_provider("reference")
    (None, None)
    """
    name, slash, _ = model_id.partition("/")
    return PROVIDERS.get(name) if slash and name in PROVIDERS else None
