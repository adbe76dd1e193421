"""Checks at which hosts a model may be called, and which key variables may go there."""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from gnomon.core.errors import SpecError
from gnomon.core.model import is_built_in, provider_in
from gnomon.spec.environment import address_variable
from gnomon.spec.model_providers import plugged_provider
from gnomon.spec.model_spec import ModelSpec
from gnomon.spec.provider_table import PROVIDERS

ALLOWED_API_BASES_ENV = "GNOMON_ALLOWED_API_BASES"
BUILT_IN = ("reference", "scripted")  # models that call no provider
# Options go to the provider as they are, so over REST only those that shape the answer are allowed.
ANSWER_OPTIONS = frozenset(
    {
        *("top_p", "top_k", "min_p", "stop", "seed", "logit_bias", "logprobs", "response_format"),
        *("presence_penalty", "frequency_penalty", "repetition_penalty", "parallel_tool_calls"),
        *("reasoning_effort", "thinking", "verbosity", "max_completion_tokens"),
        *("output_config", "betas", "stop_sequences"),  # of Anthropic's Messages API
        *("reasoning", "text", "max_output_tokens"),  # of the Responses API
        *("replies", "delay_s", "prompt_tokens", "completion_tokens", "usd"),  # of the scripted model
    }
)
# With a provider that makes nothing of `api_base`, a key listed for one address would go to another.
TAKES_BASE = ("hosted_vllm", "anthropic", "azure", "huggingface", *PROVIDERS)
UNBOUNDED = (  # providers whose adapters in LiteLLM use no HTTP client that they are given
    *("aiohttp_openai", "amazon_nova", "anthropic_text", "cloudflare", "cohere", "cohere_chat", "custom"),
    *("maritalk", "oobabooga", "petals", "text-completion-codestral"),
)
ROUTING_OPTIONS = frozenset(
    {
        *("api_key", "api_base", "base_url", "api_version", "azure_ad_token"),
        *("extra_headers", "headers", "organization"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An address that may be called; `path` bounds it, `variables` are the keys that may go there."""

    scheme: str
    host: str
    port: int
    path: str
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointAllowlist:
    """What the operator allows: addresses, and providers at their own address, each with key variables."""

    endpoints: tuple[Endpoint, ...] = ()
    providers: tuple[tuple[str, tuple[str, ...]], ...] = ()


NO_ENDPOINTS = EndpointAllowlist()


def parse_allowed(text: str) -> EndpointAllowlist:
    """Read GNOMON_ALLOWED_API_BASES: entries `where=VAR1,VAR2`, separated by semicolons.

    `where` is `https://host[:port][/path]`, or a provider's name (the part of a model id before the slash)
    for that provider at its own address. No variables: it may be called, but without a key of ours.

    Raises:
        SpecError: an entry is neither.
    """
    bases, providers = [], []
    for entry in (part.strip() for part in text.split(";")):
        if not entry:
            continue
        where, _, names = entry.partition("=")
        variables = tuple(name.strip() for name in names.split(",") if name.strip())
        if "://" in where:
            bases.append(_base(where.strip(), field=ALLOWED_API_BASES_ENV, variables=variables))
        elif where.strip().isidentifier():
            providers.append((where.strip(), variables))
        else:
            raise SpecError(
                f"{entry!r} is no entry; write https://host[:port][/path]=VAR1,VAR2 or provider=VAR1",
                field=ALLOWED_API_BASES_ENV,
            )
    return EndpointAllowlist(endpoints=tuple(bases), providers=tuple(providers))


def _base(url: str, *, field: str, variables: tuple[str, ...] = ()) -> Endpoint:
    allowed = "allowed: http(s)://host[:port][/path] without user, query or fragment"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise SpecError(f"{_without_query(url)!r} is no address; {allowed}", field=field) from None
    plain = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    tidy = url.isascii() and url.isprintable() and not (set(url) & set(" \\%?#")) and "/.." not in parts.path
    if not plain or not tidy:
        raise SpecError(f"{_without_query(url)!r} is not allowed; {allowed}", field=field)
    return Endpoint(
        scheme=parts.scheme,
        host=str(parts.hostname),
        port=port or (443 if parts.scheme == "https" else 80),
        path=parts.path.rstrip("/"),
        variables=variables,
    )


def _without_query(url: str) -> str:
    """An address as messages show it: a user or a query may hold a key.

    >>> _without_query("https://me:pw@host/v1?key=abc")
    'https://…@host/v1?…'
    """
    shown = re.sub(r"(?<=://)[^/]*@", "…@", url)
    return re.sub(r"\?.*", "?…", shown, flags=re.DOTALL)


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine; names are not resolved.

    >>> is_loopback("localhost"), is_loopback("127.9.9.9"), is_loopback("localhost.example.org")
    (True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def check_endpoints(models: Mapping[str, ModelSpec], allowed: EndpointAllowlist, *, is_trusted: bool) -> None:
    """Refuse models that would send calls or keys where the operator has not said they may go; each is named
    by its field of the spec.

    `is_trusted` holds for the command line and for a keyless API on loopback: then loopback hosts and
    providers at their own address are open to any variable.

    Raises:
        SpecError: names the field of the model and what is allowed.
    """
    for field, model in models.items():
        _check_options(model, field, is_trusted=is_trusted)
        if is_built_in(model.id):
            continue
        if _is_offline(model):
            if not is_trusted:
                _check_variable(model.api_key_env, (), f"{field}.api_key_env")
            continue
        if "://" in model.id:  # some providers of LiteLLM would call that, with their key
            raise SpecError(f"{model.id!r} holds an address; it belongs into api_base", field=f"{field}.id")
        if _needs_base(model) and not model.api_base:
            message = f"{model.id!r} has no known address to be called at directly; name its api_base"
            raise SpecError(message, field=f"{field}.client")
        if _is_unbounded(model):
            message = (
                f"{model.id!r} cannot be called: LiteLLM's adapter for it bounds neither redirects nor"
                " replies; allowed: openai/MODEL with the api_base of its OpenAI-compatible service"
            )
            raise SpecError(message, field=f"{field}.id")
        variable = address_variable(model)
        if variable is not None and not is_trusted:  # a user of the command line is told of it
            _check_variables_address(model, variable, allowed, field)
        elif model.api_base is None:
            _check_provider(model, allowed, field, is_trusted=is_trusted)
        else:
            _check_address(model, allowed, field, is_trusted=is_trusted)


def _is_offline(model: ModelSpec) -> bool:
    """Whether a plug-in serves the model that says it calls no network."""
    provider = plugged_provider(model.id)
    return provider is not None and not provider.calls_network and model.api_base is None


def _is_unbounded(model: ModelSpec) -> bool:
    """Whether LiteLLM would call the model, by an adapter with a client of its own."""
    is_litellms = model.client != "direct" and model.api != "responses" and plugged_provider(model.id) is None
    return is_litellms and provider_in(model.id) in UNBOUNDED


def _needs_base(model: ModelSpec) -> bool:
    """Whether a model that shall be called directly needs an `api_base`."""
    is_addressed = model.api == "responses" or provider_in(model.id) in (*PROVIDERS, "anthropic")
    return model.client == "direct" and not is_addressed


def _check_options(model: ModelSpec, field: str, *, is_trusted: bool) -> None:
    plugged = plugged_provider(model.id)
    shaping = ANSWER_OPTIONS | frozenset(getattr(plugged, "options", ()))
    for name in model.options:
        if name in ROUTING_OPTIONS:
            raise SpecError(
                "keys and addresses are no options; use api_key_env and api_base",
                field=f"{field}.options.{name}",
            )
        if not is_trusted and name not in shaping:
            raise SpecError(
                f"not allowed here; allowed: {', '.join(sorted(shaping))}",
                field=f"{field}.options.{name}",
            )


def _check_provider(model: ModelSpec, allowed: EndpointAllowlist, field: str, *, is_trusted: bool) -> None:
    if is_trusted:
        return
    provider, slash, _ = model.id.partition("/")
    providers = dict(allowed.providers)
    if not slash or provider not in providers:
        names = ", ".join([*BUILT_IN, *(f"{name}/…" for name in providers)])
        raise SpecError(
            f"{model.id!r} is not allowed; allowed: {names}, or an api_base of {ALLOWED_API_BASES_ENV}",
            field=f"{field}.id",
        )
    _check_variable(model.api_key_env, providers[provider], f"{field}.api_key_env")


def check_address(
    url: str,
    key: str | None,
    allowed: EndpointAllowlist,
    *,
    is_trusted: bool,
    field: str,
    key_field: str,
) -> None:
    """Refuse an address that may not be called, or a variable whose content may not go there.

    Raises:
        SpecError: names the field and what is allowed.
    """
    base = _base(url, field=field)
    if is_trusted and is_loopback(base.host):
        return
    fitting = [entry for entry in allowed.endpoints if _covers(entry, base)]
    if not fitting:
        listed = ", ".join(f"{b.scheme}://{b.host}:{b.port}{b.path}" for b in allowed.endpoints)
        local = "loopback hosts" if is_trusted else ""
        names = ", ".join(part for part in (local, listed) if part) or "nothing"
        raise SpecError(f"{url!r} is not allowed; allowed: {names} ({ALLOWED_API_BASES_ENV})", field=field)
    _check_variable(key, tuple(name for entry in fitting for name in entry.variables), key_field)


def _check_address(model: ModelSpec, allowed: EndpointAllowlist, field: str, *, is_trusted: bool) -> None:
    url = str(model.api_base)
    _base(url, field=f"{field}.api_base")
    provider, slash, _ = model.id.partition("/")
    takes_base = model.api == "responses" or (slash and provider in TAKES_BASE)
    if not is_trusted and not takes_base:
        raise SpecError(
            f"{model.id!r} takes no api_base here; allowed: {', '.join(f'{name}/…' for name in TAKES_BASE)}",
            field=f"{field}.id",
        )
    check_address(
        url,
        model.api_key_env,
        allowed,
        is_trusted=is_trusted,
        field=f"{field}.api_base",
        key_field=f"{field}.api_key_env",
    )


def _check_variables_address(model: ModelSpec, variable: str, allowed: EndpointAllowlist, field: str) -> None:
    """Hold an address that a variable of the environment names to the same list."""
    key_field = f"{field}.api_key_env"
    try:
        check_address(
            os.environ[variable],
            model.api_key_env,
            allowed,
            is_trusted=False,
            field=f"{field}.id",
            key_field=key_field,
        )
    except SpecError as error:
        if error.field == key_field:
            raise
        message = f"{variable} of the environment sends it to an address that may not be called"
        raise SpecError(f"{message}; allowed: one of {ALLOWED_API_BASES_ENV}", field=error.field) from None


def _check_variable(key: str | None, variables: tuple[str, ...], field: str) -> None:
    if key is not None and key not in variables:
        names = ", ".join(variables) or "none"
        raise SpecError(f"{key!r} may not go there; allowed: {names} ({ALLOWED_API_BASES_ENV})", field=field)


def _covers(entry: Endpoint, base: Endpoint) -> bool:
    same = (entry.scheme, entry.host, entry.port) == (base.scheme, base.host, base.port)
    return same and (base.path == entry.path or base.path.startswith(entry.path + "/"))
