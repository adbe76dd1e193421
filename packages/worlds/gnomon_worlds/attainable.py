"""Says whether a question in traffic, or a hard one, can be answered from the ways and the speed in view.

The truth is what happened. Who reads a clip and the map can tell the shortest way and the speed in view, but
not that a target waited for a green that nobody mentions, ran an errand or went faster elsewhere. Where that
decides the answer, the question is not asked.
"""

import math
from itertools import pairwise

import shapely

from gnomon.core.clock import NOON_S, day_span
from gnomon_tools.geometry.network import Network
from gnomon_worlds.movement import Journey, climb_s
from gnomon_worlds.question import Question
from gnomon_worlds.trajectory import SLOWEST_MPS, Sighting
from gnomon_worlds.world import World

STRAY = 1.05  # how much longer than the shortest a way is that still counts as the shortest
PASSED = 1.3  # the same, where all that is asked is what lay on it
ON_LINE_M, IN_LANES_M = 1.0, 10.0  # added to that: lanes and pavements lie beside the streets' middles
EDGE_M, SAME_S = 0.25, 0.05
ON_EDGE_M = 0.01  # a walk that is so near the edge goes along it
LATE, LATE_S = 0.25, 2.0  # share of the time unseen by which a forecast may miss, and at least so much


def is_attainable(world: World, question: Question) -> bool:
    """Whether the ways and the speed in view lead to the truth.

    Forecasts (NSF, TF, MTTF): the targets went the shortest ways and came when their speed in the clip says.
    GL: the way between the clips was not much longer than the shortest. ATI: of the four intervals the right
    one is nearest to the share of the time that is its share of the way. MS: the targets went the shortest
    ways. CR: always, as the orders differ by their shortest ways already.
    """
    beside_m = IN_LANES_M if world.lanes else ON_LINE_M
    longest = PASSED if question.task_id == "GeoLocation" else STRAY
    if question.task_id == "CausalReordering":
        return True
    for trip, before, after in question.gaps:
        shortest_m = world.way_m(before.exit, after.entry)
        if gone_m(trip.journey, before.end_s, after.start_s) > longest * shortest_m + beside_m:
            return False
    if question.task_id == "ArrivalTimeInterval":
        return _is_in_time(world, question)
    if not question.times_s:
        return True
    if question.task_id == "TrajectoryForecasting":  # both cameras, from the clip
        _, last, coming = question.gaps[0]
        return _comes(world, last, coming) and _comes(world, last, question.gaps[-1][2])
    return all(_comes(world, was, then) for _, was, then in question.gaps)


def is_clear(world: World, question: Question, *, edge_m: float = EDGE_M) -> bool:
    """Whether no stay in view that the question rests on begins or ends on stairs, or lies on a view's edge.

    On stairs nobody is in view, so such a stay is as long as one says where stairs end, to SAME_S; and who
    walks within `edge_m` of an edge, which is in view itself, is seen or not by a matter of rounding.
    """
    seen = [*question.clip_sightings, *((trip, end) for trip, *ends in question.gaps for end in ends)]
    for trip, sighting in seen:
        landings_s = {
            time_s
            for stretch in trip.journey.stretches
            for time_s in (stretch.times_s[0], stretch.times_s[-1])
        }
        if any(
            abs(time_s - at_s) < SAME_S
            for time_s in landings_s
            for at_s in (sighting.start_s, sighting.end_s)
        ):
            return False
        view = world.scene.cameras[sighting.camera].field_of_view
        half_way = trip.journey.xy_m_at((sighting.start_s + sighting.end_s) / 2)
        if view is None or view.exterior.distance(shapely.Point(half_way)) < edge_m:
            return False
    return True


def gone_m(journey: Journey, start_s: float, end_s: float) -> float:
    """How far a target went from one moment to another, without stairs and lifts."""
    length_m = 0.0
    for stretch in journey.stretches:
        first_s, last_s = max(start_s, stretch.times_s[0]), min(end_s, stretch.times_s[-1])
        if first_s < last_s:
            inner = [
                point
                for point, time_s in zip(stretch.points_m, stretch.times_s, strict=True)
                if first_s < time_s < last_s
            ]
            points_m = [stretch.at(first_s), *inner, stretch.at(last_s)]
            length_m += math.fsum(math.dist(a, b) for a, b in pairwise(points_m))
    return length_m


def _comes(world: World, last: Sighting, coming: Sighting) -> bool:
    """Whether the target came about when its speed in the clip says. Stairs are known to be slower."""
    path = Network.of(world.scene).path(
        last.exit.xy_m, last.exit.floor, coming.entry.xy_m, coming.entry.floor
    )
    if path is None:
        return False
    speed_mps = max(last.speed_mps, SLOWEST_MPS)
    going_s = math.fsum(
        leg.length_m / speed_mps if leg.on_ground else climb_s(leg, speed_mps) for leg in path.legs
    )
    unseen_s = coming.start_s - last.end_s
    late_s = unseen_s - going_s
    return abs(late_s) <= max(LATE_S, LATE * unseen_s)


def _is_in_time(world: World, question: Question) -> bool:
    (_, start, middle), (_, _, end) = question.gaps
    first_m, second_m = world.way_m(start.exit, middle.entry), world.way_m(middle.exit, end.entry)
    seen_m = math.dist(middle.entry.xy_m, middle.exit.xy_m)
    share = (first_m + seen_m / 2) / (first_m + seen_m + second_m)
    expected_s = NOON_S + start.end_s + share * (end.start_s - start.end_s)

    def off_s(option: str) -> float:
        span = day_span(option)
        return abs(math.fsum(span) / 2 - expected_s) if span else math.inf

    return min(question.options, key=off_s) == question.right[0]
