"""Where models may be called, and which keys may go there."""

from pathlib import Path

import pytest

from gnomon.core.errors import SpecError
from gnomon.core.model import is_built_in
from gnomon.media import MediaStore
from gnomon.spec.endpoints import check_endpoints, is_loopback, parse_allowed
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.catalog import open_model
from gnomon_agents.models.litellm_model import LiteLLMModel

ALLOWED = parse_allowed(
    "https://llm.example.org/v1=TEAM_KEY,SPARE_KEY; http://10.0.0.7:8000; openai=OPENAI_API_KEY"
)


def check(*, is_trusted: bool, **model: object) -> str:
    """Field of the refusal, empty where there is none."""
    try:
        check_endpoints({"models.0": ModelSpec.model_validate(model)}, ALLOWED, is_trusted=is_trusted)
    except SpecError as error:
        return error.field
    return ""


@pytest.mark.parametrize(
    ("model", "field"),
    [
        ({"id": "reference"}, ""),
        ({"id": "scripted/one"}, ""),
        ({"id": "openai/gpt", "api_key_env": "OPENAI_API_KEY"}, ""),
        ({"id": "openai/gpt"}, ""),
        ({"id": "openai/gpt", "api_key_env": "AWS_SECRET_ACCESS_KEY"}, "models.0.api_key_env"),
        ({"id": "anthropic/any"}, "models.0.id"),
        ({"id": "gpt-4o"}, "models.0.id"),
        ({"id": "referenced/x"}, "models.0.id"),
        ({"id": "openai/y", "api_base": "https://llm.example.org/v1"}, ""),
        ({"id": "openai/y", "api_base": "https://llm.example.org:443/v1/deep"}, ""),
        ({"id": "openai/y", "api_base": "https://llm.example.org/v1", "api_key_env": "SPARE_KEY"}, ""),
        ({"id": "openai/y", "api_base": "http://10.0.0.7:8000/any/path"}, ""),
        ({"id": "openai/y", "api_base": "http://10.0.0.7:8000", "api_key_env": "T"}, "models.0.api_key_env"),
        ({"id": "openai/y", "api_base": "http://llm.example.org/v1"}, "models.0.api_base"),
        ({"id": "openai/y", "api_base": "https://llm.example.org/v10"}, "models.0.api_base"),
        ({"id": "openai/y", "api_base": "https://llm.example.org/v1/../admin"}, "models.0.api_base"),
        ({"id": "openai/y", "api_base": "https://llm.example.org@evil.example/v1"}, "models.0.api_base"),
        ({"id": "openai/y", "api_base": "https://evil.example\\@llm.example.org/v1"}, "models.0.api_base"),
        ({"id": "openai/y", "api_base": "file:///etc/passwd"}, "models.0.api_base"),
        ({"id": "openai/y", "api_base": "http://[::1"}, "models.0.api_base"),
        ({"id": "openai/y", "api_base": "http://127.0.0.1:9/v1"}, "models.0.api_base"),
        ({"id": "replicate/x/y", "api_base": "http://10.0.0.7:8000"}, "models.0.id"),
        ({"id": "replicate/x/y", "api": "responses", "api_base": "http://10.0.0.7:8000"}, ""),
        ({"id": "gpt-4o", "api_base": "http://10.0.0.7:8000"}, "models.0.id"),
        ({"id": "openai/https://evil.example/v1", "api_key_env": "OPENAI_API_KEY"}, "models.0.id"),
        ({"id": "openai/gpt", "options": {"top_p": 0.5}}, ""),
        ({"id": "openai/gpt", "api": "responses", "options": {"reasoning": {"effort": "low"}}}, ""),
        ({"id": "openai/gpt", "client": "direct"}, ""),
        ({"id": "cohere/command", "client": "direct"}, "models.0.client"),
        ({"id": "cohere/command"}, "models.0.id"),
        ({"id": "openai/gpt", "options": {"aws_region_name": "x"}}, "models.0.options.aws_region_name"),
        ({"id": "openai/gpt", "options": {"base_url": "https://evil.example"}}, "models.0.options.base_url"),
    ],
)  # fmt: skip
def test_over_the_network_only_what_the_operator_listed(model: dict[str, object], field: str) -> None:
    assert check(is_trusted=False, **model) == field


@pytest.mark.parametrize(
    ("model", "field"),
    [
        ({"id": "x/y", "api_base": "http://127.0.0.1:9/v1", "api_key_env": "ANY"}, ""),
        ({"id": "x/y", "api_base": "http://localhost:9/v1", "api_key_env": "ANY"}, ""),
        ({"id": "x/y", "api_base": "http://[::1]:9/v1"}, ""),
        ({"id": "x/y", "api_base": "http://[::ffff:127.0.0.1]:9/v1"}, ""),
        ({"id": "anthropic/any", "api_key_env": "ANY"}, ""),
        ({"id": "claude-any", "client": "direct"}, ""),
        ({"id": "x/y", "api_base": "https://llm.example.org/v1", "api_key_env": "TEAM_KEY"}, ""),
        ({"id": "x/y", "api_base": "https://llm.example.org/v1", "api_key_env": "A"}, "models.0.api_key_env"),
        ({"id": "x/y", "api_base": "http://169.254.169.254/latest"}, "models.0.api_base"),
        ({"id": "x/y", "api_base": "http://localhost.evil.example/v1"}, "models.0.api_base"),
        ({"id": "x/y", "api_base": "http://2130706433/v1"}, "models.0.api_base"),
        ({"id": "x/y", "options": {"api_key": "sk-secret"}}, "models.0.options.api_key"),
        ({"id": "x/y", "options": {"anything": 1}}, ""),
    ],
)  # fmt: skip
def test_a_user_of_this_machine_may_also_call_loopback_with_any_key(
    model: dict[str, object], field: str
) -> None:
    assert check(is_trusted=True, **model) == field


@pytest.mark.parametrize(
    "model_id", ["reference", "reference-b", "referenced/x", "scripted", "scripted-b", "scripted/one", "x/y"]
)
def test_a_model_is_let_pass_as_built_in_only_where_it_is_opened_as_such(
    model_id: str, tmp_path: Path
) -> None:
    spec = ModelSpec(id=model_id, options={"replies": ["A"]} if model_id.startswith("scripted") else {})
    is_foreign = isinstance(open_model(spec, MediaStore(tmp_path)), LiteLLMModel)
    assert is_built_in(model_id) is not is_foreign


def test_a_refusal_never_repeats_a_key() -> None:
    with pytest.raises(SpecError) as caught:
        check_endpoints(
            {"models.0": ModelSpec(id="x/y", options={"api_key": "sk-secret"})}, ALLOWED, is_trusted=True
        )
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["https://", "ftp://x=A", "https://u:p@h=A", "https://h?q=A", "no good", "http://h:99999"]
)
def test_a_bad_list_of_bases_is_refused_at_start(text: str) -> None:
    with pytest.raises(SpecError, match="GNOMON_ALLOWED_API_BASES"):
        parse_allowed(text)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "example.org", "127.0.0.1.nip.io", "::", "10.0.0.1"])
def test_other_hosts_are_not_loopback(host: str) -> None:
    assert not is_loopback(host)
