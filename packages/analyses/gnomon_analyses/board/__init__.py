"""Ranks the models of jobs that asked the same questions in the same way, as a board."""
