"""Variables that send calls elsewhere are told, and held to the operator's list; no file adds to them."""

import importlib.util
from pathlib import Path

import pytest

from gnomon.core.errors import SpecError
from gnomon.spec import environment
from gnomon.spec.endpoints import EndpointAllowlist, check_endpoints, parse_allowed
from gnomon.spec.environment import addresses_from_environment, notes_on_environment, variables_in_use
from gnomon.spec.model_spec import ModelSpec

GATEWAY = "https://me:pw@gateway.example:8443/v1"


def told(model: dict[str, str], **environ: str) -> list[tuple[str, str, str]]:
    found = addresses_from_environment([ModelSpec.model_validate(model)], environ)
    return [(where.kind, where.variable, where.host) for where in found]


@pytest.mark.parametrize(
    ("model_id", "variable"),
    [
        ("openai/gpt-4o", "OPENAI_API_BASE"),
        ("gpt-4o", "OPENAI_BASE_URL"),
        ("anthropic/claude-opus-4-8", "ANTHROPIC_BASE_URL"),
        ("claude-opus-4-8", "ANTHROPIC_API_BASE"),
        ("azure/gpt-4o", "AZURE_API_BASE"),
        ("mistral/magistral", "MISTRAL_API_BASE"),
        ("openrouter/a/b", "OPENROUTER_API_BASE"),
        ("vertex_ai/gemini-2.5-pro", "VERTEXAI_API_BASE"),
        ("ollama/qwen", "OLLAMA_API_BASE"),
    ],
)
def test_an_address_of_the_environment_is_told_by_variable_and_host(model_id: str, variable: str) -> None:
    assert told({"id": model_id}, **{variable: GATEWAY}) == [("address", variable, "gateway.example")]
    (note,) = notes_on_environment([ModelSpec(id=model_id)], {variable: GATEWAY})
    assert note == f"{model_id}: called at gateway.example, as {variable} of the environment says"


def test_an_address_of_the_spec_and_a_built_in_model_are_not_sent_elsewhere() -> None:
    environ = {"OPENAI_API_BASE": GATEWAY, "HTTPS_PROXY": "http://proxy.example:3128"}
    assert told({"id": "reference"}, **environ) == []
    assert told({"id": "openai/q", "api_base": "http://127.0.0.1:1/v1"}, **environ) == []


def test_a_proxy_is_told_unless_the_host_is_called_without_it() -> None:
    environ = {"HTTPS_PROXY": "http://me:pw@proxy.example:3128", "NO_PROXY": "near.example"}
    assert told({"id": "groq/llama"}, **environ) == [("proxy", "HTTPS_PROXY", "proxy.example")]
    assert told({"id": "openai/q", "api_base": "https://near.example/v1"}, **environ) == []
    assert told({"id": "groq/llama"}, all_proxy="socks5://p.example") == [("proxy", "all_proxy", "p.example")]


def test_what_is_no_address_is_told_as_such() -> None:
    assert told({"id": "openai/q"}, OPENAI_API_BASE="http://[") == [
        ("address", "OPENAI_API_BASE", "no address")
    ]


def test_who_has_litellm_read_a_file_of_variables_is_told() -> None:
    assert notes_on_environment([], {"LITELLM_MODE": "PRODUCTION"}) == []
    (note,) = notes_on_environment([], {"LITELLM_MODE": "DEV"})
    assert "reads variables from a file .env" in note


@pytest.mark.parametrize(
    ("model_id", "variable"),
    [
        ("openai/gpt-4o", "OPENAI_ORGANIZATION"),
        ("bedrock/claude", "AWS_REGION_NAME"),
        ("vertex_ai/gemini-2.5-pro", "GOOGLE_APPLICATION_CREDENTIALS"),
        ("azure/gpt-4o", "AZURE_API_VERSION"),
        ("groq/llama", "LITELLM_REASONING_AUTO_SUMMARY"),
        ("groq/llama", "DEFAULT_REASONING_EFFORT_HIGH_THINKING_BUDGET"),
        ("groq/llama", "SSL_VERIFY"),
        ("groq/llama", "REQUESTS_CA_BUNDLE"),
    ],
)
def test_what_litellm_reads_is_named_for_its_models_alone(model_id: str, variable: str) -> None:
    environ, models = {variable: "canary", "HOME": "/"}, [ModelSpec(id=model_id)]
    (named,) = variables_in_use(models, environ, by_litellm=[model_id])
    assert named == {"name": variable, "holds": "setting", "models": [model_id]}
    assert variables_in_use(models, environ) == []


def test_certificates_are_named_for_every_model_that_is_called() -> None:
    models = [ModelSpec(id="openai/gpt-4o"), ModelSpec(id="reference")]
    (named,) = variables_in_use(models, {"SSL_CERT_FILE": "/canary"})
    assert named == {"name": "SSL_CERT_FILE", "holds": "setting", "models": ["openai/gpt-4o"]}


@pytest.mark.parametrize(
    ("allowed", "field"),
    [
        ("openai=OPENAI_API_KEY", "models.0.id"),
        ("https://gateway.example:8443/v1", "models.0.api_key_env"),
        ("https://gateway.example:8443/v1=OPENAI_API_KEY", ""),
    ],
)
def test_over_rest_an_address_of_the_environment_must_be_on_the_list(
    allowed: str, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_BASE", "https://gateway.example:8443/v1")
    models = {"models.0": ModelSpec(id="openai/gpt-4o", api_key_env="OPENAI_API_KEY")}

    def check(endpoints: EndpointAllowlist, *, is_trusted: bool) -> str:
        try:
            check_endpoints(models, endpoints, is_trusted=is_trusted)
        except SpecError as error:
            return error.field
        return ""

    assert check(parse_allowed(allowed), is_trusted=False) == field
    assert check(parse_allowed(allowed), is_trusted=True) == ""


def test_litellm_reads_every_variable_of_the_table() -> None:
    found = importlib.util.find_spec("litellm")
    assert found is not None
    assert found.submodule_search_locations is not None
    folder = Path(found.submodule_search_locations[0])
    files = [folder / "main.py", *folder.glob("litellm_core_utils/*.py"), *folder.glob("llms/**/*.py")]
    text = "\n".join(file.read_text() for file in files)
    names = {name for names in environment.VARIABLES.values() for name in names}
    assert [name for name in sorted(names) if f'"{name}"' not in text] == []
