"""The conformance table: `python -m tests.agents.conformance_table` runs both arms on every strict endpoint.

`--write-docs` puts the table into docs/models.md, between its marks.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from gnomon.core.agent import AGENTS
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.job_context import JobContext
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_plan import expand_trials
from gnomon_agents.models.catalog import open_model
from scripts.marked_text import replace_between
from tests.agents.conformance import chat, litellm_only
from tests.agents.conformance.anthropic import AnthropicDialect
from tests.agents.conformance.responses import ResponsesDialect
from tests.agents.conformance.server import ConformanceServer, conforming
from tests.agents.conftest import QUIZ, Quiz

DOCS = Path(__file__).parents[2] / "docs" / "models.md"
BEGIN, END = "<!-- conformance -->\n", "<!-- end of conformance -->\n"
TRIALS = 6
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
PATHS = ("direct", "litellm")


def endpoints() -> list[tuple[str, Any, dict[str, dict[str, Any]]]]:
    """What a row is called, the dialect that is spoken, and the model's entry by path."""
    rows: list[tuple[str, Any, dict[str, dict[str, Any]]]] = []
    for dialect in (*chat.DIALECTS, *litellm_only.DIALECTS):
        entries = {
            path: {"id": getattr(dialect, path), "options": dict(dialect.options)}
            for path in PATHS
            if hasattr(dialect, path)
        }
        rows.append((dialect.name, dialect, entries))
    claude = {"id": "anthropic/claude-sonnet-4-5", "options": THINKING}
    for name, is_interleaved in (("anthropic", False), ("anthropic, thinking between calls", True)):
        rows.append((name, AnthropicDialect(is_interleaved=is_interleaved), dict.fromkeys(PATHS, claude)))
    o3 = {
        "direct": {"id": "openai/o3", "api": "responses"},
    }
    rows.append(("responses", ResponsesDialect(), o3))
    return rows


async def scored(server: ConformanceServer, path: str, entry: dict[str, Any]) -> tuple[str, str]:
    """How many trials of each arm were scored in full."""
    base = server.root + getattr(server.dialect, "base", server.dialect.path)
    model = {"api_base": base, "api_key_env": "CONFORMANCE_KEY", "client": path, **entry}
    job = JobSpec.model_validate(
        {
            "benchmark": "quiz",
            "models": [model],
            "arms": [
                {"name": "raw", "agent": "direct"},
                {"name": "tools", "agent": "react", "tools": "all"},
            ],
            "repeats": TRIALS,
            "limits": {"trial_seconds": 60},
        }
    )
    right = {"raw": 0, "tools": 0}
    with tempfile.TemporaryDirectory() as folder:
        media = MediaStore(Path(folder))
        opened = open_model(job.models[0], media)
        for trial in expand_trials("j", job, [QUIZ.ref]):
            row, _ = await run_trial(
                trial,
                bench=JobContext(spec=job, benchmark=Quiz(), media=media),
                sample=lambda: QUIZ,
                agent=AGENTS.get(job.arm(trial.arm).agent),
                model=opened,
            )
            right[trial.arm] += row.score == 1.0
        await opened.close()
    return f"{right['raw']} of {TRIALS}", f"{right['tools']} of {TRIALS}"


async def table() -> str:
    """The table: for each result, the dialects that have it."""
    dialects: dict[str, list[str]] = {}
    for name, dialect, entries in endpoints():
        cells: list[str] = []
        for path in PATHS:
            if path not in entries:
                cells += ["–", "–"]
                continue
            with conforming(dialect) as server:
                cells += await scored(server, path, entries[path])
        dialects.setdefault(" | ".join(cells), []).append(name)
    lines = ["| direct: raw | tools | LiteLLM: raw | tools | dialects |", "|---|---|---|---|---|"]
    lines += [f"| {cells} | {'; '.join(names)} |" for cells, names in dialects.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write-docs", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # Pydantic's, of what LiteLLM is given
    os.environ["CONFORMANCE_KEY"] = "a-key-for-the-loopback"
    found = asyncio.run(table())
    sys.stdout.write(found)
    if given.write_docs:
        replace_between(DOCS, BEGIN, END, found)


if __name__ == "__main__":
    main()
