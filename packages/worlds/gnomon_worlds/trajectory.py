"""Draws targets' journeys with all their sightings by cameras, fit for questions."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from gnomon.core.ids import stable_seed
from gnomon_tools.geometry.field_of_view import crossed
from gnomon_tools.geometry.route import RouteLeg
from gnomon_tools.scene.scene import Camera
from gnomon_worlds.camera_model import Mount
from gnomon_worlds.hiding import seen_spans
from gnomon_worlds.movement import PEDESTRIAN, VEHICLE, Companion, Journey, interpolated, journey
from gnomon_worlds.traffic import Wish, set_out
from gnomon_worlds.world import Spot, World

SLOWEST_MPS = 0.01  # at which one is reckoned to go on who hardly moved in view
WATCHED = 64  # worlds whose cameras' lookouts are remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """The target is in view of `camera` from `start_s` to `end_s`, and neither just before nor just after."""

    camera: str
    start_s: float
    end_s: float
    entry: Spot
    exit: Spot
    turned_s: float | None = None  # when it turned back in view, and where; None: it crossed the view
    turned: Spot | None = None

    @property
    def came_from(self) -> Spot:
        """The point from which it went on to its exit: its entry, or where it turned back in view."""
        return self.turned or self.entry

    @property
    def crossed_m(self) -> float:
        """The straight distance that it covered in view, there and back."""
        onward_m = math.dist(self.came_from.xy_m, self.exit.xy_m)
        return onward_m + (math.dist(self.entry.xy_m, self.turned.xy_m) if self.turned else 0.0)

    @property
    def speed_mps(self) -> float:
        """The speed on its way out of view; 0 where it did not move."""
        left_s = self.stay_s if self.turned_s is None else self.end_s - self.turned_s
        return math.dist(self.came_from.xy_m, self.exit.xy_m) / left_s if left_s > 0 else 0.0

    @property
    def stay_s(self) -> float:
        return self.end_s - self.start_s

    def later(self, by_s: float) -> "Sighting":
        """The same stay, `by_s` seconds later."""
        turned_s = None if self.turned_s is None else self.turned_s + by_s
        return replace(self, start_s=self.start_s + by_s, end_s=self.end_s + by_s, turned_s=turned_s)


class Lookout:
    """Cameras that watch the targets of many journeys.

    With `mounts`, those who go with a target may hide it, and then it is not seen.
    """

    def __init__(self, cameras: Collection[Camera], mounts: Mapping[str, Mount] | None = None) -> None:
        self._mounts = mounts
        views = [(camera, camera.field_of_view) for camera in cameras if camera.field_of_view is not None]
        self._by_floor = {}
        for floor in {camera.floor for camera, _ in views}:
            here = [(camera.id, view) for camera, view in views if camera.floor == floor]
            self._by_floor[floor] = ([name for name, _ in here], crossed([view for _, view in here]))

    def look_along(self, journeys: Collection[Journey]) -> None:
        """Prepare the sightings of several journeys together, which is faster than one by one."""
        for floor, (_, views) in self._by_floor.items():
            views.look_along(
                stretch.points_m
                for journey in journeys
                for stretch in journey.stretches
                if stretch.floor == floor
            )

    def may_see(self, legs: Iterable[RouteLeg], *, least: int, past: str | None) -> bool:
        """Whether so many cameras, and the one named by `past`, could see a body on some legs.

        Where not, they surely do not: into views that are not near nobody comes.
        """
        near: set[str] = set()
        for leg in legs:
            if leg.on_ground and leg.floor in self._by_floor:
                cameras, views = self._by_floor[leg.floor]
                near.update([cameras[view] for view in views.near(leg.points_m)])
                if len(near) >= least and (past is None or past in near):
                    return True  # most that suffice do so early
        return least == 0 and past is None

    def sightings(self, journey: Journey) -> tuple[Sighting, ...]:
        """Every stay of the target in view of one of the cameras, in order of time; exact, however short."""
        stays = []
        for stretch in journey.stretches:
            if stretch.floor not in self._by_floor:
                continue
            cameras, views = self._by_floor[stretch.floor]
            along_m = stretch.along_m
            for camera, within in zip(cameras, views.by(stretch.points_m), strict=True):
                for crossed_m in within:
                    start_s, end_s = (interpolated(at_m, along_m, stretch.times_s) for at_m in crossed_m)
                    spans = (
                        [(start_s, end_s)]
                        if self._mounts is None
                        else seen_spans(self._mounts[camera], stretch.floor, journey, start_s, end_s)
                    )
                    stays += [_stay(journey, camera, *span) for span in spans]
        return tuple(sorted(stays, key=lambda sighting: sighting.start_s))


def sightings(journey: Journey, cameras: Collection[Camera]) -> tuple[Sighting, ...]:
    """Every stay of one target in view of one of the cameras, in order of time, exact however short."""
    return Lookout(cameras).sightings(journey)


@lru_cache(WATCHED)
def lookout_of(world: World) -> Lookout:
    """The world's cameras."""
    if not world.is_crowded:
        return lookout_of_views(world)
    return Lookout(world.scene.cameras.values(), world.installation.mounts)


