"""Another sample's scene under the names of the scene that a question is about.

Cameras, places, roads, zones and passages have the ids and names of the question's scene, and the positions,
views, homographies and ways of the other one. So every call about a thing of the question's scene finds one,
and no result names a thing that is not there.
"""

import random
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import cycle
from typing import TypeVar

from gnomon_tools.scene.scene import Camera, Portal, Road, Scene, ScenePlace, Zone

# An id that the question's scene has too few of is used again; what tells the two apart is never shown.
_AGAIN = re.compile("\ue000\\d+\ue001")
KEPT = 16

T = TypeVar("T")
Item = TypeVar("Item", Camera, ScenePlace)


def without_marks(content: str) -> str:
    """A result's text without the marks of ids that are used again."""
    return _AGAIN.sub("", content)


def is_same_place(first: Scene, second: Scene) -> bool:
    """Whether two scenes are one place: the same kind, with the same cameras where they are in the other."""
    return first is second or (
        first.kind == second.kind and _whereabouts(first) == _whereabouts(second) and bool(first.cameras)
    )


def _whereabouts(scene: Scene) -> Mapping[str, object]:
    return {camera.id: (camera.xy_m, camera.heading_deg) for camera in scene.cameras.values()}


@lru_cache(KEPT)
def stand_in(asked: Scene, other: Scene, seed: int) -> Scene:
    """`other` with the ids and names of `asked`, given out by chance.

    Each camera of `asked` becomes one of `other` about which as much is known, as long as there is one;
    cameras and places that `asked` lacks are left out. With `other` the same scene as `asked`, no camera and
    no place stays what it was, as far as there are two.
    """
    chance = random.Random(f"stand-in {seed}")
    is_same = is_same_place(asked, other)
    zone_ids = _renamed(asked.zones, other.zones, lambda zone: zone.floor)
    portal_ids = _renamed(asked.portals, other.portals, lambda portal: portal.kind)
    road_ids = _renamed(asked.roads, other.roads, lambda road: bool(road.name))
    street = _renamed_streets(asked, other)
    return replace(
        other,
        id=asked.id,
        frame=asked.frame,
        map_image=asked.map_image,
        attribution=asked.attribution,
        cameras={
            name: _camera(asked.cameras[name], camera)
            for name, camera in _dealt(asked.cameras, other.cameras, _known_fields, chance, is_same=is_same)
        },
        places={
            name: replace(asked.places[name], xy_m=place.xy_m, floor=place.floor)
            for name, place in _dealt(asked.places, other.places, lambda _: None, chance, is_same=is_same)
        },
        roads={name: _road(road, name, street) for name, road in _under(road_ids, other.roads)},
        zones={
            name: _zone(zone, name, asked.zones.get(without_marks(name)))
            for name, zone in _under(zone_ids, other.zones)
        },
        portals={name: _portal(portal, name, zone_ids) for name, portal in _under(portal_ids, other.portals)},
    )


def _camera(asked: Camera, other: Camera) -> Camera:
    """The other camera under the name of the question's, with pictures of its size."""
    size, homography = asked.image_size, other.homography
    if homography is not None and size and other.image_size and size != other.image_size:
        width, height = (theirs / ours for theirs, ours in zip(other.image_size, size, strict=True))
        import numpy as np  # late: few trials have a blind placebo

        homography = homography @ np.diag([width, height, 1.0])
    return replace(other, id=asked.id, image_size=size or other.image_size, homography=homography)


def _road(road: Road, name: str, street: Mapping[str, str]) -> Road:
    return replace(road, id=name, name=street.get(road.name, ""))


def _zone(zone: Zone, name: str, asked: Zone | None) -> Zone:
    return replace(zone, id=name, name=asked.name if asked else "")


def _portal(portal: Portal, name: str, zone_ids: Mapping[str, str]) -> Portal:
    first, second = portal.zones
    return replace(portal, id=name, zones=(zone_ids.get(first, first), zone_ids.get(second, second)))


def _renamed_streets(asked: Scene, other: Scene) -> dict[str, str]:
    theirs = dict.fromkeys(road.name for road in other.roads.values() if road.name)
    ours = list(dict.fromkeys(road.name for road in asked.roads.values() if road.name))
    return dict(zip(theirs, cycle(ours), strict=False)) if ours else {}


def _known_fields(camera: Camera) -> Hashable:
    """Which fields of a camera are known, and so what results about it hold."""
    fields = (camera.xy_m, camera.heading_deg, camera.fov_deg, camera.range_m, camera.homography)
    return tuple(value is not None for value in fields)


def _dealt(
    asked: Mapping[str, Item],
    other: Mapping[str, Item],
    alike: Callable[[Item], Hashable],
    chance: random.Random,
    *,
    is_same: bool,
) -> list[tuple[str, Item]]:
    """Each name of `asked` with an item of `other`, by chance among those alike while there are some."""
    if not other:
        return list(asked.items())
    names = list(asked)
    chance.shuffle(names)
    if is_same:  # each becomes the next one of a random cycle
        following = dict(zip(names, names[1:] + names[:1], strict=True))
        return [(name, other[following[name]]) for name in asked]
    pool = list(other.values())
    chance.shuffle(pool)
    left, dealt = list(pool), {}
    for name in names:
        left = left or list(pool)  # more names than items: some are given out again
        form = alike(asked[name])
        index = next((at for at, item in enumerate(left) if alike(item) == form), 0)
        dealt[name] = left.pop(index)
    return [(name, dealt[name]) for name in asked]


def _renamed(asked: Mapping[str, T], other: Mapping[str, T], kind: Callable[[T], Hashable]) -> dict[str, str]:
    """Each id of `other` with an id of `asked`, of an item of the same kind while there are any at all."""
    by_kind: dict[Hashable, list[str]] = {}
    for name, item in asked.items():
        by_kind.setdefault(kind(item), []).append(name)
    used: dict[str, int] = {}
    renamed: dict[str, str] = {}
    places: dict[Hashable, int] = {}
    for name, item in other.items():
        of_kind = kind(item)
        names: Sequence[str] = by_kind.get(of_kind) or list(asked)
        if not names:  # the question's scene has none: nothing to name it after
            renamed[name] = name
            continue
        at = places.get(of_kind, 0)
        places[of_kind] = at + 1
        again = names[at % len(names)]
        times = used.get(again, 0)
        used[again] = times + 1
        renamed[name] = f"{again}\ue000{times}\ue001" if times else again
    return renamed


def _under(ids: Mapping[str, str], items: Mapping[str, T]) -> list[tuple[str, T]]:
    return [(ids[name], item) for name, item in items.items()]
