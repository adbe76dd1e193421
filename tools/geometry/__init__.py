"""Geometry that tools share: angles, fields of view, homographies, networks."""
