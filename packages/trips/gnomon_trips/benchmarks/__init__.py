"""Benchmarks of planned trips; each folder is one."""
