"""Changes scenes and texts exactly, for transformed questions."""
