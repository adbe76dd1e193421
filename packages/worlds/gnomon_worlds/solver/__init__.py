"""Answers questions on worlds by rules, for the reference model."""
