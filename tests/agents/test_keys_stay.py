"""A key and a prompt go to the address that was named, whatever provider is asked and wherever it points."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.core.errors import ProviderFault
from gnomon.core.model import Request
from gnomon.media import MediaStore
from gnomon.spec.endpoints import TAKES_BASE
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.catalog import open_model
from tests.agents.conftest import FakeProvider, serving

CANARY = "canary-4f1d-do-not-leak-7b2e"


@pytest.fixture
def stranger() -> Iterator[FakeProvider]:
    with serving() as fake:
        fake.says("A")
        yield fake


@pytest.mark.parametrize("status", [302, 307])
@pytest.mark.parametrize("client", ["auto", "direct", "litellm"])
@pytest.mark.parametrize(
    "spec",
    [
        *({"id": "openai/o3-mini" if name == "openai" else f"{name}/m"} for name in TAKES_BASE),
        {"id": "openai/m", "api": "responses"},
    ],
    ids=str,
)
async def test_no_redirect_is_followed_and_every_call_goes_to_the_base(
    provider: FakeProvider,
    stranger: FakeProvider,
    spec: dict[str, str],
    client: str,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CANARY_KEY", CANARY)
    there = stranger.url.replace("127.0.0.1", "localhost")
    provider.answers(status, "", {"Location": f"{there}/chat/completions"})
    given = {"api_base": provider.url, "api_key_env": "CANARY_KEY", **spec}
    if "api" not in spec:
        given["client"] = client
    model = open_model(ModelSpec.model_validate(given), MediaStore(tmp_path))
    with pytest.raises(ProviderFault) as caught:
        await model.reply(Request(messages=[{"role": "user", "content": "hi"}], tools=[], timeout_s=20.0))
    await model.close()
    assert CANARY in str(provider.headers), "the base itself was called, with the key"
    assert len(provider.requests) == 1
    assert stranger.requests == []
    assert CANARY not in str(caught.value)
