"""Draws a map as a picture, with names and a scale, from a scene."""
