"""The kernel: samples, arms, trials, scores, statistics, benchmarks, worlds."""
