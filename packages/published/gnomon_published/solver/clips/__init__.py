"""Answers GTR-Bench's questions on clips of cameras by rules, for the reference model."""
