"""Plot: CPU a trial, by system and trials in flight, as an SVG without help."""

from collections.abc import Sequence
from html import escape

from bench.performance.systems import Cell

BAR, GAP, LEFT, SCALE = 18, 6, 250, 9.0
COLOURS = {"floor": "#888", "gnomon": "#1a6", "gnomon, LiteLLM": "#7b4", "inspect-ai": "#c52"}


def svg(cells: Sequence[Cell], *, title: str) -> str:
    """One bar a cell; its whisker spans the rounds."""
    lines, y = [], 40
    for cell in cells:
        setting = f"{cell.system}, {cell.setting.in_flight} in flight, {cell.setting.latency_ms} ms"
        x = LEFT + cell.median_ms * SCALE
        low, high = LEFT + min(cell.cpu_ms) * SCALE, LEFT + max(cell.cpu_ms) * SCALE
        middle = y + BAR / 2
        lines += [
            f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(setting)}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{x - LEFT:.1f}" height="{BAR}" fill="{COLOURS[cell.system]}"/>',
            f'<path d="M{low:.1f} {middle}H{high:.1f}" stroke="#000"/>',
            f'<text x="{high + 8:.1f}" y="{y + 13}">{cell.median_ms:.2f}</text>',
        ]
        y += BAR + GAP
    width = LEFT + max(max(cell.cpu_ms) for cell in cells) * SCALE + 80
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{y + 10}"'
    head += ' font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
    return "\n".join([head, f'<text x="10" y="22" font-size="15">{escape(title)}</text>', *lines, "</svg>\n"])
