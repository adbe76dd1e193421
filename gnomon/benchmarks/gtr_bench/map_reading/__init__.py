"""Outdoor maps as data: masts, arrows, labels and the scale bar, read off the picture by colour and shape."""
