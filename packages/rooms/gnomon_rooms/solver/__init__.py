"""Reads and answers questions about rooms, for the reference model."""
