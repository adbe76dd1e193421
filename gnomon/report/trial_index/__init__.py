"""Finds a job's trials by what they are and how they ended, from an Arrow batch in memory.

Start with `index.py`: `TrialIndex` counts, pages and compares. What it reads is in `trials.py`, the columns
in `columns.py`, what a reader chooses in `filters.py`, and the lists that it hands out in `entries.py`.
"""
