"""Vehicles and people: how each looks, and its solid where it is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from random import Random

import numpy as np

from gnomon_tools.scene.scene import Point
from gnomon_worlds.camera_model import Mount
from gnomon_worlds.movement import PEDESTRIAN, VEHICLE, Body
from gnomon_worlds.rendering.solid import NOTHING, Colour, Panel, Patch, Sheet, Solid, darker, normal_of

PAINTS: tuple[Colour, ...] = (
    (214, 216, 220), (58, 62, 70), (150, 156, 164), (40, 78, 142), (232, 234, 232), (44, 104, 88),
    (206, 170, 60), (112, 84, 62), (120, 150, 182),
)  # fmt: skip  # no red: the box about the target is red
SHIRTS: tuple[Colour, ...] = (
    (58, 92, 150), (236, 236, 232), (70, 74, 82), (78, 132, 96), (222, 178, 74), (130, 98, 150),
    (96, 156, 176), (150, 118, 92),
)  # fmt: skip
TROUSERS: tuple[Colour, ...] = ((48, 54, 72), (70, 66, 62), (104, 110, 120), (120, 104, 84))
SKINS: tuple[Colour, ...] = ((236, 200, 172), (202, 156, 122), (142, 100, 74), (92, 64, 50))
HAIRS: tuple[Colour, ...] = ((44, 36, 32), (96, 68, 44), (176, 140, 88), (120, 118, 118))
GLASS: Colour = (52, 64, 78)
TYRE: Colour = (30, 31, 34)
BODIES = ("hatchback", "saloon", "van")
TALL = "tall"  # the shape of what is higher than cars
STEP_M = 1.35  # two steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a vehicle or a person looks like."""

    kind: str  # as the body's: vehicle or pedestrian
    shape: str
    main: Colour  # paint or shirt
    second: Colour = (0, 0, 0)  # trousers
    skin: Colour = (0, 0, 0)
    hair: Colour = (0, 0, 0)


def look_of(kind: str, rng: Random) -> Look:
    """Draw a look."""
    if kind == "vehicle":
        return Look(kind=kind, shape=rng.choice(BODIES), main=rng.choice(PAINTS))
    return Look(
        kind=kind,
        shape=rng.choice(("plain", "bag", "skirt")),
        main=rng.choice(SHIRTS),
        second=rng.choice(TROUSERS),
        skin=rng.choice(SKINS),
        hair=rng.choice(HAIRS),
    )


# Side views, from tail to nose: (along, up) as shares of length and height of the body and of the cabin.
_PROFILES = {
    "hatchback": (
        ((-0.5, 0.16), (-0.5, 0.58), (-0.2, 0.6), (0.22, 0.58), (0.47, 0.48), (0.5, 0.36), (0.5, 0.16)),
        ((-0.47, 0.58), (-0.39, 0.97), (0.04, 1.0), (0.24, 0.58)),
    ),
    "saloon": (
        ((-0.5, 0.16), (-0.5, 0.55), (-0.3, 0.6), (0.2, 0.58), (0.47, 0.48), (0.5, 0.36), (0.5, 0.16)),
        ((-0.36, 0.58), (-0.22, 0.96), (0.06, 0.98), (0.24, 0.58)),
    ),
    "van": (
        ((-0.5, 0.16), (-0.5, 0.56), (-0.2, 0.58), (0.3, 0.58), (0.48, 0.5), (0.5, 0.4), (0.5, 0.16)),
        ((-0.5, 0.56), (-0.48, 1.0), (0.22, 1.0), (0.37, 0.58)),
    ),
    TALL: (
        ((-0.5, 0.1), (-0.5, 0.96), (-0.49, 0.97), (0.3, 0.97), (0.36, 0.95), (0.5, 0.5), (0.5, 0.1)),
        ((0.3, 0.56), (0.301, 0.93), (0.36, 0.93), (0.47, 0.56)),
    ),
}  # fmt: skip


