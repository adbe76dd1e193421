"""Draws a recording from above, with what each camera sees, where it stands, and where targets went."""

import io
import math
import textwrap
from itertools import pairwise

import numpy as np
import shapely
from PIL import Image, ImageDraw
from shapely.geometry.base import BaseGeometry

from gnomon_published.drawn_maps.letters import font_of
from gnomon_worlds.tracking.calibration import GroundPoints
from gnomon_worlds.tracking.look import Look
from gnomon_worlds.tracking.neutral_form import Array

SIDE_PX = 1400
EDGE_PX = 50
FINER = 2
POINTS = 26
COLOURS = ("#3366cc", "#b8541b", "#1b8a5a", "#8a3ab9", "#a3262a", "#12808f", "#7a6a00", "#5b5b5b")
PALE, DARK = "#c9c9c9", "#222222"


def picture_of(look: Look) -> bytes:
    """The plan as PNG, metres to scale, north (y) up; a camera far from all views is drawn at the edge."""
    boxes = look.tracking.boxes
    hulls = {
        index: look.tracking.cameras[index].view or _hull_of(look.ground, boxes.camera == index)
        for index in range(len(look.tracking.cameras))
    }
    shapes = [hull for hull in hulls.values() if hull is not None and not hull.is_empty]
    shapes += [shapely.MultiPoint(track.xy_m) for track in look.tracking.tracks.values()]
    if not shapes:
        shapes = [shapely.Point(0, 0).buffer(10)]
    west, south, east, north = shapely.total_bounds(shapes).tolist()
    room_m = 0.15 * max(east - west, north - south, 1.0)
    low, high = np.array([west - room_m, south - room_m]), np.array([east + room_m, north + room_m])
    scale = FINER * (SIDE_PX - 2 * EDGE_PX) / float((high - low).max())
    size = ((high - low) * scale + 2 * EDGE_PX * FINER).astype(int)

    def pixels(xy_m: Array) -> list[tuple[float, float]]:
        inside = np.clip(np.asarray(xy_m, dtype=float).reshape(-1, 2), low, high)
        xs, ys = ((inside - low) * scale + EDGE_PX * FINER).T
        return list(zip(xs.tolist(), (size[1] - ys).tolist(), strict=True))

    image = Image.new("RGB", (int(size[0]), int(size[1])), "white")
    pen = ImageDraw.Draw(image, "RGBA")
    for track in look.tracking.tracks.values():
        pen.line(pixels(track.xy_m), fill=PALE, width=FINER)
    for seen in look.seen.values():
        for one in seen:
            rows = one.rows[look.ground.on_floor[one.rows]]
            if len(rows) > 1:
                pen.line(pixels(look.ground.xy_m[rows[:: max(1, len(rows) // 40)]]), fill=PALE, width=FINER)
    font, lines, labels = font_of(POINTS * FINER // 2), list[str](), list[tuple[float, float]]()
    for index, hull in hulls.items():
        camera, colour = look.tracking.cameras[index], COLOURS[index % len(COLOURS)]
        eye_m = look.eye_m(camera)
        if hull is None or hull.geom_type != "Polygon":
            lines.append(f"{camera.id}: sees nothing of the floor")
            continue
        ring = pixels(shapely.get_coordinates(hull))
        pen.polygon(ring, fill=f"{colour}26")
        pen.line([*ring, ring[0]], fill=colour, width=2 * FINER)
        middle = pixels(shapely.get_coordinates(shapely.centroid(hull)))[0]
        if eye_m is not None:
            at = pixels(np.array([eye_m]))[0]
            _dashes(pen, at, middle, colour)
            pen.ellipse([at[0] - 9, at[1] - 9, at[0] + 9, at[1] + 9], fill=colour, outline="white", width=2)
        labels.append(_label_at(ring, labels))
        pen.text(
            labels[-1], camera.id, fill=colour, font=font, anchor="mb", stroke_width=4, stroke_fill="white"
        )
    lines += [f"{'!' if finding.refused else '·'} {finding}" for finding in look.findings]
    return _with_lines(image, lines, scale)


def _label_at(ring: list[tuple[float, float]], labels: list[tuple[float, float]]) -> tuple[float, float]:
    """The highest corner of a view that no label is near; if there is none, the one farthest from all."""
    apart_px = {
        corner: min((math.dist(corner, label) for label in labels), default=math.inf) for corner in ring
    }
    free = [corner for corner, apart in apart_px.items() if apart > 4 * POINTS * FINER]
    return min(free, key=lambda corner: corner[1]) if free else max(apart_px, key=apart_px.__getitem__)


def _dashes(
    pen: ImageDraw.ImageDraw, start: tuple[float, float], end: tuple[float, float], colour: str
) -> None:
    count = max(1, int(math.dist(start, end) / 16))
    points = [(start[0] + (end[0] - start[0]) * at / count, start[1] + (end[1] - start[1]) * at / count)
              for at in range(count + 1)]  # fmt: skip
    for number, (a, b) in enumerate(pairwise(points)):
        if number % 2 == 0:
            pen.line([a, b], fill=colour, width=FINER)


def _with_lines(image: Image.Image, lines: list[str], scale: float) -> bytes:
    """The plan with its scale and, below, what was found."""
    bar_m = 10 ** math.floor(math.log10(max(image.width / scale / 4, 1e-3)))
    pen = ImageDraw.Draw(image)
    font = font_of(POINTS * FINER // 2)
    y = image.height - 24
    pen.line([(40, y), (40 + bar_m * scale, y)], fill=DARK, width=6)
    pen.text((40, y - 8), f"{bar_m:g} m, y up", fill=DARK, font=font, anchor="ls")
    plan = image.reduce(FINER)
    small = font_of(18)
    width = max(plan.width, 900)
    lines = [line.replace("×", "x") for line in lines]  # a letter that Pillow's font lacks
    wrapped = [part for line in lines for part in textwrap.wrap(line, width // 9, subsequent_indent="   ")]
    sheet = Image.new("RGB", (width, plan.height + 26 * len(wrapped) + 30), "white")
    sheet.paste(plan, (0, 0))
    pen = ImageDraw.Draw(sheet)
    for number, line in enumerate(wrapped):
        pen.text((EDGE_PX // 2, plan.height + 10 + 26 * number), line, fill=DARK, font=small)
    buffer = io.BytesIO()
    sheet.save(buffer, format="PNG")
    return buffer.getvalue()


def _hull_of(ground: GroundPoints, rows: np.ndarray) -> BaseGeometry | None:
    """What a camera sees of the floor: the hull of its feet, but for one in a hundred to each side."""
    points_m = ground.xy_m[rows & ground.on_floor]
    if len(points_m) < 3:
        return None
    low, high = np.quantile(points_m, (0.01, 0.99), axis=0)
    usual = ((points_m >= low) & (points_m <= high)).all(axis=1)
    return shapely.MultiPoint(points_m[usual]).convex_hull
