"""Turns anyone's multi-camera tracking into GTR-Bench's seven tasks: tracks in, questions and a report out.

Start at `build.py`. `tracking.py` holds the neutral form and reads it; `published_layouts.py` reads CityFlow
and MTMMC into it; `calibration.py` gives each camera its homography; `cleaning.py` makes paths of boxes;
`place.py` makes them a world, of which gnomon_worlds asks its questions; `rules.py` measures what the
benchmark's authors checked by hand; `summary.py` tells a path in words; `report.py` writes it all down.
"""
