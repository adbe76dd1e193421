"""Solvers of the reference model, one module each."""
