"""Reference on GTR-Bench: how far tools get with no language model; the table of docs/reference-model.md.

    python bench/gtr_reference.py DATA [--protocol guarded] [--scoring strict] [--groups] [--rows FILE]

`DATA` is the published folder, or `worlds` for generated questions. `--groups` also leaves out one group of
tools at a time. Each question runs as a trial of a job would, in this process. This script fits no constant;
docs/reference-model.md lists those that were set after looking at answers.
"""

import argparse
import asyncio
import functools
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

import numpy as np

from agents.models.catalog import open_model
from gnomon.agent import AGENTS
from gnomon.job import expand
from gnomon.media import MediaStore
from gnomon.row import Row
from gnomon.spec import JobSpec
from gnomon.statistics.design import design, strata_of
from gnomon.statistics.mean import mean_score
from gnomon.trial import Bench, run_trial
from tools.core.toolbox import TOOLS

GROUPS: Mapping[str, tuple[str, ...]] = {
    "tracks": ("project_track", "estimate_track"),
    "topology": ("distance", "neighbours", "travel_time", "order_cost"),
    "between": ("interpolate",),
    "speed and dwell": ("speed", "dwell"),
    "forecast": ("forecast_arrival", "meeting_candidates"),
    "motion": ("compare_motion",),
}
CAVEAT = (
    "The reference reads homographies that the official prompt withholds and sees no video; "
    "published models saw the pictures."
)
PROCESSES = 2


def main() -> None:
    """Run the arms and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", help="folder of the published files; `worlds` generates questions instead")
    parser.add_argument("--protocol", default="guarded", choices=("guarded", "official"))
    parser.add_argument("--scoring", default="strict", choices=("strict", "official"))
    parser.add_argument("--limit", type=int, help="so many questions only")
    parser.add_argument("--groups", action="store_true", help="leave out each group of tools as well")
    parser.add_argument("--rows", type=Path, help="write the rows here, one JSON object a line")
    given = parser.parse_args()
    spec = _spec(given)
    started = time.perf_counter()
    with ProcessPoolExecutor(PROCESSES) as pool:
        parts = list(pool.map(_run_share, [(spec, share) for share in range(PROCESSES)]))
    rows = [row for part in parts for row in part]
    _print_table(spec, rows)
    trials = len(rows)
    print(f"\n{trials} trials in {time.perf_counter() - started:.0f} s. {CAVEAT}")
    if given.rows:
        given.rows.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")


def _spec(given: argparse.Namespace) -> JobSpec:
    everything = TOOLS.names()
    left_out = {f"without {name}": set(tools) for name, tools in GROUPS.items()} if given.groups else {}
    arms: list[dict[str, object]] = [{"name": "raw", "agent": "direct"}]
    arms += [{"name": "tools", "agent": "react", "tools": "all"}]
    arms += [
        {"name": name, "agent": "react", "tools": [tool for tool in everything if tool not in tools]}
        for name, tools in left_out.items()
    ]
    worlds = given.data == "worlds"
    return JobSpec.model_validate(
        {
            "benchmark": "worlds" if worlds else "gtr-bench",
            "data": None if worlds else given.data,
            "select": {"limit": given.limit or (980 if worlds else None), "seed": 1 if worlds else 0},
            "protocol": given.protocol,
            "scoring": given.scoring,
            "models": [{"id": "reference"}],
            "arms": arms,
        }
    )


def _run_share(job: tuple[JobSpec, int]) -> list[Row]:
    return asyncio.run(_rows(*job))


async def _rows(spec: JobSpec, share: int) -> list[Row]:
    """Every trial of every other cluster, so that a scene is built in one process only."""
    with tempfile.TemporaryDirectory() as folder:
        media = MediaStore(Path(folder))
        plugin = spec.plugin()
        samples = plugin.open(
            data=Path(spec.data) if spec.data else None,
            select=spec.selection(),
            protocol=spec.protocol,
            media=media,
        )
        bench = Bench(spec=spec, benchmark=plugin, media=media)
        model = open_model(spec.models[0], media)
        rows = []
        for ref in samples.refs[share::PROCESSES]:
            for trial in expand("reference", spec, [ref]):
                agent = AGENTS.get(spec.arm(trial.arm).agent)
                question = functools.partial(samples.get, ref.sample_id)
                row, _ = await run_trial(trial, bench=bench, sample=question, agent=agent, model=model)
                rows.append(row)
        return rows


def _print_table(spec: JobSpec, rows: Sequence[Row]) -> None:
    arms = [arm.name for arm in spec.arms]
    cells = sorted({row.cell for row in rows})
    print(" | ".join(["cell", "n", *arms]))
    for cell in cells:
        here = [row for row in rows if row.cell == cell]
        means = [_mean([row for row in here if row.arm == arm]) for arm in arms]
        print(" | ".join([cell, str(len(here) // len(arms)), *(f"{100 * mean:.1f}" for mean in means)]))
    for arm in arms:
        own = [row for row in rows if row.arm == arm]
        codes = np.unique([row.cell for row in own], return_inverse=True)[1]
        clusters = np.unique([row.cluster for row in own], return_inverse=True)[1]
        found = mean_score(
            np.array([row.score or 0.0 for row in own]), design(strata_of(codes, "mean_of_cells"), clusters)
        )
        interval = "" if found.ci95 is None else f" ({100 * found.ci95[0]:.1f} to {100 * found.ci95[1]:.1f})"
        missing = sum(row.score is None for row in own)
        note = f", {missing} missing counted as 0" if missing else ""
        size = f"n {found.n}, clusters {found.clusters}{note}"
        print(f"{arm}: mean of cells {100 * found.mean:.1f}{interval}, {size}")
    for line in spec.plugin().published():
        if line.aggregate is not None:
            print(f"published {line.model} ({line.group}): {100 * line.aggregate:.1f}")


def _mean(rows: Sequence[Row]) -> float:
    return sum(row.score or 0.0 for row in rows) / len(rows)


if __name__ == "__main__":
    main()
