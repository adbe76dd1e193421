"""Finds where variables of the environment send a job's calls: other addresses of providers, and proxies.

No file is read for them: LiteLLM is loaded so that it reads none either.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from typing_extensions import TypedDict

from gnomon.core.model import is_built_in, provider_in
from gnomon.spec.model_providers import plugged_provider
from gnomon.spec.model_spec import ModelSpec

MODE_VARIABLE, MODE = "LITELLM_MODE", "PRODUCTION"  # with which LiteLLM reads no file of variables
# Of providers whose variable is called otherwise than `PROVIDER_API_BASE`; the first that is set counts.
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "text-completion-openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "anthropic": ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
    "azure_text": ("AZURE_API_BASE",),
    "bedrock": ("AWS_BEDROCK_RUNTIME_ENDPOINT",),
    "bedrock_converse": ("AWS_BEDROCK_RUNTIME_ENDPOINT",),
    "cohere_chat": ("COHERE_API_BASE",),
    "fireworks_ai": ("FIREWORKS_API_BASE",),
    "huggingface": ("HF_API_BASE", "HUGGINGFACE_API_BASE"),
    "ollama_chat": ("OLLAMA_API_BASE",),
    "vertex_ai": ("VERTEXAI_API_BASE", "VERTEX_API_BASE"),
    "watsonx": ("WATSONX_API_BASE", "WATSONX_URL", "WX_URL", "WML_URL"),
}
# Which hosts are called without a proxy, and whose certificates are trusted.
_OF_ALL: Mapping[str, Literal["setting", "proxy"]] = {
    **dict.fromkeys(("no_proxy", "NO_PROXY"), "proxy"),
    **dict.fromkeys(("SSL_CERT_FILE", "SSL_CERT_DIR"), "setting"),
}
# Rows do not name them: a reply is the same, whichever certificates are trusted.
_CERTIFICATES = ("SSL_", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
# What LiteLLM reads besides: of all providers, and of those whose variables do not begin with their name.
_OF_LITELLM = (
    *_CERTIFICATES,
    *("LITELLM_", "AIOHTTP_", "DISABLE_AIOHTTP_"),
    *("REQUEST_TIMEOUT", "DEFAULT_MAX_", "DEFAULT_REASONING_EFFORT_"),
)
_FAMILIES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("bedrock", "bedrock_converse", "bedrock_mantle", "sagemaker"), ("AWS_", "BEDROCK_")),
    **dict.fromkeys(("vertex_ai", "vertex_ai_beta"), ("GOOGLE_", "VERTEX")),
    "gemini": ("GEMINI_", "GOOGLE_"),
    "anthropic": ("ANTHROPIC_",),
    "azure_ai": ("AZURE_",),
    "azure_text": ("AZURE_",),
    "watsonx": ("WATSONX_", "WX_", "WML_"),
}
_OURS = {MODE_VARIABLE: MODE, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # as Gnomon itself sets them
_ALL_BY_PROXY = "USE_LITELLM_PROXY"  # LiteLLM then calls its own proxy for every provider


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentAddress:
    """Where a variable sends calls of these models; `host` has no user, no password and no path."""

    variable: str
    host: str
    kind: Literal["address", "proxy"]
    models: tuple[str, ...]  # their labels

    def sentence(self) -> str:
        """What a user is told.

        >>> EnvironmentAddress(variable="OPENAI_API_BASE", host="h", kind="address", models=("m",)).sentence()
        'm: called at h, as OPENAI_API_BASE of the environment says'
        """
        way = "called at" if self.kind == "address" else "called through the proxy"
        return f"{', '.join(self.models)}: {way} {self.host}, as {self.variable} of the environment says"


def addresses_from_environment(
    models: Iterable[ModelSpec], environ: Mapping[str, str] = os.environ
) -> list[EnvironmentAddress]:
    """Where variables send the calls of models that name no address of their own, and through which proxy."""
    by_place: dict[tuple[Literal["address", "proxy"], str, str], list[str]] = {}
    for model in models:
        if _is_ours(model):
            continue
        variable = address_variable(model, environ)
        if variable is not None:
            by_place.setdefault(("address", variable, _host(environ[variable])), []).append(model.label)
        url = model.api_base or (environ[variable] if variable else "https://")
        proxy = proxy_variable(url, environ)
        if proxy is not None:
            by_place.setdefault(("proxy", proxy, _host(environ[proxy])), []).append(model.label)
    return [
        EnvironmentAddress(kind=kind, variable=variable, host=host, models=tuple(labels))
        for (kind, variable, host), labels in by_place.items()
    ]


class Variable(TypedDict):
    """A variable that is set, never its value: what it decides, and the models that it concerns."""

    name: str
    holds: Literal["key", "address", "proxy", "setting"]
    models: list[str]


def variables_in_use(
    models: Iterable[ModelSpec],
    environ: Mapping[str, str] = os.environ,
    *,
    by_litellm: Collection[str] = (),
) -> list[Variable]:
    """The variables that are set and decide where these models are called, with which key and how, by name.
    LiteLLM calls those whose labels are `by_litellm`.

    >>> here = {"OPENAI_API_BASE": "http://elsewhere.example", "OPENAI_API_KEY": "sk", "HOME": "/"}
    >>> [(entry["name"], entry["holds"]) for entry in variables_in_use([ModelSpec(id="openai/gpt-4o")], here)]
    [('OPENAI_API_BASE', 'address'), ('OPENAI_API_KEY', 'key')]
    """
    called = [model for model in models if not _is_ours(model)]
    variables = [
        Variable(name=where.variable, holds=where.kind, models=list(where.models))
        for where in addresses_from_environment(called, environ)
    ]
    by_key: dict[str, list[str]] = {}
    for model in called:
        name = model.api_key_env or _usual_key(model)
        if name and environ.get(name):
            by_key.setdefault(name, []).append(model.label)
    variables += [Variable(name=name, holds="key", models=labels) for name, labels in by_key.items()]
    labels = [model.label for model in called]
    by_setting = {name: labels for name in _OF_ALL if called and environ.get(name)}
    for model in called:
        for name in _settings(model, environ) if model.label in by_litellm else ():
            by_setting.setdefault(name, []).append(model.label)
    named = {variable["name"] for variable in variables}
    variables += [
        Variable(name=name, holds=_OF_ALL.get(name, "setting"), models=list(dict.fromkeys(labels)))
        for name, labels in by_setting.items()
        if name not in named
    ]
    return sorted(variables, key=lambda variable: variable["name"])


def notes_on_environment(models: Iterable[ModelSpec], environ: Mapping[str, str] = os.environ) -> list[str]:
    """What a user is told of the environment before calls are made: addresses, proxies, files that LiteLLM
    reads because the user says so.
    """
    notes = [where.sentence() for where in addresses_from_environment(models, environ)]
    mode = environ.get(MODE_VARIABLE, MODE)
    if mode == "DEV":
        notes.append(
            f"{MODE_VARIABLE} is {mode}: LiteLLM reads variables from a file .env, if one is near it"
        )
    return notes


def address_variable(model: ModelSpec, environ: Mapping[str, str] = os.environ) -> str | None:
    """The variable that names the address of a model without an `api_base`; None where none is set.

    >>> address_variable(ModelSpec(id="groq/llama"), {"GROQ_API_BASE": "https://h"})
    'GROQ_API_BASE'
    >>> address_variable(ModelSpec(id="gpt-4o"), {"OPENAI_BASE_URL": "https://h", "OPENAI_API_BASE": ""})
    'OPENAI_BASE_URL'
    """
    if model.api_base is not None or _is_ours(model):
        return None
    provider = _provider(model)
    usual = (f"{provider.upper().replace('-', '_')}_API_BASE",)
    names = VARIABLES.get(provider, usual)
    if environ.get(_ALL_BY_PROXY, "").lower() == "true":
        names = ("LITELLM_PROXY_API_BASE", *names)
    return next((name for name in names if environ.get(name)), None)


def _provider(model: ModelSpec) -> str:
    """The provider that LiteLLM takes an id to name; a bare name is OpenAI's or Anthropic's."""
    return provider_in(model.id) if "/" in model.id or model.id.startswith("claude-") else "openai"


def _is_ours(model: ModelSpec) -> bool:
    """Whether no provider is called, or a plug-in calls it, whose variables nobody here knows."""
    return is_built_in(model.id) or plugged_provider(model.id) is not None


def from_environment(
    model: ModelSpec, environ: Mapping[str, str] = os.environ, *, by_litellm: bool = False
) -> tuple[str, ...]:
    """In words, what variables that the spec does not name decide of a model's calls, as rows keep it: the
    address, the proxy, the key, and settings of LiteLLM. Never a value, but the hosts of addresses.

    >>> here = {"GROQ_API_BASE": "https://h/v1", "HTTPS_PROXY": "http://me:pw@p:1", "GROQ_API_KEY": "sk"}
    >>> from_environment(ModelSpec(id="groq/llama"), here)
    ('sent to h by GROQ_API_BASE', 'through the proxy p by HTTPS_PROXY', 'key of GROQ_API_KEY')
    >>> from_environment(ModelSpec(id="azure/m"), {"AZURE_API_VERSION": "2"}, by_litellm=True)
    ('set by AZURE_API_VERSION',)
    """
    ways = {"address": "sent to", "proxy": "through the proxy"}
    addresses = addresses_from_environment([model], environ)
    notes = [f"{ways[where.kind]} {where.host} by {where.variable}" for where in addresses]
    key = None if model.api_key_env or _is_ours(model) else _usual_key(model)
    if key and environ.get(key):
        notes.append(f"key of {key}")
    named = {*(where.variable for where in addresses), key, model.api_key_env}
    settings = _settings(model, environ) if by_litellm else ()
    others = (name for name in settings if name not in named and not name.startswith(_CERTIFICATES))
    return (*notes, *(f"set by {name}" for name in others))


def proxy_variable(url: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """The variable of the proxy through which an address is called; None where it is called directly.

    >>> proxy_variable("https://a.example/v1", {"HTTPS_PROXY": "p", "NO_PROXY": "b.example"})
    'HTTPS_PROXY'
    """
    host, scheme = _host(url), url.partition(":")[0].lower()
    direct = (environ.get("no_proxy") or environ.get("NO_PROXY") or "").split(",")
    if any(_is_within(host, entry.strip().lstrip(".")) for entry in direct):
        return None
    names = (f"{scheme}_proxy", "all_proxy")
    return next((name for each in names for name in (each, each.upper()) if environ.get(name)), None)


def _usual_key(model: ModelSpec) -> str | None:
    """The variable that holds the provider's key, as it is usually called; a custom address has none."""
    return None if model.api_base else f"{_provider(model).upper().replace('-', '_')}_API_KEY"


def _settings(model: ModelSpec, environ: Mapping[str, str]) -> list[str]:
    """What is set of all that LiteLLM may read for a call of the model."""
    provider = _provider(model)
    beginnings = (*_OF_LITELLM, *_FAMILIES.get(provider, (f"{provider.upper().replace('-', '_')}_",)))
    return sorted(
        name
        for name, value in environ.items()
        if name.startswith(beginnings) and value and _OURS.get(name) != value
    )


def _is_within(host: str, domain: str) -> bool:
    """Whether an entry of `no_proxy` names the host or a domain above it; `*` names all.

    >>> _is_within("api.example.org", "example.org"), _is_within("example.org", ""), _is_within("h", "*")
    (True, False, True)
    """
    return domain == "*" or (bool(domain) and f".{host}".endswith(f".{domain.partition(':')[0]}"))


def _host(url: str) -> str:
    """The host of an address, without user, port and path; what is no address has none to show.

    >>> _host("https://me:pw@h.example:8443/v1"), _host("h.example:8080"), _host("http://[")
    ('h.example', 'h.example', 'no address')
    """
    try:
        return urlsplit(url if "://" in url else f"//{url}").hostname or "no address"
    except ValueError:
        return "no address"
