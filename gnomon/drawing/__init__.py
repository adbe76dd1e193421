"""Draws scenes, sketches and clocks as SVG, for live pages and for reports that stand alone."""
