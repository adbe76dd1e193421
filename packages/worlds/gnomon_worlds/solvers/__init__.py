"""Solvers for the reference model; each module is one."""
