"""Measures what a trial costs beside a bare loop and Inspect AI, in one run.

    python -m bench.performance [--rounds 3] [--no-inspect] [--out .bench] [--write-docs PAGE]

Prints tables, and writes performance.json into the folder `--out`. CPU seconds are the figure that a busy
machine distorts least; ratios to the floor of the same run are what can be compared between machines.
"""

import json
import os
import platform
import statistics
import subprocess
from dataclasses import asdict
from pathlib import Path

from bench.performance.page import BEGIN, END, Page, is_marked
from bench.performance.systems import Cell, Setting, measure, systems
from bench.servers import ROOT, mock_server, queue
from bench.tables import head_of, line_of, parser_of

HEADS = (
    "system", "in flight", "latency ms", "trials", "CPU ms per trial", "× floor", "efficiency",
    "MB idle, more",
)  # fmt: skip


def commit() -> str:
    """What was measured."""
    said = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return said.stdout.strip() or "unknown"


def compare(page: Page, redis_url: str, *, rounds: int, with_inspect: bool) -> list[Cell]:
    """Every system in the settings that it has trials for; the floor comes first."""
    page.add(head_of(HEADS))
    cells: list[Cell] = []
    floor: dict[Setting, Cell] = {}
    with mock_server() as port:
        for system in systems(redis_url, with_inspect=with_inspect):
            for setting in system.trials:
                cell = measure(system, setting, port=port, rounds=rounds)
                cells.append(cell)
                page.add(_line(cell, floor.setdefault(setting, cell)))
    return cells


def _line(cell: Cell, floor: Cell) -> str:
    low, high = min(cell.cpu_ms) / max(floor.cpu_ms), max(cell.cpu_ms) / min(floor.cpu_ms)
    return line_of(
        [
            cell.system,
            cell.setting.in_flight,
            cell.setting.latency_ms,
            f"{len(cell.cpu_ms)} × {cell.trials:,}",
            f"{cell.median_ms:.2f} ({min(cell.cpu_ms):.2f}–{max(cell.cpu_ms):.2f})",
            f"{cell.median_ms / floor.median_ms:.1f} ({low:.1f}–{high:.1f})",
            f"{100 * statistics.median(cell.efficiency):.0f} %" if cell.setting.latency_ms else "",
            f"{cell.idle_mb:.0f}, {cell.peak_mb - cell.idle_mb:.0f}",
        ]
    )


def main() -> None:
    """Print the tables."""
    parser = parser_of(__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / ".bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--no-inspect", action="store_true", help="leave Inspect AI out: nothing is installed"
    )
    parser.add_argument("--write-docs", type=Path, help="a page with marks that the tables are put between")
    given = parser.parse_args()
    if given.write_docs and not is_marked(given.write_docs):
        parser.error(f"{given.write_docs} has no marks: {BEGIN} {END}")
    where = f"commit {commit()}, Python {platform.python_version()}, {os.cpu_count()} cores"
    page, with_inspect = Page(), not given.no_inspect
    page.add(f"{where}, load {os.getloadavg()[0]:.1f}\n")
    with queue() as redis_url:
        cells = compare(page, redis_url, rounds=given.rounds, with_inspect=with_inspect)
    if given.write_docs:
        page.write(given.write_docs)
    given.out.mkdir(parents=True, exist_ok=True)
    record = {"where": where, "cells": [asdict(cell) for cell in cells]}
    (given.out / "performance.json").write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
