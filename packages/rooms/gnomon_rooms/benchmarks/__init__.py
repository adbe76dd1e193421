"""Benchmarks on scanned rooms, one folder each."""
