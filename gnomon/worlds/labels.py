"""Labels: where a text can stand on a map without covering another."""

from collections.abc import Iterator, Sequence

import shapely
from shapely import Polygon, box

from tools.scene.scene import Point

REACHES_PX = (10.0, 18.0, 28.0, 42.0, 60.0)  # from the marked point to the label's edge
SIDES = ((1, 0), (-1, 0), (0, -1), (0, 1), (0.8, -0.8), (-0.8, -0.8), (0.8, 0.8), (-0.8, 0.8))


class Labels:
    """The areas of a picture that are taken, and a search for free ones."""

    def __init__(self, sheet_px: Polygon) -> None:
        self._sheet = sheet_px
        self._taken: list[Polygon] = []

    def take(self, area: Polygon) -> None:
        """Keep an area free of labels."""
        self._taken.append(area)

    def is_free(self, area: Polygon) -> bool:
        """Whether a label on `area` lies on the sheet and touches nothing that is taken."""
        return self._sheet.covers(area) and not shapely.intersects(self._taken, area).any()

    def beside(self, at_px: Point, size_px: tuple[float, float], avoid: Sequence[Polygon] = ()) -> Polygon:
        """A place for a label next to a point, now taken: the free one that covers least of `avoid`.

        Where all are taken it is the nearest to the right.
        """
        places = [place for place in _around(at_px, size_px) if self.is_free(place)]
        best = min(places, key=lambda place: self._cost(place, avoid), default=next(_around(at_px, size_px)))
        self.take(best)
        return best

    @staticmethod
    def _cost(place: Polygon, avoid: Sequence[Polygon]) -> float:
        return float(shapely.area(shapely.intersection(avoid, place)).sum()) if len(avoid) else 0.0


def _around(at_px: Point, size_px: tuple[float, float]) -> Iterator[Polygon]:
    """Boxes around a point, near ones first."""
    width, height = size_px
    for reach in REACHES_PX:
        for east, south in SIDES:
            x = at_px[0] + east * (reach + width / 2)
            y = at_px[1] + south * (reach + height / 2)
            yield box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)
