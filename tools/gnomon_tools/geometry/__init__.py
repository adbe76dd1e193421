"""Geometry that tools share: angles, fields of view, homographies, networks.

Start at `network.py`: the shortest routes of a scene (`route.py`) over its roads (`road_graph.py`) or
floors (`indoor_graph.py`, `stairs.py`). Cameras: `field_of_view.py`, `camera_view.py`, `view_crossing.py`
(a route that comes into view), `view_interval.py` (when it was in view), `homography.py`, `monocular.py`,
`pose.py`. Movement: `kinematics.py`, `polyline.py`, `motion_text.py`. `angles.py` is under all of them.
"""
