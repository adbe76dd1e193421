"""Boards: the models of jobs that asked the same questions in the same way, ranked."""
