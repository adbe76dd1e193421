"""Boxes: what a tracker would have drawn around a target in a camera's picture."""

import math

from gnomon.worlds.camera_model import Mount
from gnomon.worlds.movement import Journey
from tools.geometry.angles import bearing_deg, turn_deg

BoundingBox = tuple[float, float, float, float]  # x, y, width, height in pixels, y down

STEP_S = 0.05  # over which the direction of travel is taken


def box(mount: Mount, journey: Journey, time_s: float) -> BoundingBox:
    """The upright box of the target: the middle of its lower edge is where the target stands, to 0.1 pixels.

    Its upper edge stops at that of the picture; the sides may reach beyond, as a tracker's do.
    """
    xy_m = journey.at(time_s).xy_m
    u, foot, depth_m = mount.pixel(xy_m)
    _, head, _ = mount.pixel(xy_m, journey.body.height_m)
    width = _width_m(mount, journey, time_s) * mount.focal_px / depth_m
    top = max(head, 0.0)
    return (round(u - width / 2, 1), round(top, 1), round(width, 1), round(foot - round(top, 1), 1))


def _width_m(mount: Mount, journey: Journey, time_s: float) -> float:
    """How broad the body looks from the camera: its length seen side-on, its width head-on."""
    body = journey.body
    before, after = journey.at(time_s - STEP_S).xy_m, journey.at(time_s + STEP_S).xy_m
    if before == after:
        return body.width_m
    turn = math.radians(
        turn_deg(bearing_deg(mount.xy_m, journey.at(time_s).xy_m), bearing_deg(before, after))
    )
    return abs(math.sin(turn)) * body.length_m + abs(math.cos(turn)) * body.width_m
