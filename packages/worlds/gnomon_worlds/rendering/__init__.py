"""Pictures and clips of what the cameras of generated worlds see.

Start at `clip.py`, from a question to the pictures of its clips; `film.py` makes them a file. `solid.py` says
what a picture is made of, `canvas.py` draws it with a depth for every pixel. `town.py` and `building.py` hold
what stands still, drawn once a camera by `scenery.py` in the light of `light.py`; `figures.py` and
`traffic.py` what moves. docs/benchmarks/worlds.md.
"""
