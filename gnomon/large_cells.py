"""Cells of CSV that may hold pictures."""

import csv

MAX_CELL = 64_000_000  # characters


def allow_large_cells() -> None:
    """Let a cell be as long as a picture's base64. The usual limit, 131,072 characters, is of the whole
    process, so it stays raised: readers can be open side by side.
    """
    csv.field_size_limit(MAX_CELL)
