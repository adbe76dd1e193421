"""Gives a scene's cameras, streets, shops and rooms one another's names."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from gnomon.core.derangement import derangement
from gnomon_tools.scene.scene import Scene

KEPT = 64
_NUMBERED = re.compile(r"(.*\D)(\d+)")  # Office 217


@dataclass(frozen=True, slots=True, eq=False)
class NewNames:
    """The renamed scene, and the new ids of its cameras by their old ones."""

    scene: Scene
    cameras: Mapping[str, str]


@lru_cache(KEPT)
def renamed_scene(scene: Scene, seed: int) -> NewNames:
    """The scene with names dealt anew by lot, among those it has; it has no map picture.

    Each camera gets another camera's id. Streets and named places exchange the first words of their names,
    rooms of a floor their numbers, also in their ids. Kinds stay: a bakery remains one.

    Raises:
        DataError: it has fewer than two cameras.
    """
    rng = Random(seed)
    cameras = derangement(sorted(scene.cameras), rng)
    words = _new_words(scene, rng)
    zone_ids, zone_names = _new_rooms(scene, rng)
    renamed = replace(
        scene,
        map_image=None,
        cameras={cameras[name]: replace(camera, id=cameras[name]) for name, camera in scene.cameras.items()},
        roads={name: replace(road, name=_reworded(road.name, words)) for name, road in scene.roads.items()},
        zones={
            zone_ids[name]: replace(zone, id=zone_ids[name], name=zone_names[name])
            for name, zone in scene.zones.items()
        },
        portals={
            name: replace(portal, zones=(zone_ids[portal.zones[0]], zone_ids[portal.zones[1]]))
            for name, portal in scene.portals.items()
        },
        places={
            name: replace(place, name=_reworded(place.name, words)) for name, place in scene.places.items()
        },
    )
    return NewNames(renamed, cameras)


def _new_words(scene: Scene, rng: Random) -> Mapping[str, str]:
    """The first words of names of streets and of what lies along them."""
    if not scene.roads:
        return {}
    names = [road.name for road in scene.roads.values()] + [place.name for place in scene.places.values()]
    words = sorted({name.split()[0] for name in names if " " in name})
    return derangement(words, rng) if len(words) > 1 else {}


def _reworded(name: str, words: Mapping[str, str]) -> str:
    first, blank, rest = name.partition(" ")
    return f"{words[first]}{blank}{rest}" if blank and first in words else name


def _new_rooms(scene: Scene, rng: Random) -> tuple[dict[str, str], dict[str, str]]:
    """New ids and names of zones: numbers change hands within a floor."""
    ids = {name: name for name in scene.zones}
    names = {name: zone.name for name, zone in scene.zones.items()}
    by_floor: dict[int, list[str]] = defaultdict(list)
    for name, zone in scene.zones.items():
        if (match := _NUMBERED.fullmatch(zone.name)) and name == f"z{match[2]}":
            by_floor[zone.floor].append(match[2])
    for floor in sorted(by_floor):
        if len(by_floor[floor]) < 2:
            continue
        for old, new in derangement(sorted(by_floor[floor]), rng).items():
            ids[f"z{old}"] = f"z{new}"
            names[f"z{old}"] = scene.zones[f"z{old}"].name.removesuffix(old) + new
    return ids, names
