"""The benchmarks: each public module or folder here is one."""
