"""Measures everything in docs/performance.md in one run: `python -m bench.performance`.

Prints the tables, and writes performance.json, performance.svg and growth.svg into the folder `--out`;
`--write-docs` puts tables and pictures into a page as well. CPU seconds are the figure that a busy machine
distorts least; the load at each round is kept beside it.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.performance.curves import curves
from bench.performance.geometry import points_in_views, tool_costs
from bench.performance.growth import SIZES, Growth, grow, panels_of, rows_of
from bench.performance.page import BEGIN, END, Page, is_marked
from bench.performance.pictures import PictureCost, picture_cost
from bench.performance.plot import svg
from bench.performance.startup import measure as measure_starts
from bench.performance.systems import ROOT, Cell, Setting, measure, mock_server, queue, systems

SETTINGS = [Setting(in_flight=c, latency_ms=ms) for ms in (0, 200) for c in (20, 100, 500)]


def commit() -> str:
    """What was measured."""
    said = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return said.stdout.strip() or "unknown"


def compare(page: Page, redis_url: str, *, rounds: int, with_inspect: bool) -> list[Cell]:
    """Every system in the settings that it has trials for: slow systems skip the slowest settings."""
    page.add(
        "| system | in flight | latency ms | trials | CPU ms per trial | × floor | efficiency "
        "| MB idle, more |"
    )
    page.add("|---|---|---|---|---|---|---|---|")
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
                page.add(_line(cell, floor[setting]))
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


def growth(page: Page, redis_url: str, sizes: list[int]) -> list[Growth]:
    """Jobs of some sizes, the smallest first."""
    found = [grow(size, redis_url) for size in sorted(sizes)]
    page.add()
    for line in rows_of(found):
        page.add(line)
    return found


def pictures(page: Page) -> PictureCost:
    """A call of twenty pictures."""
    with mock_server() as port:
        cost = picture_cost(port)
    page.add("\n| a call of 20 pictures, 1,024 px | CPU ms | MB sent |\n|---|---|---|")
    later = f"{cost.calls - 1} later ones, other text (median)"
    for name, spent_ms in (("the first", cost.first_ms), (later, cost.later_ms)):
        page.add(f"| {name} | {spent_ms:.1f} | {cost.sent_bytes / 1e6:.1f} |")
    page.add(f"\npictures encoded: {cost.encoded}")
    return cost


def small_things(page: Page, redis_url: str, *, with_inspect: bool) -> dict[str, Any]:
    """Tools, points in views, start-up."""
    page.add("\n| tool | CPU ms per call (median) | first call on a scene |\n|---|---|---|")
    costs = tool_costs()
    for cost in costs:
        page.add(f"| {cost.tool} | {cost.median_ms:.3f} {cost.error or ''} | {cost.first_ms:.1f} |")
    views_s, hits = points_in_views()
    page.add(f"\n1,000,000 points against 200 fields of view: {views_s:.2f} CPU s, {hits:,} hits")
    return {
        "tools": [asdict(cost) for cost in costs],
        "points_in_views": {"cpu_s": views_s, "hits": hits},
        "startup": measure_starts(page, redis_url, with_inspect=with_inspect),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / ".bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--no-inspect", action="store_true", help="leave Inspect AI out: nothing is installed"
    )
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--write-docs", type=Path, help="a page with marks that the tables are put between")
    given = parser.parse_args()
    if given.write_docs and not is_marked(given.write_docs):
        parser.error(f"{given.write_docs} has no marks: {BEGIN} {END}")
    where = f"commit {commit()}, Python {platform.python_version()}, {os.cpu_count()} cores"
    page = Page()
    page.add(f"{where}, load {os.getloadavg()[0]:.1f}\n")
    with queue() as redis_url:
        cells = compare(page, redis_url, rounds=given.rounds, with_inspect=not given.no_inspect)
        grown = growth(page, redis_url, given.sizes)
        shown = pictures(page)
        rest = small_things(page, redis_url, with_inspect=not given.no_inspect)
    found = {
        "where": where,
        "cells": [asdict(cell) for cell in cells],
        "growth": [asdict(one) for one in grown],
        "pictures": asdict(shown),
    }
    drawn = {
        "performance.svg": svg(cells, title=f"CPU ms per trial of four model calls; {where}"),
        "growth.svg": curves(panels_of(grown), title=f"A job of so many trials; {where}"),
    }
    folders = [given.out]
    if given.write_docs:
        page.write(given.write_docs)
        folders.append(given.write_docs.parent / "images")
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        for name, picture in drawn.items():
            (folder / name).write_text(picture)
    (given.out / "performance.json").write_text(json.dumps(found | rest, indent=2) + "\n")


if __name__ == "__main__":
    main()
