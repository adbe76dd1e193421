"""`python -m bench.performance`: measures everything of docs/performance.md in one run.

Prints the tables, and writes performance.json and performance.svg into the folder `--out`. CPU seconds are
the figure that a busy machine distorts least; the load at each round is printed beside it.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.performance.geometry import points_in_views, tool_costs
from bench.performance.growth import SIZES, Growth, grow
from bench.performance.plot import svg
from bench.performance.startup import api_s, help_s
from bench.performance.systems import ROOT, Cell, Setting, measure, mock_server, queue, systems

SETTINGS = [Setting(in_flight=c, latency_ms=ms) for ms in (0, 200) for c in (20, 100, 500)]


def commit() -> str:
    """What was measured."""
    said = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return said.stdout.strip() or "unknown"


TOLD: list[str] = []  # what goes into the page of `--write-docs`
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def told(line: str = "") -> None:
    TOLD.append(line)
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def write_docs(page: Path) -> None:
    """Put what was told between the two marks of a page."""
    text = page.read_text()
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    page.write_text("\n".join([before, *TOLD, after]))


def compare(redis_url: str, *, rounds: int, with_inspect: bool) -> list[Cell]:
    """Every system in the settings that it has trials for: slow ones are spared the slowest."""
    told(
        "| system | in flight | latency ms | trials | CPU ms a trial | × floor | efficiency | MB idle, more |"
    )
    told("|---|---|---|---|---|---|---|---|")
    cells: list[Cell] = []
    floor: dict[Setting, Cell] = {}
    with mock_server() as port:
        for system in systems(redis_url, with_inspect=with_inspect):
            for setting in SETTINGS:
                if (setting.in_flight, setting.latency_ms) not in system.trials:
                    continue
                cell = measure(system, setting, port=port, rounds=rounds)
                cells.append(cell)
                if system.name == "floor":
                    floor[setting] = cell
                told(_line(cell, floor[setting]))
    return cells


def _line(cell: Cell, floor: Cell) -> str:
    efficiency = f"{100 * statistics.median(cell.efficiency):.0f} %" if cell.setting.latency_ms else ""
    spread = f"{cell.median_ms:.2f} ({min(cell.cpu_ms):.2f}–{max(cell.cpu_ms):.2f})"
    low, high = min(cell.cpu_ms) / max(floor.cpu_ms), max(cell.cpu_ms) / min(floor.cpu_ms)
    ratio = f"{cell.median_ms / floor.median_ms:.1f} ({low:.1f}–{high:.1f})"
    return (
        f"| {cell.system} | {cell.setting.in_flight} | {cell.setting.latency_ms} "
        f"| {len(cell.cpu_ms)} × {cell.trials:,} | {spread} | {ratio} | {efficiency} "
        f"| {cell.idle_mb:.0f}, {cell.peak_mb - cell.idle_mb:.0f} |"
    )


def growth(redis_url: str, sizes: list[int], *, to_the_end: int) -> list[Growth]:
    told("\n| trials | accept s (wall) | enqueue s | job ms | page ms | lease, finish µs | report s | MB |")
    told("|---|---|---|---|---|---|---|---|")
    found = []
    for size in sizes:
        one = grow(size, redis_url, to_the_end=size <= to_the_end)
        report = "" if one.report_s is None else f"{one.report_s:.1f}"
        told(
            f"| {size:,} | {one.accept_s:.1f} ({one.accept_wall_s:.1f}) | {one.enqueue_s:.2f} "
            f"| {one.job_ms:.1f} | {one.page_ms:.1f} | {one.finish_us:.0f} | {report} | {one.rss_mb:.0f} |"
        )
        found.append(one)
    return found


def small_things(redis_url: str) -> dict[str, Any]:
    """Tools, points in views, start-up."""
    told("\n| tool | CPU ms a call (median) | the first on a scene |\n|---|---|---|")
    costs = tool_costs()
    for cost in costs:
        told(f"| {cost.tool} | {cost.median_ms:.3f} {cost.error or ''} | {cost.first_ms:.1f} |")
    views_s, hits = points_in_views()
    told(f"\n1,000,000 points against 200 fields of view: {views_s:.2f} CPU s, {hits:,} hits")
    (help_wall_s, help_cpu_s), (api_wall_s, api_cpu_s) = min(help_s() for _ in range(5)), api_s(redis_url)
    told(f"\ngnomon --help: {help_wall_s:.2f} s, {help_cpu_s:.2f} CPU s (best of 5)")
    told(f"\nAPI ready: {api_wall_s:.2f} s, {api_cpu_s:.2f} CPU s")
    return {
        "tools": [asdict(cost) for cost in costs],
        "points_in_views": {"cpu_s": views_s, "hits": hits},
        "startup": {
            "help_s": help_wall_s,
            "help_cpu_s": help_cpu_s,
            "api_s": api_wall_s,
            "api_cpu_s": api_cpu_s,
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / ".bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--no-inspect", action="store_true", help="leave Inspect AI out: nothing is installed"
    )
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument(
        "--to-the-end", type=int, default=100_000, help="largest job whose rows are all written"
    )
    parser.add_argument("--write-docs", type=Path, help="a page with marks that the tables are put between")
    given = parser.parse_args()
    if given.write_docs and not all(mark in given.write_docs.read_text() for mark in (BEGIN, END)):
        parser.error(f"{given.write_docs} has no marks: {BEGIN} {END}")
    where = f"commit {commit()}, Python {platform.python_version()}, {os.cpu_count()} cores"
    told(f"{where}, load {os.getloadavg()[0]:.1f}\n")
    with queue() as redis_url:
        cells = compare(redis_url, rounds=given.rounds, with_inspect=not given.no_inspect)
        grown = growth(redis_url, given.sizes, to_the_end=given.to_the_end)
        rest = small_things(redis_url)
    given.out.mkdir(parents=True, exist_ok=True)
    found = {
        "where": where,
        "cells": [asdict(cell) for cell in cells],
        "growth": [asdict(one) for one in grown],
    }
    (given.out / "performance.json").write_text(json.dumps(found | rest, indent=2) + "\n")
    (given.out / "performance.svg").write_text(
        svg(cells, title=f"CPU ms a trial of four model calls; {where}")
    )
    if given.write_docs:
        write_docs(given.write_docs)


if __name__ == "__main__":
    main()
