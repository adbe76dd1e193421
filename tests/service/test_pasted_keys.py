"""A key that is pasted into any text of a spec is refused, and is nowhere afterwards."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from gnomon.core.errors import SpecError
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.pasted_keys import is_variable, refuse_keys
from gnomon.spec.spec_file import load_yaml
from gnomon.spec.tool_servers import ToolsEntry
from gnomon_service.cli.main import main
from gnomon_tools.servers.server_spec import ToolServer
from tests.service.play import SPEC, OpenApi

LETTERS = "Ab3dE6gHi9KlMn0pQ"
IN_ENVIRONMENT = "qR7x0Lw2ZkT9vBn4MsYc"  # of no known format
KEYS = {
    "OpenAI": f"sk-proj-{LETTERS}_{LETTERS}-x",
    "OpenAI, short": "sk-abcdefgh12345678",
    "Anthropic": f"sk-ant-api03-{LETTERS}-{LETTERS}",
    "OpenRouter": f"sk-or-v1-{'0a1b' * 16}",
    "Google": f"AIzaSy{LETTERS}{LETTERS}"[:39],
    "Groq": f"gsk_{LETTERS}{LETTERS}",
    "Hugging Face": f"hf_{LETTERS}{LETTERS}",
    "xAI": f"xai-{LETTERS}{LETTERS}",
    "GitHub": f"ghp_{LETTERS}{LETTERS}",
    "GitHub, fine-grained": f"github_pat_{LETTERS}_{LETTERS}",
    "AWS": "AKIAIOSFODNN7EXAMPLE",
    "Stripe": f"sk_live_{LETTERS}",
    "Stripe, restricted": f"rk_live_{LETTERS}",
    "Fireworks": f"fw_{LETTERS}",
    "Together": f"tgp_v1_{LETTERS}{LETTERS}",
    "GitLab": f"glpat-{LETTERS}",
    "GitHub, of a server": f"ghs_{LETTERS}{LETTERS}",
    "Databricks": f"dapi{'0a1b' * 8}",
    "Google, OAuth": f"ya29.{LETTERS}{LETTERS}",
    "SendGrid": f"SG.{LETTERS}.{LETTERS}{LETTERS}",
    "Tavily": f"tvly-dev-{LETTERS}{LETTERS}",
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "Bearer": f"Bearer {LETTERS}{LETTERS}",
    "of this environment": IN_ENVIRONMENT,
}
NAME = "the name in a mapping"  # a step of a path: the key stands for a name, not for a value
Place = tuple[str | int, ...]
WAYS = ("/ui/new/check", "/ui/jobs", "plan", "run")  # beside REST, which meets the key of every place


def places(model: type[BaseModel], start: Place = ()) -> list[Place]:
    """Every place of a spec's schema in which a text, or anything, may stand."""
    schema = model.model_json_schema()
    return sorted(set(_places(schema, schema.get("$defs", {}), start, ())), key=str)


def _places(schema: Any, defs: dict[str, Any], path: Place, seen: tuple[str, ...]) -> Iterator[Place]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in seen:
            yield from _places(defs[name], defs, path, (*seen, name))
        return
    for form in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _places(form, defs, path, seen)
    if schema.get("type") == "string" or not schema.keys() & {"type", "anyOf", "oneOf", "enum", "const"}:
        yield path
    for name, inner in schema.get("properties", {}).items():
        yield from _places(inner, defs, (*path, name), seen)
    more = schema.get("additionalProperties")
    if more:
        yield (*path, NAME)
        yield from _places(more if isinstance(more, dict) else {}, defs, (*path, "some"), seen)
    for inner in (schema.get("items"), *schema.get("prefixItems", ())):
        if inner:
            yield from _places(inner, defs, (*path, 0), seen)


