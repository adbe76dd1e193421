"""Analyses stored jobs: counts in rows and traces, and labels that judge models give."""
