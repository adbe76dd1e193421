"""Audit: what a benchmark's questions give away before any model reasons about them.

Start at `audit.py`. A benchmark joins with a module `audit` in its folder (gnomon/core/audit_plugin.py);
`findings.py` holds the results, `tables.py` prints them. docs/audit.md.
"""
