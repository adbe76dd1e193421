"""Answers map questions by rules, for the reference model."""
