"""Published benchmarks; each folder is one."""