@lru_cache(64)
def vehicle(look: Look, size: Body = VEHICLE, *, at_night: bool = False) -> Solid:
    """A vehicle of that size that faces north at the origin, its middle above the origin."""
    length_m, half_m, height_m = size.length_m, size.width_m / 2, size.height_m
    body, cabin = (
        [(along * length_m, up * height_m) for along, up in profile] for profile in _PROFILES[look.shape]
    )
    sheets = _extruded(body, half_m, look.main, _wheels(length_m))
    sheets += _extruded(cabin, half_m * 0.9, look.main, _side_windows(cabin), glass_ends=True)
    nose, tail = length_m / 2 + 0.01, -length_m / 2 - 0.01
    bright = 1.6 if at_night else 0.2
    for side in (-1, 1):
        x = side * half_m * 0.68
        lamp = [(x - 0.2, nose, 0.52), (x - 0.2, nose, 0.7), (x + 0.2, nose, 0.7), (x + 0.2, nose, 0.52)]
        rear = [(x - 0.18, tail, 0.6), (x + 0.18, tail, 0.6), (x + 0.18, tail, 0.8), (x - 0.18, tail, 0.8)]
        sheets.append(Sheet(lamp, (255, 250, 226), glow=bright))
        sheets.append(Sheet(rear, (168, 34, 30), glow=bright * 0.7))
    plate = [(-0.26, tail, 0.4), (0.26, tail, 0.4), (0.26, tail, 0.52), (-0.26, tail, 0.52)]
    grille = [(-0.5, nose, 0.3), (-0.5, nose, 0.5), (0.5, nose, 0.5), (0.5, nose, 0.3)]
    return Solid.of([*sheets, Sheet(plate, (236, 236, 228)), Sheet(grille, (40, 42, 46))])


def _extruded(
    profile: Sequence[tuple[float, float]],
    half_m: float,
    paint: Colour,
    on_sides: Sequence[tuple[Sequence[tuple[float, float]], Colour]],
    *,
    glass_ends: bool = False,
) -> list[Sheet]:
    """A side view, given breadth; `on_sides` is painted on both sides, panes on the slopes at both ends.

    The profile goes from the lower tail over the top to the lower nose.
    """
    sheets = []
    for side in (-1, 1):
        order = 1 if side < 0 else -1  # anticlockwise from outside
        patches = [
            ([(side * half_m, along, up) for along, up in shape][::order], colour)
            for shape, colour in on_sides
        ]
        ring = [(side * half_m, along, up) for along, up in profile]
        sheets.append(Sheet(ring[::order], paint, patches))
    for number, ((a0, u0), (a1, u1)) in enumerate(pairwise(profile)):
        ring = [(-half_m, a0, u0), (half_m, a0, u0), (half_m, a1, u1), (-half_m, a1, u1)]
        patches = []
        if glass_ends and number in (0, len(profile) - 2):
            inner_m = half_m * 0.86
            a2, u2, a3, u3 = (
                a0 + 0.1 * (a1 - a0), u0 + 0.1 * (u1 - u0), a0 + 0.88 * (a1 - a0), u0 + 0.88 * (u1 - u0)
            )  # fmt: skip
            patches = [
                ([(-inner_m, a2, u2), (inner_m, a2, u2), (inner_m, a3, u3), (-inner_m, a3, u3)], GLASS)
            ]
        sheets.append(Sheet(ring, paint, patches))
    return sheets


def _wheels(length_m: float) -> list[tuple[list[tuple[float, float]], Colour]]:
    wheels: list[tuple[list[tuple[float, float]], Colour]] = [
        (
            [
                (-0.47 * length_m, 0.24),
                (0.47 * length_m, 0.24),
                (0.47 * length_m, 0.34),
                (-0.47 * length_m, 0.34),
            ],
            (44, 46, 50),
        )
    ]
    for middle_m in (-0.31 * length_m, 0.31 * length_m):
        for radius_m, colour in ((0.34, TYRE), (0.2, (150, 152, 156))):
            turns = [2 * math.pi * step / 14 for step in range(14)]
            wheels.append(
                (
                    [
                        (middle_m + radius_m * math.cos(turn), 0.345 + radius_m * math.sin(turn))
                        for turn in turns
                    ],
                    colour,
                )
            )
    return wheels