@lru_cache(WATCHED)
def lookout_of_views(world: World) -> Lookout:
    """The world's cameras, without bodies that hide a target."""
    return Lookout(world.scene.cameras.values())


@lru_cache(WATCHED)
def lookout_of_unbuilt(world: World) -> Lookout:
    """The cameras that could hang in the world too."""
    hung = world.installation
    return Lookout(hung.unbuilt, hung.unbuilt_mounts if world.is_crowded else None)


def _stay(journey: Journey, camera: str, start_s: float, end_s: float) -> Sighting:
    turned_s = journey.turned_s
    is_back = turned_s is not None and start_s < turned_s < end_s
    return Sighting(
        camera=camera,
        start_s=start_s,
        end_s=end_s,
        entry=journey.at(start_s),
        exit=journey.at(end_s),
        turned_s=turned_s if is_back else None,
        turned=journey.at(turned_s) if is_back and turned_s is not None else None,
    )


MIN_STAY_S = 1.0
STARTS_S = (600.0, 3000.0)  # journeys start within the hour after 12:00:00
ON_FOOT = 0.25  # share of outdoor targets that walk
POOLED = 240  # trips drawn for a pool; a quarter of them fit
SLOW_POOLED = 720  # the same where walkers stop and wait: fewer of them can be foretold
POOLS = 64  # worlds whose pools are remembered
SHIFT_S = (-500.0, 500.0)  # by which a trip of the pool is moved
TARGETS = range(1, 1_000_000)  # so many that two places hardly share a number


