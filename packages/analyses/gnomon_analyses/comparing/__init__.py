"""Compares jobs over the same samples, and trials of one sample."""