def _side_windows(cabin: Sequence[tuple[float, float]]) -> list[tuple[list[tuple[float, float]], Colour]]:
    """Two panes on a cabin's side, with the post between them left in the paint's colour."""
    (tail, low), (rear, high), (front, _), (nose, _) = cabin
    top, bottom = low + 0.86 * (high - low), low + 0.1 * (high - low)
    post = (rear + front) / 2 - 0.05
    return [
        ([(tail + 0.2, bottom), (rear + 0.14, top), (post, top), (post, bottom)], GLASS),
        ([(post + 0.12, bottom), (post + 0.12, top), (front - 0.02, top), (nose - 0.22, bottom)], GLASS),
    ]


def pedestrian(
    look: Look, at: Point, mount: Mount, *, turn_rad: float, walked_m: float, width_m: float
) -> Solid:
    """A walking person at a point, flat and turned to the camera; no broader than `width_m`.

    `turn_rad`: the direction of walking against that of looking; 0 is away from the camera, positive to the
    right.
    """
    height_m, half_m = PEDESTRIAN.height_m, width_m / 2
    sideways = math.sin(turn_rad)
    phase = math.sin(2 * math.pi * walked_m / STEP_M)
    hip, knee, shoulder = 0.5 * height_m, 0.27 * height_m, 0.8 * height_m
    broad = half_m * (0.62 + 0.34 * abs(math.cos(turn_rad)))
    shapes: list[tuple[list[tuple[float, float]], Colour]] = []
    for side in (-1, 1):
        swing = side * phase * sideways * half_m * 0.72
        apart = side * 0.28 * half_m * abs(math.cos(turn_rad))
        lift = max(0.0, side * phase) * 0.05 * abs(math.cos(turn_rad))
        bent = 0.1 * sideways * half_m * (1 - side * phase)
        leg = [(apart, hip), (apart + 0.5 * swing + bent, knee), (apart + swing, 0.07 + lift)]
        tone = 1.0 if side > 0 else 0.78
        cloth = darker(look.second if look.shape != "skirt" else look.skin, tone)
        shapes += [(_limb(leg[0], leg[1], 0.095, 0.075), cloth), (_limb(leg[1], leg[2], 0.072, 0.055), cloth)]
        toe = 0.12 * sideways if abs(sideways) > 0.3 else 0.0
        shapes.append(
            (
                _limb((apart + swing, 0.045 + lift), (apart + swing + toe, 0.045 + lift), 0.05, 0.045),
                (40, 38, 40),
            )
        )
    arms = []
    for side in (-1, 1):
        swing = -side * phase * sideways * half_m * 0.6
        at_m = side * (broad - 0.055) * (0.35 + 0.65 * abs(math.cos(turn_rad)))
        hand = (max(-half_m + 0.05, min(half_m - 0.05, at_m + swing)), 0.47 * height_m)
        sleeve = darker(look.main, 0.86 if side < 0 else 0.94)
        arms.append(
            [
                (_limb((at_m * 0.92, shoulder - 0.03), hand, 0.055, 0.042), sleeve),
                (_disc(hand, 0.05), look.skin),
            ]
        )
    if sideways:
        shapes += arms[0]
    if look.shape == "skirt":
        shapes.append(
            (
                [
                    (-0.8 * broad, knee + 0.08), (0.8 * broad, knee + 0.08),
                    (0.6 * broad, hip + 0.08), (-0.6 * broad, hip + 0.08),
                ],
                look.second,
            )
        )  # fmt: skip
    torso = [
        (-broad * 0.66, hip - 0.03), (broad * 0.66, hip - 0.03), (broad * 0.74, 0.66 * height_m),
        (broad * 0.86, shoulder - 0.02), (broad * 0.5, shoulder + 0.05), (-broad * 0.5, shoulder + 0.05),
        (-broad * 0.86, shoulder - 0.02), (-broad * 0.74, 0.66 * height_m),
    ]  # fmt: skip
    shapes.append((torso, look.main))
    if look.shape == "bag":
        away = math.cos(turn_rad)
        middle = -0.55 * sideways * half_m
        if away > -0.5:
            shapes.append(
                (_limb((middle, 0.6 * height_m), (middle, 0.74 * height_m), 0.11, 0.1), (66, 60, 54))
            )
    shapes += arms[1] if sideways else [*arms[0], *arms[1]]
    head = (0.03 * sideways, 0.925 * height_m)
    shapes.append((_limb((0.0, shoulder), (head[0], 0.87 * height_m), 0.05, 0.05), look.skin))
    shapes.append((_disc(head, 0.112, 0.125), look.skin))
    facing_away = math.cos(turn_rad) > 0.35
    hair_low = -0.4 if facing_away else 0.25
    turns = [2 * math.pi * step / 16 for step in range(16)]
    hair = [
        (head[0] + 0.116 * math.cos(turn) - 0.012 * sideways, head[1] + 0.127 * max(math.sin(turn), hair_low))
        for turn in turns
    ]
    shapes.append((hair, look.hair))
    return _billboard(at, mount, shapes, half_m, height_m)


