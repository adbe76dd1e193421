"""Arm presets: each public module here is one."""