@dataclass(frozen=True, slots=True, kw_only=True)
class Trip:
    """No camera sees the target for less than MIN_STAY_S, or where it starts or ends.

    None sees it twice, but one that goes back: once on its way there and once on its way back.
    """

    target: int
    journey: Journey
    sightings: tuple[Sighting, ...]

    def later(self, by_s: float) -> "Trip":
        moved = tuple(sighting.later(by_s) for sighting in self.sightings)
        return replace(self, journey=self.journey.later(by_s), sightings=moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A target that sets out on a journey at `start_s`; its sightings are not computed yet."""

    target: int
    start_s: float
    journey: Journey


def trip(world: World, rng: Random, *, least: int = 0, past: str | None = None) -> Trip | None:
    """Draw a trip between two far ends of the world; None where the drawn one does not fit.

    None, too, where it has fewer than `least` sightings, or none by the camera `past`. In traffic it is one
    of the pool: many journeys take hardly longer to simulate than one.
    """
    if world.traffic:
        return pooled_trip(world, rng, least=least, past=past)
    may_see = lookout_of_views(world).may_see  # each camera sees a fit trip once
    drawn = _departure(world, rng, lambda legs: may_see(legs, least=least, past=past))
    return _watched(world, drawn, least) if drawn else None


def _departure(
    world: World, rng: Random, suits: Callable[[Sequence[RouteLeg]], bool] | None = None
) -> Departure | None:
    wanted = _wished(world, rng)
    if wanted is None:
        return None
    target, start_s, wish = wanted
    made = journey(world, rng, *wish, suits=suits)
    return Departure(target=target, start_s=start_s, journey=made) if made else None


def _wished(world: World, rng: Random) -> tuple[int, float, Wish] | None:
    """Draw which target sets out, when and where to; None where that is too near."""
    start, end = rng.sample(world.ends, 2)
    target, start_s = rng.choice(TARGETS), rng.uniform(*STARTS_S)
    walks = world.scene.kind == "indoor" or rng.random() < ON_FOOT
    if world.crow_m(start, end) < world.apart_m:
        return None
    return target, start_s, (PEDESTRIAN if walks else VEHICLE, start, end)


def _departures(world: World, rng: Random, count: int) -> list[Departure]:
    """The departures that come of `count` draws."""
    if world.traffic is None:
        return [drawn for _ in range(count) if (drawn := _departure(world, rng))]
    wanted = [wish for _ in range(count) if (wish := _wished(world, rng))]
    moved = set_out(world, world.traffic, rng, [wish for *_, wish in wanted])
    return [
        Departure(target=target, start_s=made.in_step_s(start_s), journey=made)
        for (target, start_s, _), made in zip(wanted, moved, strict=True)
        if made
    ]


def _watched(world: World, drawn: Departure, least: int = 0) -> Trip | None:
    in_view = lookout_of_views(world).sightings(drawn.journey)
    if len(in_view) < least or not fit(drawn.journey, in_view):
        return None  # so that in a crowded world few are looked at closely
    if world.is_crowded:
        stays = Counter(sighting.camera for sighting in in_view)
        in_view = lookout_of(world).sightings(drawn.journey)
        is_parted = Counter(sighting.camera for sighting in in_view) - stays  # by who hides it as it turns
        if is_parted or not fit(drawn.journey, in_view):
            return None
    return Trip(target=drawn.target, journey=drawn.journey, sightings=in_view).later(drawn.start_s)


def fit(made: Journey, in_view: tuple[Sighting, ...]) -> bool:
    """Whether every camera sees the target at most once, long enough, from its coming to its going.

    Where it goes back every camera may see it once on its way there and once on its way back.
    """
    whole = not in_view or (in_view[0].start_s > made.start_s and in_view[-1].end_s < made.end_s)
    turned_s = math.inf if made.turned_s is None else made.turned_s
    there = [sighting.camera for sighting in in_view if sighting.start_s < turned_s]
    back = [sighting.camera for sighting in in_view if sighting.end_s > turned_s]
    once = all(len(set(cameras)) == len(cameras) for cameras in (there, back))
    return whole and once and all(sighting.stay_s >= MIN_STAY_S for sighting in in_view)


def beside_one_another(world: World, first: Trip, second: Trip) -> tuple[Trip, Trip] | None:
    """Two targets of one question as a crowded world sees them: each, and its company, may hide the other.

    Their journeys stay as they are. None where one of them is then no longer fit, or missed by a camera.
    """
    made = []
    for own, other in ((first, second), (second, first)):
        company = (*own.journey.company, Companion(journey=other.journey), *other.journey.company)
        in_view = lookout_of(world).sightings(replace(own.journey, company=company))
        if [seen.camera for seen in in_view] != [seen.camera for seen in own.sightings]:
            return None
        if not fit(own.journey, in_view):
            return None
        made.append(replace(own, sightings=in_view))
    return made[0], made[1]


@lru_cache(POOLS)
def trips_of(world: World) -> tuple[Trip, ...]:
    """A pool of trips through a world, for questions that only few trips fit."""
    rng = Random(stable_seed("trips", world.scene.id))
    departures = _departures(
        world, rng, SLOW_POOLED if world.traffic and world.scene.kind == "indoor" else POOLED
    )
    lookout_of(world).look_along([drawn.journey for drawn in departures])
    return tuple(made for drawn in departures if (made := _watched(world, drawn)))


def pooled_trip(world: World, rng: Random, *, least: int = 0, past: str | None = None) -> Trip | None:
    """A trip of the pool, as another target at another time; None where `renewed` gives none."""
    pool = trips_of(world)
    return renewed(rng, rng.choice(pool), least=least, past=past) if pool else None


def renewed(rng: Random, taken: Trip, *, least: int = 0, past: str | None = None) -> Trip | None:
    """The trip as another target goes on it at another time.

    None where it has fewer than `least` sightings, or none by the camera `past`. The lots are drawn even so.
    """
    target, by_s = rng.choice(TARGETS), rng.uniform(*SHIFT_S)
    if len(taken.sightings) < least or (past and past not in [seen.camera for seen in taken.sightings]):
        return None
    return replace(taken, target=target).later(taken.journey.in_step_s(by_s))
