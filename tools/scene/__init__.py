"""Scenes: fixed places with cameras, roads or floors, and a map."""
