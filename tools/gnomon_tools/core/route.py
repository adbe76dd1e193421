"""Measures how far two points of a scene are apart, straight and by its network."""

from dataclasses import dataclass

from gnomon_tools.core.location import Location, Position, locate
from gnomon_tools.core.tool import ToolError
from gnomon_tools.geometry.network import Network
from gnomon_tools.geometry.route import Path
from gnomon_tools.scene.scene import Scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Between two located points. `path` is None only where the scene has no network."""

    start: Position
    end: Position
    straight_m: float
    path: Path | None

    @property
    def straight_error_m(self) -> float:
        """At most so far off: what both points may be off, together."""
        return self.start.error_m + self.end.error_m

    @property
    def path_error_m(self) -> float:
        """What both points may be off, and how far they lie from the network."""
        snap_m = self.path.start_snap_m + self.path.end_snap_m if self.path else 0.0
        return self.straight_error_m + snap_m


def measure_route(scene: Scene, start: Location, end: Location) -> Route:
    """Measure between two locations.

    The straight line is the geodesic on the WGS 84 ellipsoid in an anchored scene, else that of the plane;
    between floors it is its horizontal part, for heights of floors are not known.

    Raises:
        ToolError: a location is not found, or the network does not join the two.
    """
    here, there = locate(scene, start), locate(scene, end)
    straight_m = scene.frame.distance_m(here.xy_m, there.xy_m)
    network = Network.of(scene)
    if network.empty:
        return Route(start=here, end=there, straight_m=straight_m, path=None)
    path = network.path(here.xy_m, here.floor, there.xy_m, there.floor)
    if path is None:
        raise ToolError(
            f"No way leads from the start (floor {here.floor}) to the end (floor {there.floor});"
            f" in a straight line it is {straight_m:.1f} m."
        )
    return Route(start=here, end=there, straight_m=straight_m, path=path)


def no_network(scene: Scene) -> str:
    """Why there is no path."""
    ground = "roads" if scene.kind == "outdoor" else "zones"
    return f"the scene has no {ground}, so only the straight line is known"
