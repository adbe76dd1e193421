"""Draws CPU per trial, by system and trials in flight, as an SVG."""

import math
from collections.abc import Sequence
from html import escape

from bench.performance.systems import Cell

BAR, GAP, LEFT, WIDTH, TOP = 16, 5, 260, 520, 64
TICKS_MS = (0.3, 1, 3, 10, 30, 100)
BUDGET_MS = 5.0
COLOURS = {
    "floor": "#888",
    "gnomon": "#1a8a5a",
    "gnomon, LiteLLM": "#8fbf6a",
    "LangGraph with aiohttp": "#3b6fb0",
    "LangGraph with LiteLLM": "#86a9d4",
    "inspect-ai": "#c8502a",
}


def _x(cpu_ms: float) -> float:
    low, high = math.log(TICKS_MS[0]), math.log(TICKS_MS[-1])
    return LEFT + WIDTH * (min(max(math.log(cpu_ms), low), high) - low) / (high - low)


def svg(cells: Sequence[Cell], *, title: str) -> str:
    """One bar a cell on a logarithmic axis; its whisker spans the rounds, the dashed line is the budget."""
    settings = sorted({(cell.setting.latency_ms, cell.setting.in_flight) for cell in cells})
    lines, y = [], TOP
    for latency_ms, in_flight in settings:
        wait = f"replies after {latency_ms} ms" if latency_ms else "replies at once"
        lines.append(f'<text x="10" y="{y + 13}" font-weight="bold">{in_flight} in flight, {wait}</text>')
        y += BAR + GAP
        for cell in cells:
            if (cell.setting.latency_ms, cell.setting.in_flight) == (latency_ms, in_flight):
                lines += _bar(cell, y)
                y += BAR + GAP
        y += 2 * GAP
    ticks = [f'<path d="M{_x(ms):.1f} {TOP - 4}V{y}" stroke="#ddd"/>' for ms in TICKS_MS]
    names = [f'<text x="{_x(ms):.1f}" y="{TOP - 8}" text-anchor="middle">{ms:g} ms</text>' for ms in TICKS_MS]
    budget = f'<path d="M{_x(BUDGET_MS):.1f} {TOP - 4}V{y}" stroke="#c00" stroke-dasharray="4 3"/>'
    parts = [*ticks, *names, *lines, budget]
    return framed(parts, title=title, width=LEFT + WIDTH + 90, height=y + 10)


def framed(parts: Sequence[str], *, title: str, width: int, height: int) -> str:
    """An SVG of these parts on white, below a title."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
    head += ' font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
    heading = f'<text x="10" y="24" font-size="15">{escape(title)}</text>'
    return "\n".join([head, heading, *parts, "</svg>\n"])


def _bar(cell: Cell, y: int) -> list[str]:
    x, low, high = _x(cell.median_ms), _x(min(cell.cpu_ms)), _x(max(cell.cpu_ms))
    return [
        f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(cell.system)}</text>',
        f'<rect x="{LEFT}" y="{y}" width="{x - LEFT:.1f}" height="{BAR}" fill="{COLOURS[cell.system]}"/>',
        f'<path d="M{low:.1f} {y + BAR / 2}H{high:.1f}" stroke="#000"/>',
        f'<text x="{high + 8:.1f}" y="{y + 12}">{cell.median_ms:.2f}</text>',
    ]
