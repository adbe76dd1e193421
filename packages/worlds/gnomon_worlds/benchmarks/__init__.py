"""Benchmarks of generated worlds; each folder is one."""
