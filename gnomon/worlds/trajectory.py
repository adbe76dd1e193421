"""Trip: a numbered target's journey with all its sightings, fit to ask questions about."""

from dataclasses import dataclass, replace
from random import Random

from gnomon.worlds.movement import PEDESTRIAN, VEHICLE, Journey, journey
from gnomon.worlds.sighting import Sighting, sightings
from gnomon.worlds.world import World

MIN_STAY_S = 1.0
STARTS_S = (600.0, 3000.0)  # journeys start within the hour after 12:00:00
ON_FOOT = 0.25  # share of outdoor targets that walk
TARGETS = range(1, 1_000_000)  # so many that two places hardly share a number


@dataclass(frozen=True, slots=True, kw_only=True)
class Trip:
    """No camera sees the target twice, none for less than MIN_STAY_S, and none where it starts or ends."""

    target: int
    journey: Journey
    sightings: tuple[Sighting, ...]

    def later(self, by_s: float) -> "Trip":
        """The same trip, `by_s` seconds later."""
        moved = tuple(sighting.later(by_s) for sighting in self.sightings)
        return replace(self, journey=self.journey.later(by_s), sightings=moved)


def trip(world: World, rng: Random) -> Trip | None:
    """Draw a trip between two far ends of the world; None where this one is not fit."""
    start, end = rng.sample(world.ends, 2)
    target, start_s = rng.choice(TARGETS), rng.uniform(*STARTS_S)
    walks = world.scene.kind == "indoor" or rng.random() < ON_FOOT
    if world.crow_m(start, end) < world.apart_m:
        return None
    made = journey(world, rng, PEDESTRIAN if walks else VEHICLE, start, end)
    if made is None:
        return None
    seen = sightings(made, world.scene.cameras.values())
    if not fit(made, seen):
        return None
    return Trip(target=target, journey=made, sightings=seen).later(start_s)


def fit(made: Journey, seen: tuple[Sighting, ...]) -> bool:
    """Whether every camera sees the target once, long enough, and comes and goes."""
    whole = not seen or (seen[0].start_s > made.start_s and seen[-1].end_s < made.end_s)
    once = len({sighting.camera for sighting in seen}) == len(seen)
    return whole and once and all(sighting.stay_s >= MIN_STAY_S for sighting in seen)
