"""An area or station of the gazetteer, and what looking one up gives back."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["prefecture", "municipality", "town", "station"]
KINDS: tuple[Kind, ...] = ("prefecture", "municipality", "station", "town")  # the commonest meaning first

APPROXIMATE_M = 2_000.0  # farther from all evidence, an answer is marked as approximate


@dataclass(frozen=True, slots=True, kw_only=True)
class GazetteerPlace:
    """A prefecture, municipality, town or station, at a point that stands for it (WGS 84 degrees).

    `name_en` is empty where no reading is known. `within` holds the ids of the areas it lies in, the
    prefecture first; a ward of a big city lies in the city, which is a municipality too.
    """

    id: str
    kind: Kind
    name_ja: str
    name_en: str
    lat_deg: float
    lon_deg: float
    within: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()  # of a station: operator and line
    shinkansen: bool = False
    weight: int = 0  # how many towns or lines it has: orders places of one name

    def is_in(self, area_id: str | None) -> bool:
        """Whether it is that area, or lies in it by its administrative code; None: anywhere."""
        return area_id is None or area_id == self.id or area_id in self.within


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A place that a name may mean; `score` in (0, 1], 1 for the full name."""

    place: GazetteerPlace
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """What lies around a point: told by the nearest town, `distance_m` away.

    `ward` is the ward of a big city, None elsewhere.
    """

    prefecture: GazetteerPlace
    municipality: GazetteerPlace
    ward: GazetteerPlace | None
    town: GazetteerPlace
    distance_m: float

    @property
    def approximate(self) -> bool:
        """Whether the nearest evidence is farther than APPROXIMATE_M."""
        return self.distance_m > APPROXIMATE_M


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A place and how far it is."""

    place: GazetteerPlace
    distance_m: float
