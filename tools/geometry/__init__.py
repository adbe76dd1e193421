"""Plane geometry that the tools share. Angles are compass degrees, lengths metres."""
