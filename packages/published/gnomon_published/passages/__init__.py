"""Computes where and when targets pass through the views of cameras, for the tools on clips."""
