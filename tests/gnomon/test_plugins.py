"""A job pins those plug-ins of others that it uses, and says which of them is absent or changed."""

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.errors import SpecError
from gnomon.core.model import Request
from gnomon.core.tool_inputs import provided_inputs, usable_tools
from gnomon.media import MediaStore
from gnomon.spec.endpoints import NO_ENDPOINTS, check_endpoints, parse_allowed
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_providers import PROVIDERS
from gnomon.spec.model_spec import ModelSpec
from gnomon.spec.pins import absent, check_pins, load_plugin_files, require_benchmark, scored_here
from gnomon.spec.rules import Context, check_spec
from gnomon_agents.models.catalog import client_of, open_model
from gnomon_conformance import checks
from gnomon_tools.core.outside import FILES_ENV
from gnomon_tools.core.toolbox import TOOLS
from gnomon_workbench.new_plugin.write import write_plugin
from gnomon_workers.response_cache import fingerprint

MODELS = '''
"""Two providers of models."""
from gnomon.core.model import Reply

class Parrot:
    def __init__(self, model_id):
        self.id = model_id
    async def reply(self, request):
        return Reply(text={says!r})
    async def close(self):
        pass

class Parrots:
    description = "Says one word."
    def __init__(self, name, calls_network):
        self.name, self.calls_network = name, calls_network
    def open(self, spec, media):
        return Parrot(spec.id)

parrots, far_parrots = Parrots("parrots", False), Parrots("far_parrots", True)
'''
SPEC: dict[str, Any] = {
    "benchmark": "worlds",
    "select": {"limit": 4},
    "models": [{"id": "reference"}],
    "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": ["speed"]}],
}
Load = Callable[..., Path]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Puts a text into a plug-in file, and makes it the only one."""

    def put(text: str) -> Path:
        path = Path(tempfile.mkdtemp(dir=tmp_path)) / "my_plugin.py"
        path.write_text(text)
        monkeypatch.setenv(FILES_ENV, str(path))
        return path

    return put


@pytest.fixture
def scaffold(tmp_path: Path, load: Load) -> Load:
    """A written plug-in's file, loaded; with parts of its text replaced."""

    def put(kind: str, name: str, **changes: str) -> Path:
        os.environ.pop(FILES_ENV, None)
        folder = write_plugin(kind, name, Path(tempfile.mkdtemp(dir=tmp_path))).folder
        text = (folder / f"{name}.py").read_text()
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        return load(text)

    return put


def stored(**change: Any) -> JobSpec:
    return check_spec({**SPEC, **change}, Context(agents=("direct", "react"), is_request=False))


def with_tool(name: str) -> dict[str, Any]:
    return {"arms": [{"name": "tools", "agent": "react", "tools": [name]}]}


def test_a_job_of_ours_alone_pins_nothing_and_its_spec_has_no_word_of_plugins():
    spec = stored()
    assert spec.plugins == {}
    assert "plugins" not in spec.model_dump(mode="json")


def test_a_job_pins_what_it_uses_and_reads_the_same_again(scaffold: Load):
    scaffold("tool", "stride_pin")
    spec = stored(**with_tool("stride_pin"))
    assert list(spec.plugins) == ["tools/stride_pin"]
    pin = spec.plugins["tools/stride_pin"]
    assert (pin.distribution, pin.version, len(pin.contract), len(pin.code)) == ("my_plugin.py", "", 12, 64)
    assert stored(**spec.model_dump(mode="json")) == spec
    check_pins(spec)
    assert stored(arms=[{"name": "raw", "agent": "direct"}]).plugins == {}


def test_a_changed_plugin_is_refused_by_what_differs(scaffold: Load):
    scaffold("tool", "stride_changed")
    spec = stored(**with_tool("stride_changed"))
    scaffold("tool", "stride_changed", **{"SHARE_OFF = 0.1": "SHARE_OFF = 0.2"})
    with pytest.raises(
        SpecError, match=r"is not the one that the job was stored with: code '\w{12}' here"
    ) as error:
        check_pins(spec)
    assert error.value.field == "plugins.tools/stride_changed"
    assert "contract" not in str(error.value)
    scaffold("tool", "stride_changed", **{"how many metres": "about how many metres"})
    with pytest.raises(SpecError, match=r"contract '\w{12}' here, '\w{12}' in the job; code "):
        check_pins(spec)
    with pytest.raises(SpecError, match="is not the one that the job was stored with"):
        stored(**spec.model_dump(mode="json"))


def test_what_is_gone_is_named_with_whose_it_was(scaffold: Load, monkeypatch: pytest.MonkeyPatch):
    scaffold("benchmark", "hours_gone")
    spec = stored(benchmark="hours_gone", arms=[{"name": "raw", "agent": "direct"}])
    assert scored_here(spec) == spec.plugins
    monkeypatch.delenv(FILES_ENV)
    words = "the benchmark 'hours_gone' of the file my_plugin.py is not here; load it with --plugin"
    assert [text[: len(words)] for text in absent(spec)] == [words]
    for refused in (check_pins, lambda spec: require_benchmark(spec, field="JOB")):
        with pytest.raises(SpecError, match="is not here; load it with --plugin or GNOMON_PLUGINS"):
            refused(spec)


def test_a_tool_that_is_gone_leaves_a_stored_job_readable(scaffold: Load, monkeypatch: pytest.MonkeyPatch):
    scaffold("tool", "stride_gone")
    spec = stored(**with_tool("stride_gone"))
    monkeypatch.delenv(FILES_ENV)
    read = JobSpec.model_validate(spec.model_dump(mode="json"))
    assert read.plugins == spec.plugins
    assert TOOLS.find("stride_gone") is None


