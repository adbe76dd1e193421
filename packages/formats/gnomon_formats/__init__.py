"""Reads and writes trials in the formats of other tools."""
