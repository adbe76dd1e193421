"""Replies are read as Python's own JSON decoder reads them, and what is written compactly reads back."""

import json
import math

from hypothesis import example, given
from hypothesis import strategies as st

from gnomon.core.compact_json import compact_json
from gnomon.core.redaction import Redactor
from gnomon_agents.models.http_client import parsed

NUMBERS = st.integers() | st.floats() | st.integers(min_value=2**63 - 2, max_value=2**64 + 2)
TEXTS = st.text(st.characters(exclude_categories=()))  # lone surrogates too
DATA = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def _finite(text: str) -> float | None:
    return number if math.isfinite(number := float(text)) else None


def read_by_python(body: bytes) -> object:
    try:
        text = body.decode(json.detect_encoding(body), "surrogatepass")
        return json.loads(text, parse_constant=lambda _: None, parse_float=_finite)
    except (ValueError, RecursionError):
        return None


def typed(value: object) -> str:
    """1, 1.0 and True are equal, and are told apart here; so are 0.0 and -0.0."""
    return repr(value)


@given(DATA, st.booleans())
def test_a_body_is_read_as_python_reads_it(value: object, in_ascii: bool) -> None:
    body = json.dumps(value, ensure_ascii=in_ascii).encode(errors="surrogatepass")
    assert typed(parsed(body)) == typed(read_by_python(body))


@given(st.binary(max_size=40) | st.text('0123456789.eE+-[]{}:,"\\ud8 aN', max_size=40).map(str.encode))
@example(b"")
@example(b"-0")
@example(b"1e999")
@example(b"\xef\xbb\xbf1")
@example(b"1\x00")
@example(b'{"a":1,"b":2,"a":3}')
@example(b'"\\ud800"')
@example(b"-9223372036854775809")
@example(b"18446744073709551616")
@example(b"[" * 2_000 + b"]" * 2_000)
def test_any_bytes_are_read_as_python_reads_them(body: bytes) -> None:
    assert typed(parsed(body)) == typed(read_by_python(body))


def with_null(value: object) -> object:
    """The data as it is read back: what is not finite is null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [with_null(inner) for inner in value]
    if isinstance(value, dict):
        return {name: with_null(inner) for name, inner in value.items()}
    return value


@given(DATA)
def test_what_is_written_compactly_reads_back(value: object) -> None:
    assert typed(json.loads(compact_json(value))) == typed(with_null(value))


def test_a_secret_is_found_however_the_json_around_it_is_written() -> None:
    secret = 'pâss"wörd-7f3e\\x'
    redactor = Redactor([secret], environ={})
    inner = (json.dumps({"key": secret}), json.dumps({"key": secret}, ensure_ascii=False))
    for written in (secret, *inner):
        for text in (compact_json({"said": written}), json.dumps({"said": written})):
            assert json.loads(redactor.redact(text))["said"].count("[secret]") == 1
