"""Files of variables beside or above a job, or above the environment, change nothing."""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon_agents.models.http_client import HttpClient
from gnomon_agents.models.litellm_errors import Scrubber
from tests.agents.conftest import FakeProvider, serving

ROOT = Path(__file__).parents[2]
NOWHERE = "http://127.0.0.1:9"  # nothing answers there: no call leaves the machine
SPEC = {
    "benchmark": "worlds",
    "select": {"limit": 1},
    "models": [{"id": "openai/gpt-4o", "client": "litellm"}],
    "arms": [{"name": "raw", "agent": "direct"}],
    "concurrency": 1,
    "retry": {"max_attempts": 1},
}
RUN = ("run", "job.json", "--workers", "1", "--json")
TRY = ("try", "job.json", "--sample", "w0-00000", "--arm", "raw")


@pytest.fixture
def above(tmp_path: Path) -> Path:
    """A folder above a job and above LiteLLM, as an environment inside of a project lies."""
    found = importlib.util.find_spec("litellm")
    assert found is not None
    assert found.submodule_search_locations is not None
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "litellm").symlink_to(found.submodule_search_locations[0])
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "job.json").write_text(json.dumps(SPEC))
    return tmp_path


def gnomon(above: Path, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    environ = {
        **os.environ,
        "PYTHONPATH": ":".join(filter(None, (str(ROOT), str(above / "lib"), os.environ.get("PYTHONPATH")))),
        "GNOMON_DATA_DIR": str(above / "data"),
        "OPENAI_API_KEY": "canary-4f1d-not-leak",
        "HTTPS_PROXY": NOWHERE,
        **more,
    }
    command = [sys.executable, "-m", "gnomon_service.cli", *words]
    return subprocess.run(
        command, cwd=above / "job", env=environ, capture_output=True, text=True, check=False
    )


@pytest.fixture
def elsewhere(above: Path) -> Iterator[FakeProvider]:
    """Where the files of variables would send calls: of the two names, LiteLLM goes by the second first."""
    with serving() as provider:
        provider.says("A")
        for folder in (above, above / "job"):
            (folder / ".env").write_text(f"OPENAI_API_BASE={provider.url}\nOPENAI_BASE_URL={provider.url}\n")
        yield provider


def test_a_plan_names_the_proxy_of_the_environment_and_no_address_of_a_file(
    above: Path, elsewhere: FakeProvider
) -> None:
    ended = gnomon(above, "plan", "job.json")
    said = ended.stderr + ended.stdout
    assert (ended.returncode, elsewhere.requests) == (0, []), said
    assert "called through the proxy 127.0.0.1, as HTTPS_PROXY of the environment says" in said
    assert "OPENAI_API_BASE" not in said


def test_a_run_calls_where_the_environment_says_and_not_where_a_file_does(
    above: Path, elsewhere: FakeProvider
) -> None:
    with serving() as provider:
        provider.says("A")
        ended = gnomon(above, *RUN, OPENAI_API_BASE=provider.url)
        assert provider.requests
        assert elsewhere.requests == [], ended.stderr
    told = "openai/gpt-4o: called at 127.0.0.1, as OPENAI_API_BASE of the environment says"
    assert f"warning: {told}" in ended.stderr
    assert "sent to 127.0.0.1 by OPENAI_API_BASE" in ended.stdout
    assert "key of OPENAI_API_KEY" in ended.stdout


def test_who_asks_litellm_to_read_them_is_told(above: Path, elsewhere: FakeProvider) -> None:
    ended = gnomon(above, *TRY, OPENAI_API_BASE=NOWHERE, LITELLM_MODE="DEV")
    assert elsewhere.requests, "else the test before shows nothing"
    assert "LITELLM_MODE is DEV: LiteLLM reads variables from a file .env" in ended.stderr


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer of-the-spec"}])
def test_through_a_proxy_no_password_of_a_file_goes_out(
    headers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "netrc"
    file.write_text("machine api.example login me password canary\n")
    file.chmod(0o600)
    monkeypatch.setenv("NETRC", str(file))

    async def ask() -> None:
        client = HttpClient("http://api.example/v1/chat/completions")
        await client.ask([b"{}"], headers, timeout_s=20.0, scrub=Scrubber(None))
        await client.close()

    with serving() as provider:
        provider.says("A")
        monkeypatch.setenv("HTTP_PROXY", provider.url.removesuffix("/v1"))
        asyncio.run(ask())
    (received,) = provider.headers
    sent = {name.lower(): value for name, value in received.items()}
    assert sent.get("authorization") == headers.get("Authorization")
