"""Answers planning questions by rules, for the reference model."""
