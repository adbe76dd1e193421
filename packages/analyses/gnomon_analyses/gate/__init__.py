"""Judges whether a new job is not worse than an earlier one. Start at `gate.py`; docs/gate.md."""
