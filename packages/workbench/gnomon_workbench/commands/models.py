"""List the models that need no provider and the providers, or show price, context and key of a model."""

import json
import os
from typing import TYPE_CHECKING, Any

import click

from gnomon.core.errors import SpecError
from gnomon_service.cli.completions import complete_model
from gnomon_service.cli.options import json_option

if TYPE_CHECKING:
    from gnomon.spec.model_providers import ModelProvider

BUILT_IN = {
    "reference": "reads the question, calls tools as its solver needs, and answers; offline, free",
    "scripted": "replies as its entry's options say, for tests; any name that begins so; offline, free",
}
ANTHROPIC = ("anthropic", "ANTHROPIC_API_KEY")


@click.command()
@click.argument("name", required=False, shell_complete=complete_model)
@json_option
def models(name: str | None, as_json: bool) -> None:
    """List the built-in models and the providers' keys, or show what is known of the model NAME.

    NAME is a model's id as in a spec, such as openai/gpt-4o. Keys themselves are never shown, only whether
    the variable of one is set.
    """
    from gnomon.spec.model_providers import PROVIDERS as MODEL_PROVIDERS
    from gnomon.spec.pasted_keys import refuse_keys
    from gnomon_service.cli.tables import print_table

    if name is not None:
        try:
            refuse_keys({"id": name})
        except SpecError as error:
            raise SpecError(error.message, field="NAME") from None
        document = _model(name)
        click.echo(json.dumps(document, indent=2) if as_json else _text(document))
        return
    providers = [{"provider": each, **_key(variable)} for each, variable in _providers().items()]
    plugged = [_plugged(provider) for provider in MODEL_PROVIDERS]
    if as_json:
        built_in = [{"id": each, "description": about} for each, about in BUILT_IN.items()]
        document = {"built_in": built_in, "providers": providers, "plugins": plugged}
        click.echo(json.dumps(document, indent=2))
        return
    print_table(("built in", "what it does"), list(BUILT_IN.items()), wraps="what it does")
    click.echo()
    rows = [
        (
            f"{row['provider']}/…",
            row["key_variable"],
            ("set", "green") if row["key_is_set"] else ("not set", "dim"),
        )
        for row in providers
    ]
    print_table(("provider", "its key's variable", "here"), rows)
    if plugged:
        click.echo()
        names = [(f"{row['provider']}/…", row["description"], row["from"]) for row in plugged]
        print_table(("plug-in", "what it does", "from"), names, wraps="what it does")
    click.echo(
        "\nAny other id of LiteLLM works too; with `api_base`, any compatible endpoint (docs/models.md)."
    )


def _plugged(provider: "ModelProvider") -> dict[str, Any]:
    from gnomon.spec.model_providers import PROVIDERS

    return {
        "provider": provider.name,
        "description": provider.description,
        "calls_network": provider.calls_network,
        "from": PROVIDERS.whose(provider.name),
    }


def _providers() -> dict[str, str]:
    """By provider, the variable that usually holds its key."""
    from gnomon.spec.provider_table import PROVIDERS

    keys = {name: provider.key for name, provider in PROVIDERS.items() if provider.key}
    return dict(sorted({**keys, ANTHROPIC[0]: ANTHROPIC[1]}.items()))


def _key(variable: str | None) -> dict[str, Any]:
    return {"key_variable": variable, "key_is_set": bool(variable and os.environ.get(variable))}


def _model(name: str) -> dict[str, Any]:
    from gnomon.core.model import is_built_in, provider_in
    from gnomon.price_table import context_tokens, entry_of, most_output_tokens

    if is_built_in(name):
        about = BUILT_IN["reference" if name == "reference" else "scripted"]
        return {"id": name, "built_in": True, "description": about}
    provider, entry = provider_in(name), entry_of(name)
    rates = entry.rates if entry else None
    return {
        "id": name,
        "built_in": False,
        "provider": provider,
        "usd_per_million_tokens": {
            kind: round(getattr(rates, kind) * 1e6, 6)
            for kind in ("input", "cached_input", "cache_write", "output", "reasoning")
        }
        if rates
        else None,
        "context_tokens": context_tokens(name),
        "most_output_tokens": most_output_tokens(name),
        **_key(_providers().get(provider)),
    }


def _text(document: dict[str, Any]) -> str:
    if document["built_in"]:
        return f"{document['id']}: {document['description']}"
    price, variable = document["usd_per_million_tokens"], document["key_variable"]
    unknown = "unknown; state `price` in the spec to have costs counted"
    price_text = f"${price['input']:g} in, ${price['output']:g} out per million tokens" if price else unknown
    context, most = document["context_tokens"], document["most_output_tokens"]
    state = "set" if document["key_is_set"] else "not set"
    key = f"{variable}, which is {state} here" if variable else "name its variable in `api_key_env`"
    formatter = click.HelpFormatter(width=100)
    formatter.write_text(document["id"])
    formatter.write_dl(
        [
            ("price", price_text),
            ("context", f"{context:,} tokens" if context else "unknown"),
            ("longest reply", f"{most:,} tokens" if most else "unknown"),
            ("key", key),
        ]
    )
    return formatter.getvalue().rstrip("\n")
