"""Analyses of stored jobs: figures of rows and traces, and labels that judge models give."""
