"""Writes all that the tools could look up about a scene as text for a prompt."""

from collections.abc import Iterable, Iterator

from gnomon_tools.scene.boxes import HEADER as BOXES
from gnomon_tools.scene.scene import Camera, Point, Scene
from gnomon_tools.scene.scene_cache import cached_per_scene

HEADER = (
    "Facts about the scene. Positions are metres (x east, y north) on a floor; headings are degrees"
    " clockwise from north; a homography maps a picture's pixels (u, v, 1) to (x, y, 1) after division."
)
ARC_M = 0.25  # round edges of views are given by so few corners that none is further off
NO_SCENE = "Facts about the scene: none are known."


@cached_per_scene
def facts_of(scene: Scene) -> str:
    """Every camera, place, road, zone and passage with every number the scene holds; nothing is worked out.

    What is not known is left out. Made once per scene.
    """
    lines = [HEADER]
    if scene.frame.anchored:
        lines.append(
            f"The origin lies at latitude {scene.frame.lat_deg:.6f}, longitude {scene.frame.lon_deg:.6f}."
        )
    for title, lines_of_kind in (
        ("Cameras", [_camera(camera) for camera in scene.cameras.values()]),
        ("Places", list(_places(scene))),
        ("Roads", list(_roads(scene))),
        ("Zones", list(_zones(scene))),
        ("Passages between zones", list(_portals(scene))),
        (BOXES, [f"- {box.in_words()}" for box in scene.boxes.values()]),
    ):
        if lines_of_kind:
            lines += [f"{title}:", *lines_of_kind]
    return "\n".join(lines)


def _camera(camera: Camera) -> str:
    facts = [f"- {camera.id}: floor {camera.floor}"]
    if camera.xy_m is not None:
        facts.append(f"at {_point(camera.xy_m)}")
    if camera.position_error_m:
        facts.append(f"give or take {camera.position_error_m:.1f} m")
    for name, value, unit in (
        ("looks to", camera.heading_deg, " deg"),
        ("angle of view", camera.fov_deg, " deg"),
        ("sees up to", camera.range_m, " m"),
    ):
        if value is not None:
            facts.append(f"{name} {value:.1f}{unit}")
    if camera.field_of_view is not None:
        facts.append(f"sees the area {_line(camera.field_of_view.exterior.simplify(ARC_M).coords)}")
    if camera.image_size is not None:
        facts.append(f"picture {camera.image_size[0]} x {camera.image_size[1]} pixels")
    if camera.homography is not None:
        rows = ("[" + ", ".join(f"{value:.6g}" for value in row) + "]" for row in camera.homography)
        facts.append(f"homography [{', '.join(rows)}]")
    return ", ".join(facts)


def _places(scene: Scene) -> Iterator[str]:
    for place in scene.places.values():
        yield f"- {place.id}: {place.name} ({place.kind}), floor {place.floor}, at {_point(place.xy_m)}"


def _roads(scene: Scene) -> Iterator[str]:
    for road in scene.roads.values():
        name = f" {road.name}" if road.name else ""
        way = ", one way" if road.oneway else ""
        speed = f", {road.speed_mps:.1f} m/s" if road.speed_mps is not None else ""
        yield f"- {road.id}:{name}{way}{speed} along {_line(road.line.coords)}"


def _zones(scene: Scene) -> Iterator[str]:
    for zone in scene.zones.values():
        name = f" {zone.name}," if zone.name else ""
        yield f"- {zone.id}:{name} floor {zone.floor}, area {_line(zone.area.exterior.coords)}"


def _portals(scene: Scene) -> Iterator[str]:
    for portal in scene.portals.values():
        (first, second), (start, end) = portal.zones, portal.ends_m
        length = f", {portal.length_m:.1f} m long" if portal.length_m else ""
        ends = f"from {first} at {_point(start)} to {second} at {_point(end)}"
        way = ", this way only" if portal.is_oneway else ""
        yield f"- {portal.id}: {portal.kind} {ends}{length}{way}"


def _point(xy_m: Point) -> str:
    return f"({xy_m[0]:.1f}, {xy_m[1]:.1f})"


def _line(points: Iterable[tuple[float, ...]]) -> str:
    return " ".join(_point((point[0], point[1])) for point in points)
