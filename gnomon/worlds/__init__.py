"""Worlds that Gnomon generates: places, cameras, movements and questions with exact truth."""
