import subprocess
import sys

import pytest

from agents.models.catalog import open_model
from agents.models.litellm_model import LiteLLMModel
from agents.models.reference.model import ReferenceModel
from agents.models.scripted import ScriptedModel
from gnomon.errors import SpecError
from gnomon.media import MediaStore
from gnomon.spec import ModelSpec


@pytest.mark.parametrize(
    ("model_id", "kind"),
    [
        ("reference", ReferenceModel),
        ("scripted", ScriptedModel),
        ("scripted-slow", ScriptedModel),
        ("reference-b", LiteLLMModel),
        ("openai/reference", LiteLLMModel),
        ("gpt-4o", LiteLLMModel),
        ("ollama/llama3", LiteLLMModel),
    ],
)
def test_an_id_names_its_model(model_id, kind, tmp_path):
    options = {"replies": ["a"]} if kind is ScriptedModel else {}
    model = open_model(ModelSpec(id=model_id, options=options), MediaStore(tmp_path))
    assert isinstance(model, kind)
    assert model.id == model_id


def test_the_reference_model_takes_no_options(tmp_path):
    with pytest.raises(SpecError, match="no options"):
        open_model(ModelSpec(id="reference", options={"x": 1}), MediaStore(tmp_path))


def _loaded_after(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_listing_agents_and_opening_models_loads_nothing_heavy():
    code = (
        "from pathlib import Path\n"
        "from agents.models.catalog import open_model\n"
        "from gnomon.agent import AGENTS\n"
        "from gnomon.media import MediaStore\n"
        "from gnomon.spec import ModelSpec\n"
        "list(AGENTS)\n"
        "open_model(ModelSpec(id='openai/m'), MediaStore(Path('none')))\n"
    )
    assert not {"langgraph", "litellm", "langsmith"} & _loaded_after(code)


def test_preload_loads_litellm_only_for_models_that_need_it():
    code = (
        "import sys\n"
        "from agents.models.catalog import preload\n"
        "preload(['reference', 'scripted-b'])\n"
        "assert 'langgraph' in sys.modules\n"
        "assert 'litellm' not in sys.modules\n"
        "preload(['reference', 'openai/m'])\n"
    )
    assert "litellm" in _loaded_after(code)