def holding(key: str, place: Place) -> Any:
    """A spec that is sound but for the key at that place."""
    spec: Any = copy.deepcopy(SPEC)
    *way, last = place
    holder = spec
    for step, following in zip(way, place[1:], strict=True):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(step, int) and step == len(holder):
            holder.append(empty)
        elif not isinstance(step, int) and not isinstance(holder.get(step), type(empty)):
            holder[step] = empty
        holder = holder[step]
    if last is NAME:
        holder[key] = "a value"
    elif isinstance(last, int):
        holder[last:] = [key]
    else:
        holder[last] = key
    return spec


def field(place: Place) -> str:
    return ".".join(str(step) for step in place if step is not NAME)


PLACES = [
    *places(JobSpec),
    *places(ToolsEntry, ("arms", 1, "tools", 0)),
    *places(ToolServer, ("arms", 1, "tools", 0)),
    *(("models", 0, "options", *way) for way in [("extra_body", "a", 0, "b"), ("extra_headers", "X-Key")]),
    *(("arms", name) for name in ("preset", "model")),
]


@pytest.fixture(autouse=True)
def _key_of_this_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", IN_ENVIRONMENT)


def test_the_places_are_those_of_the_whole_spec() -> None:
    fields = {field(place) for place in PLACES}
    expected = {"name", "models.0.options.some", "judge.api_key_env", "columns.some", "arms.0.agent.http"}
    expected |= {"servers.some.mcp.env.some", "arms.1.tools.0.mcp.command.0", "arms.0.cassette.replay"}
    assert expected <= fields
    assert len(PLACES) > 120


def test_a_key_anywhere_in_a_spec_is_refused_and_is_nowhere_afterwards(
    open_api: OpenApi,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "of commands"))
    api, keys = open_api(), list(KEYS.values())
    for number, place in enumerate(PLACES):
        key = keys[number % len(keys)]
        spec = holding(key, place)
        problem = api.post("/v1/jobs", json=spec)
        assert problem.status_code == 422, (place, problem.text)
        assert problem.json()["field"].startswith(field(place).rpartition(".")[0]), place
        assert "not shown here" in problem.json()["detail"], (place, problem.text)
        said = [problem.text]
        text, way = yaml.safe_dump(spec), WAYS[number % len(WAYS)]
        if way.startswith("/"):
            said.append(api.post(way, data={"yaml": text, "yaml_before": ""}).text)
            assert "This cannot run yet" in said[-1]
        else:
            file = tmp_path / "job.yaml"
            file.write_text(text)
            with pytest.raises(SystemExit) as ended:
                main([way, str(file)])
            assert ended.value.code == 2
            said += capfd.readouterr()
            file.unlink()
        assert not [part for part in said if key.removeprefix("Bearer ") in part], place
    assert api.get("/v1/jobs").json()["items"] == []
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert any(path.name == "gnomon.db" for path in kept)
    for key in keys:
        secret = key.removeprefix("Bearer ")
        assert secret not in caplog.text
        assert not [path for path, content in kept.items() if secret.encode() in content]


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize(
    "holder",
    [{"name": "with {} in it"}, {"models": [{"api_key_env": "{}"}]},
     {"servers": {"a": {"mcp": {"command": ["a", "--key={}"]}}}},
     {"models": [{"options": {"a": [{"b": "{}"}]}}]}, {"arms": [{"agent": {"http": "https://h/?k={}"}}]}],
)  # fmt: skip
def test_every_format_is_seen(key: str, holder: Any) -> None:
    written = json.loads(json.dumps(holder).replace("{}", key))
    with pytest.raises(SpecError) as refused:
        refuse_keys(written)
    assert key not in str(refused.value)


