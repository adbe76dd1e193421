"""Measures what checkpoints cost a trial: `python -m bench.checkpoint_cost`.

A trip of the planner and a loop of ReAct, with a scripted model whose replies cost nothing: alone, with
checkpoints of which none is due, and with one after every call, written to SQLite. CPU ms of all threads.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.models.catalog import open_model
from gnomon.core.agent import AGENTS
from gnomon.core.model import Model
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.rules import parse_spec
from gnomon.trials import checkpoint
from gnomon.trials.run_trial import JobContext, run_trial
from gnomon.trials.trial_plan import Trial
from workers.checkpoints import CheckpointWriter
from workers.store import Lease, Store

ROUNDS = 15
FIND = {"tool_calls": [{"name": "find_place", "arguments": {"name": "Kiasma"}}]}
DRAFT = json.dumps({"days": [{"visits": [{"place": name} for name in ("Kiasma", "Ateneum")]}]})
REQUEST = {
    "area": "helsinki",
    "start_date": "2026-06-10",
    "hotel": "Hotelli Torni",
    "places": ["Kiasma", "Ateneum", "Kampin kappeli"],
}
TOOLS = ["check_plan", "find_place", "order_visits", "place_details"]


def spec_of(agent: str) -> JobSpec:
    """A job of one request, whose model looks four places up and drafts."""
    given = {
        "benchmark": "itinerary",
        "select": {"request": REQUEST},
        "models": [{"id": "scripted", "options": {"replies": [FIND, FIND, FIND, FIND, DRAFT]}}],
        "arms": [{"name": "a", "agent": agent, "tools": TOOLS, "max_tool_calls": 40}],
    }
    return parse_spec(given, agents=AGENTS.names())


async def measured(folder: Path, agent: str, *, kind: str) -> tuple[float, int, int]:
    """Median CPU ms of a trial, checkpoints a trial, and bytes of the largest."""
    spec, media = spec_of(agent), MediaStore(folder)
    samples = spec.plugin().open(data=None, select=spec.select, protocol=spec.protocol, media=media)
    bench, model = (
        JobContext(spec=spec, benchmark=spec.plugin(), media=media),
        open_model(spec.models[0], media),
    )
    store = Store(f"sqlite:///{folder}/{agent}-{kind}.db")
    sizes: list[int] = []
    times_ms: list[float] = []
    for _ in range(ROUNDS):
        job = store.create_job(spec, samples.refs)
        lease = store.lease(job.id, 0, worker="w", ttl_s=600)[0]
        began = time.process_time()
        await _run(lease, bench, samples.get, model, store, kind, sizes)
        times_ms.append((time.process_time() - began) * 1e3)
    store.close()
    return statistics.median(times_ms[2:]), len(sizes) // ROUNDS, max(sizes, default=0)


async def _run(
    lease: Lease,
    bench: JobContext,
    get: Callable[[str], Any],
    model: Model,
    store: Store,
    kind: str,
    sizes: list[int],
) -> None:
    trial: Trial = lease.trial
    writer = CheckpointWriter(store, trial.job_id, worker="w", after=lambda _: None)
    attempt = await writer.open(lease)
    add = writer.add
    writer.add = lambda one, body, used: sizes.append(len(body)) or add(one, body, used)  # type: ignore[func-returns-value, method-assign]
    await run_trial(
        trial,
        bench=bench,
        sample=lambda: get(trial.ref.sample_id),
        agent=AGENTS.get(bench.spec.arms[0].agent),
        model=model,
        checkpoints=None if kind == "alone" else attempt.trial,
    )
    await attempt.end()


def main() -> None:
    """Print the table."""
    out = sys.stdout.write
    out("| agent | alone | none due | after every call | checkpoints | ms each | largest, bytes |\n")
    out("|---|---|---|---|---|---|---|\n")
    for agent in ("planner", "react"):
        with tempfile.TemporaryDirectory() as folder:
            by_kind = {}
            for kind, worth_s in (("alone", 1e9), ("none due", 1e9), ("every call", 0.0)):
                checkpoint.WORTH_S = worth_s
                by_kind[kind] = asyncio.run(measured(Path(folder), agent, kind=kind))
        alone, none, (every, count, size) = by_kind["alone"][0], by_kind["none due"][0], by_kind["every call"]
        cells = (
            f"{alone:.1f}",
            f"{none:.1f}",
            f"{every:.1f}",
            count,
            f"{(every - none) / count:.2f}",
            f"{size:,}",
        )
        out(f"| {agent} | {' | '.join(map(str, cells))} |\n")


if __name__ == "__main__":
    main()
