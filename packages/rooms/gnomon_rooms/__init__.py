"""Scanned rooms: questions whose answers follow from boxes, tools for boxes, a solver through the tools."""
