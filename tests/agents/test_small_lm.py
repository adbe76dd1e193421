"""One job with a small language model that calls tools: HTTP, tokens, outcomes."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.core.errors import DataError
from gnomon.core.row import Row
from gnomon_agents.models.small_lm import main, weights_path
from gnomon_workers.store import Store
from tests.workers import desk

pytestmark = [pytest.mark.lm, pytest.mark.timeout(600)]
MODEL = "qwen-0.5b"
QUESTIONS = Path(__file__).parents[2] / "examples" / "questions"


@pytest.fixture(scope="module")
def api_base() -> Iterator[str]:
    try:
        if not weights_path(MODEL).is_file():
            raise DataError(f"{weights_path(MODEL)} is not there")
        import xllamacpp  # noqa: F401
    except (DataError, ImportError) as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"no small language model: {error}")
    command = [sys.executable, "-m", "gnomon_agents.models.small_lm", MODEL, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().removeprefix("serving at ").strip()
        server.terminate()


@pytest.fixture(scope="module")
def rows(api_base: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    """The rows of a job of one question under three arms, by arm."""
    folder = tmp_path_factory.mktemp("small-lm")
    question = {
        "question": "A ferry goes 918 m in 204 s. What is its mean speed?",
        "answer": 4.5,
        "scorer": {"number": {"tolerance": 0.05, "relative": True, "unit": "m/s"}},
        "scene": "harbour.geojson",
    }
    (folder / "questions.jsonl").write_text(json.dumps(question), encoding="utf-8")
    shutil.copy(QUESTIONS / "harbour.geojson", folder)
    spec = {
        "benchmark": "questions",
        "data": str(folder / "questions.jsonl"),
        "models": [
            {
                "id": f"openai/{MODEL}",
                "api_base": api_base,
                "temperature": 0,
                "max_tokens": 50,
            }
        ],
        "arms": [
            {"name": "raw", "agent": "direct"},
            {
                "name": "native",
                "agent": "react",
                "tools": ["speed"],
                "wording": "end_json",
                "max_tool_calls": 1,
            },
            {"name": "text", "agent": "text-react", "tools": ["speed"], "max_tool_calls": 1},
        ],
        "analysis": {"primary": ["raw", "text"]},
        "concurrency": 1,
        "preflight": False,  # its calls would take as long as a trial
    }
    with Store(f"sqlite:///{folder}/gnomon.db") as store:
        job = desk.post(store, folder, spec)
        desk.run(store, folder, job)
        stored = list(store.iter_rows(job.id))
    return {arm: [row for row in stored if row.arm == arm] for arm in ("raw", "native", "text")}


def test_every_trial_of_a_real_model_ends_with_an_outcome_and_counts_tokens(rows):
    for row in (row for of_arm in rows.values() for row in of_arm):
        assert row.outcome in ("scored", "model_failed")
        assert row.prompt_tokens > 0
        assert row.completion_tokens > 0
        assert row.usd is None, "nobody published a price"
    assert {arm: len(of_arm) for arm, of_arm in rows.items()} == {"raw": 1, "native": 1, "text": 1}


def test_a_real_model_calls_tools_in_text(rows):
    assert all(row.tool_calls >= 1 for row in rows["text"])
    assert all(row.tool_calls == 0 for row in rows["raw"])


def test_weights_that_are_not_there_are_said_to_be_missing():
    with pytest.raises(SystemExit, match=r"python scripts/fetch_weights\.py qwen-9b"):
        main(["qwen-9b"])
    assert signal.SIGTERM not in signal.pthread_sigmask(
        signal.SIG_BLOCK, ()
    )  # or no child of ours could be stopped
