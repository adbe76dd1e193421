"""Real trials with a real language model, the smallest there is: HTTP, tokens and recorded outcomes."""

import os
import signal
import subprocess
import sys

import pytest

from gnomon.core.errors import DataError
from gnomon_agents.models.small_lm import main, weights_path

pytestmark = pytest.mark.lm


@pytest.fixture(scope="module")
def api_base():
    try:
        weights_path()
        import xllamacpp  # noqa: F401
    except (DataError, ImportError) as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"no small language model: {error}")
    with subprocess.Popen(
        [sys.executable, "-m", "gnomon_agents.models.small_lm", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        yield server.stdout.readline().removeprefix("serving at ").strip()
        server.terminate()


@pytest.mark.parametrize(("arm", "agent"), [("raw", "direct"), ("tools", "react")])
async def test_a_real_model_ends_every_trial_with_an_outcome_and_counts_tokens(api_base, run, arm, agent):
    spec = {
        "models": [
            {"id": "openai/smollm2", "api_base": api_base, "temperature": 0.0, "max_tokens": 24},
        ],
        "arms": [{"name": arm, "agent": agent, "tools": "none" if arm == "raw" else "all"}],
    }
    row, trace = await run(spec, arm)
    assert row.outcome in ("scored", "model_failed")
    assert row.prompt_tokens > 0
    assert row.completion_tokens > 0
    assert row.usd is None, "nobody published a price"
    assert trace.replies[-1].text or row.stop_reason != "answered"


def test_weights_that_are_not_there_are_said_to_be_missing(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"weights\.lock"):
        main([])
    assert signal.SIGTERM not in signal.pthread_sigmask(
        signal.SIG_BLOCK, ()
    )  # or no child of ours could be stopped
