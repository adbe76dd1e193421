"""Scenes: fixed places with cameras, roads or floors, and a map.

Start at `scene.py`, the objects, and `format.py`, which reads and writes files (docs/scenes.md).
`document.py` checks a file, `decode.py` makes a scene of it, `frame.py` maps degrees to metres, and
`scene_cache.py` keeps what is derived from a scene.
"""