@pytest.mark.parametrize(
    "written",
    [
        {"models": [{"api_base": "https://me:pw@host/v1"}]},
        {"arms": [{"agent": {"http": "https://h/?api_key=a1b2c3d4"}}]},
        {"arms": [{"tools": [{"mcp": {"url": "https://h/mcp?token=a1b2c3d4"}}]}]},
        {"arms": [{"tools": [{"mcp": {"command": ["serve", "--api-key", "a1b2c3d4"]}}]}]},
        {"arms": [{"tools": [{"mcp": {"command": ["env", "MAPS_TOKEN=a1b2c3d4", "serve"]}}]}]},
        {"arms": [{"tools": [{"mcp": {"command": ["serve"], "env": {"MAPS_API_KEY": "a1b2c3d4"}}}]}]},
        {"models": [{"options": {"extra_body": {"auth": {"password": "hunter2hunter2"}}}}]},
        {"models": [{"options": {"extra_headers": {"Authorization": "Basic abc="}}}]},
        {"models": [{"options": {"extra_headers": {"Ocp-Apim-Subscription-Key": "0a1b" * 8}}}]},
        {"models": [{"options": {"extra_headers": {"X-Any": LETTERS + LETTERS}}}]},
        {"arms": [{"tools": [{"mcp": {"command": ["a"], "env": {"GEO_KEY": LETTERS}}}]}]},
        {"arms": [{"tools": [{"mcp": {"command": ["a", "--key", "0a1b" * 8]}}]}]},
        {"arms": [{"agent": {"http": "https://h/f?code=a1b2c3d4e5f6"}}]},
        {"arms": [{"agent": {"http": f"https://{LETTERS}@h/f"}}]},
        {"arms": [{"agent": {"command": ["a"], "env": ["sk-1234"]}}]},
        {"arms": [{"tools": [{"mcp": {"command": ["a"], "env_from": ["not a name"]}}]}]},
        {"judge": {"api_key_env": 12345678}},
    ],
)
def test_a_key_of_no_known_format_is_seen_by_where_it_stands(written: Any) -> None:
    with pytest.raises(SpecError, match="not shown here"):
        refuse_keys(written)


@pytest.mark.parametrize(
    "written",
    [
        {"data_sha256": "0a1b" * 16, "name": "sk-learn and task-12 of hf_transformers, by desk_12345678"},
        {"models": [{"id": "hosted_vllm/Qwen/Qwen3-VL-30B-A3B-Instruct-2507-FP8"}]},
        {"models": [{"id": "openai/sk-hynix-llama-3-8b-instruct", "api_key_env": "OPENAI_API_KEY_2"}]},
        {"models": [{"id": "anthropic/claude-sonnet-4-5-20250929", "api_key_env": "MY_2ND_KEY"}]},
        {"models": [{"options": {"stop": ["<|im_end|>"], "eos_token": "<|endoftext|>", "max_tokens": 512}}]},
        {"arms": [{"tools": [{"mcp": {"command": ["uvx", "mcp-server-time==2026.7.1", "--token-limit", "4k"],
                                      "env": {"MODE": "plain words", "TOKENIZER": "o200k_base2",
                                              "TOKEN_FILE": "/run/secrets/token1", "API_KEY": "none"}}}]}]},
        {"arms": [{"agent": {"command": ["./agent"], "env": ["OPENAI_API_KEY", "LANG"]}}]},
        {"columns": {"answer": "token", "question": "Question_id"}, "scorer": {"number": {"tolerance": 0.1}}},
        {"arms": [{"contract": "d41d8cd98f00b204e9800998ecf8427e", "instructions": "The token: none."}]},
        {"data": "s3-like/ab12cd34ef56ab78cd90/file.jsonl", "select": {"tags": ["pk-2", "risk-averse-2026"]}},
        {"models": [{"api_base": "http://[::1]:8000/v1"}, {"api_base": "https://h.example:8443/v1"}]},
    ],
)  # fmt: skip
def test_what_is_no_key_passes(written: Any) -> None:
    refuse_keys(written)


