"""Arm presets, one per module: each public module defines one `Preset` of its own name.

What they share is in gnomon/spec/preset.py; start with `choice`, the shortest. docs/adding-a-preset.md shows
how to add one.
"""