def _billboard(
    at: Point,
    mount: Mount,
    shapes: Sequence[tuple[Sequence[tuple[float, float]], Colour]],
    half_m: float,
    top_m: float,
) -> Solid:
    """Shapes on one plane through a point, as broad and as upright in the picture as the point's box is.

    A camera that looks down sees upright things lean outwards and widen towards it; boxes do neither. So the
    plane leans as far inwards, along the camera's right, and narrows upwards; depths stay as they are.
    """
    look = math.radians(mount.heading_deg)
    right = (math.cos(look), -math.sin(look))
    x_m, y_m = at[0] - mount.xy_m[0], at[1] - mount.xy_m[1]
    ahead_m, aside_m = x_m * math.sin(look) + y_m * math.cos(look), x_m * right[0] + y_m * right[1]
    sine, cosine = math.sin(mount.tilt_rad), math.cos(mount.tilt_rad)
    depth_m = max(ahead_m * cosine + mount.height_m * sine, 0.1)
    lean = -aside_m * sine / depth_m
    narrowing = sine / depth_m

    frame = [(-half_m, 0.0), (half_m, 0.0), (half_m, top_m), (-half_m, top_m)]
    drawn = [frame, *(shape for shape, _ in shapes)]
    ends = list(accumulate(len(shape) for shape in drawn))
    corners = np.array([corner for shape in drawn for corner in shape])
    across, up = corners[:, 0].clip(-half_m, half_m), corners[:, 1].clip(0.0, top_m)
    across = across * (1 - up * narrowing) + lean * up
    points_m = np.column_stack([at[0] + across * right[0], at[1] + across * right[1], up])
    colours = [NOTHING, *(colour for _, colour in shapes)]
    patches = tuple(map(Patch, (0, *ends), ends, colours))
    return Solid(
        points_m=points_m,
        normals=np.array([normal_of(points_m[: len(frame)].tolist())]),
        panels=(Panel(patches, 0.0),),
    )


_ARC = tuple((math.cos(math.pi * step / 5), math.sin(math.pi * step / 5)) for step in range(6))
_ROUND = tuple((math.cos(2 * math.pi * step / 14), math.sin(2 * math.pi * step / 14)) for step in range(14))


def _limb(
    start: tuple[float, float], end: tuple[float, float], radius_m: float, end_radius_m: float
) -> list[tuple[float, float]]:
    """A round-ended bar."""
    across, up = end[0] - start[0], end[1] - start[1]
    length_m = math.hypot(across, up) or 1.0
    across, up = across / length_m, up / length_m
    # Half circles about both ends: from the left round the back, from the right round the front.
    back = [
        (start[0] + radius_m * (-c * up - s * across), start[1] + radius_m * (c * across - s * up))
        for c, s in _ARC
    ]
    front = [
        (end[0] + end_radius_m * (c * up + s * across), end[1] + end_radius_m * (s * up - c * across))
        for c, s in _ARC
    ]
    return back + front


def _disc(
    middle: tuple[float, float], radius_m: float, tall_m: float | None = None
) -> list[tuple[float, float]]:
    return [(middle[0] + radius_m * c, middle[1] + (tall_m or radius_m) * s) for c, s in _ROUND]
