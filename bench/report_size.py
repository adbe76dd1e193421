"""Measures time and memory of `gnomon report`, by default over 10,000 samples × 8 arms × 3 repeats.

    .venv/bin/python bench/report_size.py [--samples 10000] [--arms 8] [--repeats 3] [--cells 14]

The rows are put into a store on SQLite first, as workers put them there; the command then runs in a
process of its own, once a format, and start-up is counted.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from gnomon.core.row import Row
from gnomon.core.sample import SampleRef
from gnomon.core.score import Outcome
from gnomon.spec.job_spec import JobSpec
from workers.store import Lease, Store
from workers.store.missing import missing_row

TOOLS = {"bearing": {"calls": 2, "bad_arguments": 0, "errors": 0}}
BATCH = 1000


def fill(store: Store, *, samples: int, arms: int, repeats: int, cells: int) -> str:
    """The id of a job of so many samples under so many arms, all answered."""
    spec = JobSpec.model_validate(
        {
            "benchmark": "worlds",
            "models": [{"id": "scripted", "options": {"replies": ["A"]}}],
            "arms": [{"name": f"arm{arm}", "agent": "direct"} for arm in range(arms)],
            "repeats": repeats,
        }
    )
    refs = [
        SampleRef(sample_id=f"s{n}", task="t", cell=f"cell{n % cells:02}", cluster=f"v{n // 5}")
        for n in range(samples)
    ]
    job = store.create_job(spec, refs)
    random = np.random.default_rng(0)
    level = {ref.sample_id: random.uniform(0.2, 0.7) for ref in refs}
    for shard in range(job.shards):
        while leases := store.lease(job.id, shard, worker="w", ttl_s=600, limit=BATCH):
            store.finish(
                [(one, _row(one, level[one.trial.ref.sample_id], random), {"steps": []}) for one in leases]
            )
    return job.id


def _row(lease: Lease, level: float, random: np.random.Generator) -> Row:
    arm = int(lease.trial.arm.removeprefix("arm"))
    row = missing_row(lease.trial, benchmark="worlds", stop_reason="answered", attempt=1)
    return replace(
        row,
        outcome=Outcome.SCORED,
        score=float(random.random() < level + 0.02 * arm),
        answer="A",
        tool_calls=2 if arm else 0,
        tools_used=TOOLS if arm else {},
        prompt_tokens=100,
        completion_tokens=10,
        usd=0.001,
        wall_s=0.5,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (("samples", 10_000), ("arms", 8), ("repeats", 3), ("cells", 14)):
        parser.add_argument(f"--{name}", type=int, default=default)
    size = vars(parser.parse_args())
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/gnomon.db")
        job = fill(store, **size)
        store.close()
        print(f"{size['samples'] * size['arms'] * size['repeats']:,} rows, start-up included:")
        for kind in ("json", "html", "md"):
            out = Path(folder) / f"report.{kind}"
            gnomon = Path(sys.executable).with_name("gnomon")
            began_s, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([gnomon, "report", job, "--data-dir", folder, "--out", out], check=True)
            wall_s, after = time.perf_counter() - began_s, resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(
                f"{kind}: {wall_s:.1f} s, {cpu_s:.1f} CPU s, peak so far {after.ru_maxrss / 1024:.0f} MB, "
                f"{out.stat().st_size / 1e6:.1f} MB written"
            )


if __name__ == "__main__":
    main()
