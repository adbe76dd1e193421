"""Geometry that tools share: angles, fields of view, networks.

Start at `network.py`: the shortest routes of a scene (`route.py`) over its roads (`road_graph.py`) or
floors (`indoor_graph.py`). Cameras: `field_of_view.py`, `camera_view.py`, `pose.py`. Movement:
`kinematics.py`, `polyline.py`. `angles.py` is under all of them.
"""