@pytest.mark.parametrize(
    ("name", "may_be"),
    [("OPENAI_API_KEY", True), ("K", True), ("myCompanyOpenAIKey2", True), ("HF_TOKEN_2026", True),
     ("sk-abc", False), ("sk_live_abcdefgh1234", False), ("", False), ("1KEY", False), ("A KEY", False),
     ("AIzaSyA1234567890abcdefghijklmnopqrstuv", False), ("aB3dE6gH9jK2mN5pQ8sT1vW4", False),
     ("AKIAIOSFODNN7EXAMPLE", False), ("d41d8cd98f00b204e9800998ecf8427e", False),
     ("deadbeef0123456789abcdef01234567", False), ("QwErtYuIopAsDfGhJkLzXcVbnMqWeRtY", False),
     ("aBcdEFghIJkLmnOpQr", False), ("OPENAIAPIKEY2026", True), ("AZURE_OPENAI_KEY_EU1", True)],
)  # fmt: skip
def test_a_name_of_a_variable_is_told_from_a_key(name: str, may_be: bool) -> None:
    assert is_variable(name) == may_be


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "my_key",
        "KEY2",
        "AZURE_OPENAI_KEY_EU1",
        "GH_TOKEN",
        "team_a_key",
        "MY_2ND_KEY",
        "AI21_API_KEY",
        "GPT4O_KEY",
        "myCompanyOpenAIKey2",
        "MyKey",
        "_KEY",
        "S3_KEY",
        "K",
    ],
)
def test_a_usual_name_passes_even_if_it_is_not_set(name: str) -> None:
    assert is_variable(name)
    assert is_variable(name, set_here=())


def test_a_name_of_no_words_passes_where_it_is_set_or_the_environment_is_not_this_one() -> None:
    name, spec = "gw_B92xHcLKnVlz", {"models": [{"id": "openai/m", "api_key_env": "gw_B92xHcLKnVlz"}]}
    refuse_keys(spec)
    refuse_keys(spec, set_here={name})
    with pytest.raises(SpecError, match="is no name of a variable, and is not shown") as refused:
        refuse_keys(spec, set_here={"HOME"})
    assert name not in str(refused.value)


@pytest.mark.parametrize("key", [*KEYS.values(), "sk-p AbCd1234efGh5678"])
@pytest.mark.parametrize(
    "text",
    ["a: 1\nb: {KEY}: 2", "a: [{KEY}", "a: 1\n{KEY}: 2\n{KEY}: 3", "a: !{KEY} b", "a: '{KEY}", "a: *{KEY}",
     "a: %{KEY}", "- a\n{KEY}\nb: c", "a: {KEY}\n\tb: 1", "? [{KEY}]\n: 1", 'a: "{KEY}\\q"'],
)  # fmt: skip
def test_what_is_wrong_with_yaml_is_told_by_place_and_without_the_text(text: str, key: str) -> None:
    with pytest.raises(SpecError) as refused:
        load_yaml(f"x: 1\n{text.replace('{KEY}', key)}")
    said = str(refused.value)
    assert not [part for part in key.split() if part in said and part != "Bearer"]
    assert said.startswith("SPEC: not valid YAML or JSON: ")


def test_the_place_of_what_is_wrong_with_yaml_is_a_line_and_a_column() -> None:
    with pytest.raises(SpecError, match=r"JSON: line 2, column 1: the key 'models' is given twice"):
        load_yaml("models: 1\nmodels: 2")


@pytest.mark.parametrize(
    "text", ["models: [{api_key_env: {KEY}}", "{KEY}: [", "a: 1\na: {KEY}\n{KEY}: 2\n{KEY}: 3\n"]
)
def test_a_spec_that_cannot_be_read_is_not_said_again_with_its_key(
    text: str, open_api: OpenApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    key = KEYS["OpenAI"]
    file = tmp_path / "job.yaml"
    file.write_text(text.replace("{KEY}", key))
    with pytest.raises(SystemExit) as ended:
        main(["plan", str(file)])
    assert ended.value.code == 2
    body = {"yaml": file.read_text(), "yaml_before": "", "models.0.api_key_env": key}
    api = open_api()
    posted = api.post("/v1/jobs", content=file.read_text(), headers={"content-type": "application/yaml"})
    assert posted.status_code == 422
    said = [*capfd.readouterr(), posted.text, api.post("/ui/new/check", data=body).text]
    assert not [part for part in said if key in part]
