"""How a scene's metres map to degrees on the Earth."""

import math
from dataclasses import dataclass

from geographiclib.geodesic import Geodesic


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Azimuthal equidistant plane about an origin on the WGS 84 ellipsoid; x east, y north, metres.

    An unanchored frame is a place whose whereabouts nobody knows: its metres hold, its degrees are nominal.
    Formula: distance and azimuth from the origin are those of the geodesic (Karney 2013, by geographiclib).
    """

    lon_deg: float = 0.0
    lat_deg: float = 0.0
    anchored: bool = False

    def to_wgs84(self, xy_m: tuple[float, float]) -> tuple[float, float]:
        """Local metres to (longitude, latitude) in degrees.

        >>> Frame(lon_deg=24.94, lat_deg=60.17).to_wgs84((0.0, 0.0))
        (24.94, 60.17)
        """
        x_m, y_m = xy_m
        azimuth_deg = math.degrees(math.atan2(x_m, y_m))
        end = Geodesic.WGS84.Direct(self.lat_deg, self.lon_deg, azimuth_deg, math.hypot(x_m, y_m))
        return end["lon2"], end["lat2"]

    def geodesic(self, start_m: tuple[float, float], end_m: tuple[float, float]) -> tuple[float, float]:
        """Length in metres and initial true azimuth in degrees of the geodesic between two local points.

        >>> length_m, azimuth_deg = Frame(lat_deg=60.0).geodesic((0.0, -50.0), (0.0, 50.0))
        >>> round(length_m, 6), azimuth_deg
        (100.0, 0.0)
        """
        (lon1, lat1), (lon2, lat2) = self.to_wgs84(start_m), self.to_wgs84(end_m)
        line = Geodesic.WGS84.Inverse(lat1, lon1, lat2, lon2)
        return line["s12"], line["azi1"]

    def distance_m(self, start_m: tuple[float, float], end_m: tuple[float, float]) -> float:
        """Straight-line metres: the geodesic's where the frame is anchored, else the plane's."""
        return self.geodesic(start_m, end_m)[0] if self.anchored else math.dist(start_m, end_m)

    def to_local(self, lon_lat_deg: tuple[float, float]) -> tuple[float, float]:
        """(Longitude, latitude) in degrees to local metres."""
        lon_deg, lat_deg = lon_lat_deg
        line = Geodesic.WGS84.Inverse(self.lat_deg, self.lon_deg, lat_deg, lon_deg)
        azimuth = math.radians(line["azi1"])
        return line["s12"] * math.sin(azimuth), line["s12"] * math.cos(azimuth)
