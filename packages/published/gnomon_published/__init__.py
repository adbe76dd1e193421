"""Benchmarks that others published, with the data and tools that they need."""
