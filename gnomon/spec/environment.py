"""Names the variables of the environment that decide where models are called, and with which key."""

from collections.abc import Iterable, Mapping
from typing import Literal

from typing_extensions import TypedDict

from gnomon.core.model import is_built_in, provider_in
from gnomon.spec.job_spec import ModelSpec

PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"})
ENDS_OF_ADDRESSES = ("_API_BASE", "_BASE_URL", "_API_URL", "_ENDPOINT")
Holds = Literal["key", "address", "proxy", "setting"]


class Variable(TypedDict):
    """A variable that is set, never its value: what it says, and the models that it may concern."""

    name: str
    holds: Holds
    models: list[str]


def variables_in_use(models: Iterable[ModelSpec], environ: Mapping[str, str]) -> list[Variable]:
    """The variables that are set and may decide where these models are called, in order of their names.

    >>> from gnomon.spec.job_spec import ModelSpec
    >>> here = {"OPENAI_API_BASE": "http://elsewhere.example", "OPENAI_API_KEY": "sk", "HOME": "/"}
    >>> [(entry["name"], entry["holds"]) for entry in variables_in_use([ModelSpec(id="openai/gpt-4o")], here)]
    [('OPENAI_API_BASE', 'address'), ('OPENAI_API_KEY', 'key')]
    """
    uses: dict[tuple[str, Holds], list[str]] = {}
    for model in models:
        if is_built_in(model.id):
            continue
        for name in (name for name, value in environ.items() if value):
            if holds := _holds(name, model):
                uses.setdefault((name, holds), []).append(model.label)
    return [Variable(name=name, holds=holds, models=labels) for (name, holds), labels in sorted(uses.items())]


def _holds(name: str, model: ModelSpec) -> Holds | None:
    provider = provider_in(model.id)
    prefix = "OPENAI" if provider.startswith("gpt-") else provider.replace("-", "_").upper()
    if name == model.api_key_env:
        return "key"
    if name.upper() in PROXIES:
        return "proxy"
    if name.startswith("LITELLM_"):
        return "setting"
    if model.api_base is not None or not name.startswith(f"{prefix}_"):
        return None
    if name.endswith(ENDS_OF_ADDRESSES):
        return "address"
    return "key" if name.endswith("_API_KEY") and model.api_key_env is None else None
