import subprocess
import sys

import pytest

from gnomon.core.errors import ProviderFault, SpecError
from gnomon.core.missing import MissingCause
from gnomon.core.model import Request
from gnomon.media import MediaStore
from gnomon.spec.environment import address_variable
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models import litellm_model
from gnomon_agents.models.anthropic_model import AnthropicModel
from gnomon_agents.models.catalog import open_model, preload
from gnomon_agents.models.litellm_model import LiteLLMModel
from gnomon_agents.models.openai_model import OpenAIModel
from gnomon_agents.models.reference.model import ReferenceModel
from gnomon_agents.models.responses_model import ResponsesModel
from gnomon_agents.models.scripted import ScriptedModel


@pytest.mark.parametrize(
    ("model_id", "kind"),
    [
        ("reference", ReferenceModel),
        ("scripted", ScriptedModel),
        ("scripted-slow", ScriptedModel),
        ("reference-b", LiteLLMModel),
        ("openai/reference", LiteLLMModel),
        ("gpt-4o", LiteLLMModel),
        ("claude-opus-4-8", AnthropicModel),
        ("ollama/llama3", LiteLLMModel),
        ("openai/qwen", LiteLLMModel),
        ("anthropic/claude-opus-4-8", AnthropicModel),
    ],
)
def test_an_id_names_its_model(model_id, kind, tmp_path):
    options = {"replies": ["a"]} if kind is ScriptedModel else {}
    model = open_model(ModelSpec(id=model_id, options=options), MediaStore(tmp_path))
    assert isinstance(model, kind)
    assert model.id == model_id


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ({"id": "openai/qwen"}, OpenAIModel),
        ({"id": "openai/qwen", "options": {"top_p": 0.9}}, OpenAIModel),
        ({"id": "openai/qwen", "options": {"drop_params": True}}, LiteLLMModel),
        ({"id": "openai/gpt-4o"}, OpenAIModel),
        ({"id": "openai/o3-mini"}, LiteLLMModel),
        ({"id": "openai/gpt-5.4-nano"}, LiteLLMModel),
        ({"id": "hosted_vllm/qwen"}, OpenAIModel),
        ({"id": "anthropic/claude"}, AnthropicModel),
        ({"id": "anthropic/claude", "options": {"thinking": {"type": "adaptive"}}}, AnthropicModel),
        ({"id": "anthropic/claude", "options": {"reasoning_effort": "low"}}, LiteLLMModel),
        ({"id": "anthropic/claude", "client": "litellm"}, LiteLLMModel),
        ({"id": "openai/o3", "api": "responses"}, ResponsesModel),
        ({"id": "xai/grok-4", "api": "responses", "options": {"search": 1}}, ResponsesModel),
        ({"id": "openai/qwen", "client": "litellm"}, LiteLLMModel),
        ({"id": "openai/o3-mini", "client": "direct"}, OpenAIModel),
        ({"id": "groq/qwen"}, LiteLLMModel),
        ({"id": "groq/qwen", "client": "direct"}, OpenAIModel),
        ({"id": "mistral/magistral", "options": {"drop_params": True}}, LiteLLMModel),
    ],
)
def test_an_address_of_ones_own_takes_the_fast_path_unless_litellm_knows_better(spec, kind, tmp_path):
    spec = ModelSpec(api_base="http://127.0.0.1:1/v1", **spec)
    assert type(open_model(spec, MediaStore(tmp_path))) is kind


@pytest.mark.parametrize("name", ["openrouter", "minimax", "mistral", "moonshot"])
def test_providers_of_whose_turns_litellm_loses_a_part_are_called_directly(name, tmp_path):
    assert isinstance(open_model(ModelSpec(id=f"{name}/m"), MediaStore(tmp_path)), OpenAIModel)


def test_an_empty_variable_names_no_address(monkeypatch):
    monkeypatch.setenv("MISTRAL_API_BASE", "")
    assert address_variable(ModelSpec(id="mistral/m")) is None


async def test_without_a_named_variable_the_providers_usual_one_holds_the_key(tmp_path, monkeypatch):
    monkeypatch.delenv("MOONSHOT_API_KEY", raising=False)
    model = open_model(ModelSpec(id="moonshot/kimi-k2.5"), MediaStore(tmp_path))
    with pytest.raises(ProviderFault, match="MOONSHOT_API_KEY") as caught:
        await model.reply(Request(messages=[{"role": "user", "content": "hi"}], tools=[]))
    assert (caught.value.cause, caught.value.transient) == ("no_api_key", False)
    cause = MissingCause(model="m", cause="provider:no_api_key", trials=1, planned=1, error=str(caught.value))
    assert "MOONSHOT_API_KEY is not set" in cause.sentence()
    assert "Set that variable where the workers run" in cause.sentence()


def test_a_direct_call_needs_an_address(tmp_path):
    with pytest.raises(SpecError, match="api_base") as caught:
        open_model(ModelSpec(id="cohere/command", client="direct"), MediaStore(tmp_path))
    assert caught.value.field == "client"


def test_the_reference_model_takes_no_options(tmp_path):
    with pytest.raises(SpecError, match="no options"):
        open_model(ModelSpec(id="reference", options={"x": 1}), MediaStore(tmp_path))


def _loaded_after(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_listing_agents_and_opening_models_of_our_own_clients_loads_nothing_heavy():
    code = (
        "from pathlib import Path\n"
        "from gnomon_agents.models.catalog import open_model, preload\n"
        "from gnomon.core.agent import AGENTS\n"
        "from gnomon.media import MediaStore\n"
        "from gnomon.spec.job_spec import ModelSpec\n"
        "list(AGENTS)\n"
        "open_model(ModelSpec(id='openai/m'), MediaStore(Path('none')))\n"
        "fast = ModelSpec(id='openai/m', api_base='http://127.0.0.1:1/v1')\n"
        "own = [ModelSpec(id='anthropic/claude'), ModelSpec(id='openai/o3', api='responses')]\n"
        "preload([ModelSpec(id='reference'), ModelSpec(id='scripted-b'), fast, *own])\n"
    )
    assert not {"langgraph", "litellm", "langsmith"} & _loaded_after(code)


def test_preload_loads_litellm_for_models_that_need_it(monkeypatch):
    loaded = []
    monkeypatch.setattr(litellm_model, "load", lambda: loaded.append("litellm"))
    own = ModelSpec(id="openai/m", api_base="http://127.0.0.1:1/v1")
    preload([own])
    assert loaded == []
    preload([own, ModelSpec(id="openai/m")])
    assert loaded == ["litellm"]
