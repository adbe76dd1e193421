"""Reads the rates that the operator allows, and names the key that each is about."""

import hashlib
import re
from urllib.parse import urlsplit

from pydantic import ValidationError

from gnomon.core.errors import SpecError
from gnomon.core.model import provider_in
from gnomon.spec.model_spec import ModelSpec, Rate

RATE_LIMITS_ENV = "GNOMON_RATE_LIMITS"
_SHORT = {"rpm": "requests_per_minute", "tpm": "tokens_per_minute", "in_flight": "in_flight"}
_ALLOWED = "provider or host[:port], '=', then rpm:N, tpm:N, in_flight:N parted by commas"


def parse_rates(text: str) -> dict[str, Rate]:
    """Read GNOMON_RATE_LIMITS: entries `where=rpm:500,tpm:200000,in_flight:32`, parted by semicolons.

    `where` is a provider's name (the part of a model id before the slash), for its own address, or the
    host[:port] of an `api_base`.

    >>> parse_rates("openai=rpm:500; 127.0.0.1:8000=in_flight:4")["127.0.0.1:8000"].in_flight
    4

    Raises:
        SpecError: an entry is not of that form.
    """
    rates: dict[str, Rate] = {}
    for entry in (part.strip() for part in text.split(";") if part.strip()):
        where, equals, limits = entry.partition("=")
        numbers = dict(re.findall(r"(\w+):(\w+)", limits))
        tidy = ",".join(f"{name}:{value}" for name, value in numbers.items())
        if (
            not equals
            or not numbers
            or tidy != limits.replace(" ", "")
            or not numbers.keys() <= _SHORT.keys()
        ):
            raise SpecError(f"{entry!r} is no entry; allowed: {_ALLOWED}", field=RATE_LIMITS_ENV)
        try:
            rates[where.strip().lower()] = Rate.model_validate(
                {_SHORT[name]: value for name, value in numbers.items()}
            )
        except ValidationError as error:
            raise SpecError(f"{entry!r}: {error.errors()[0]['msg']}", field=RATE_LIMITS_ENV) from None
    return rates


def endpoint_of(spec: ModelSpec) -> str:
    """Where a model's calls go: the host[:port] of its address, else its provider.

    >>> endpoint_of(ModelSpec(id="openai/m", api_base="http://Localhost:8000/v1"))
    'localhost:8000'
    >>> endpoint_of(ModelSpec(id="a/b"))
    'a'
    """
    return (urlsplit(spec.api_base).netloc if spec.api_base else provider_in(spec.id)).lower()


def bucket_key(spec: ModelSpec, key: str | None) -> str:
    """A provider key's bucket: its endpoint and a hash of the key, whatever its variable is called."""
    secret = hashlib.sha256(f"{endpoint_of(spec)}\n{key or ''}".encode()).hexdigest()
    return f"{endpoint_of(spec)}/{secret[:16]}"
