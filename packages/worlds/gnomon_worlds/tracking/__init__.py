"""Turns anyone's multi-camera tracking into GTR-Bench's seven tasks: tracks in, questions and a report out.

Start at `build.py`. `neutral_form.py` holds the neutral form and reads it; `reading.py` finds the reader of
other layouts (`published_layouts.py`, `mot.py`, `wildtrack.py`, `virtual.py`); `look.py` refuses what would
make wrong answers, and `check.py` tells it; `calibration.py` gives each camera its homography, `pictures.py`
its size; `sightings.py` reads off the rows who was seen when; `cleaning.py` makes paths of boxes;
`site_world.py` makes them a world, of which `asking.py` asks; `rules.py` measures what the benchmark's
authors checked by hand; `summary.py` tells a path in words; `report.py` writes it all down.
"""