@pytest.mark.parametrize("kind", ["tool", "benchmark", "agent", "preset"])
def test_a_written_plugin_keeps_what_all_of_its_kind_keep(kind: str, scaffold: Load):
    from gnomon.spec.pins import KINDS

    scaffold(kind, f"written_{kind}")
    load_plugin_files()
    registry = KINDS[f"{kind}s"]
    for check in checks(registry.get(f"written_{kind}")):
        check()
    assert registry.whose(f"written_{kind}") == "file my_plugin.py"


async def test_a_provider_of_a_plugin_opens_models_and_is_pinned(load: Load, tmp_path: Path):
    load(MODELS.format(says="A"))
    spec = stored(models=[{"id": "parrots/grey"}])
    assert list(spec.plugins) == ["models/parrots"]
    assert client_of(spec.models[0]) == "plugin"
    model = open_model(spec.models[0], MediaStore(tmp_path))
    request = Request(messages=[{"role": "user", "content": "?"}], tools=[])
    assert (await model.reply(request)).text == "A"
    before = fingerprint(spec.models[0])
    load(MODELS.format(says="B"))
    assert fingerprint(spec.models[0]) != before


def test_over_http_a_provider_needs_leave_unless_it_calls_no_network(load: Load):
    load(MODELS.format(says="A"))
    near, far = ModelSpec(id="parrots/grey"), ModelSpec(id="far_parrots/grey", api_key_env="FAR_KEY")
    check_endpoints({"models.0": near}, NO_ENDPOINTS, is_trusted=False)
    check_endpoints({"models.0": far}, NO_ENDPOINTS, is_trusted=True)
    check_endpoints({"models.0": far}, parse_allowed("far_parrots=FAR_KEY"), is_trusted=False)
    with pytest.raises(SpecError, match="'far_parrots/grey' is not allowed"):
        check_endpoints({"models.0": far}, NO_ENDPOINTS, is_trusted=False)
    with pytest.raises(SpecError, match="'HOME' may not go there"):
        check_endpoints(
            {"models.0": near.model_copy(update={"api_key_env": "HOME"})}, NO_ENDPOINTS, is_trusted=False
        )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "x = 1\n",
            "defines no plug-in; looked for objects that are one of: tool, benchmark, agent, arm preset",
        ),
        ("x = \n", "my_plugin.py, line 1: SyntaxError: invalid syntax"),
        *(
            (
                MODELS.format(says="A").replace('Parrots("parrots"', f'Parrots("{name}"'),
                "by Gnomon itself or LiteLLM",
            )
            for name in ("openai", "reference", "agent", "scripted-parrots")
        ),
        (
            MODELS.format(says="A").replace('Parrots("parrots"', 'Parrots("a/b"'),
            "the model provider 'a/b' of file",
        ),
    ],
)
def test_a_file_that_is_of_no_use_is_refused_in_one_line(load: Load, text: str, says: str):
    load(text)
    with pytest.raises(SpecError) as error:
        load_plugin_files()
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["my strides!", "", "2nd", "a__b", "x" * 65])
def test_a_file_with_a_name_that_is_not_allowed_is_refused_by_file_name_and_what_is_allowed(
    load: Load, name: str
):
    path = load(MODELS.format(says="A").replace('Parrots("parrots"', f"Parrots({name!r}"))
    with pytest.raises(SpecError) as error:
        load_plugin_files()
    assert str(error.value) == (
        f"the model provider {name!r} of file {path} has a name that is not allowed; allowed: a letter, then "
        "letters, digits, - and _, up to 64 characters, no two _ side by side"
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"arms": [{"name": "a", "agent": "react", "tools": ["stride"]}]}, "no tool 'stride'"),
        ({"arms": [{"name": "a", "agent": "mine"}]}, "no agent 'mine'"),
        ({"benchmark": "my_own"}, "no benchmark 'my_own'"),
        ({"arms": {"preset": "my_own"}}, "no preset 'my_own'"),
        ({"models": [{"id": "parrots/grey"}]}, "'parrots/grey' names no provider"),
    ],
)
def test_a_name_that_is_near_none_is_answered_with_how_ones_own_is_loaded(change: dict[str, Any], says: str):
    here = Context(agents=("direct", "react"), is_request=False, is_trusted=True)
    with pytest.raises(SpecError) as error:
        check_spec({**SPEC, **change}, here)
    assert says in str(error.value)
    assert "one of yours is loaded by --plugin FILE, or installed" in str(error.value)


def test_a_misspelt_name_is_answered_with_the_one_that_was_meant_alone():
    with pytest.raises(SpecError, match="did you mean 'speed'") as error:
        stored(**with_tool("sped"))
    assert "--plugin" not in str(error.value)


def test_the_plugins_of_the_page_load_and_keep_what_all_keep(load: Load):
    page = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"`([\w.]+)`:\n\n```\w+\n(.*?)```", page, re.DOTALL))
    load(files["my_tools.py"])
    for check in checks(TOOLS.get("strides")):
        check()
    load(files["my_conditions.py"] + files["my_models.py"])
    for check in checks(PROVIDERS.get("parrots")):
        check()
    spec = check_spec(
        yaml.safe_load(files["parrots.yaml"]), Context(agents=("direct", "vote"), is_request=False)
    )
    assert list(spec.plugins) == ["conditions/asked_twice", "models/parrots"]


def test_all_tools_are_those_that_fit_and_the_users_own_that_need_nothing(scaffold: Load):
    scaffold("tool", "stride_length")
    worlds = BENCHMARKS.get("worlds")
    assert "stride_length" in usable_tools(worlds)
    assert "pinhole" not in usable_tools(worlds)
    assert provided_inputs(worlds, ("pinhole", "look_closer")) == ("pinhole",)
