"""The sections of the report: each public module here is one, found and never listed.

Start at `arms.py`, a plain one; what a section declares is in `gnomon/report/section.py`, and
docs/adding-a-section.md adds one. `gnomon/report/report.py` names every section's fields for type checkers.
"""
