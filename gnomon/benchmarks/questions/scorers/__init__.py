"""Scorers by name: a module for each kind of answer; `scorers.py` makes them of what a file or spec names."""
