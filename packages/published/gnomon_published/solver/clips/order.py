"""Orders clips without a clock by when they were filmed."""

import math
from collections.abc import Mapping
from itertools import pairwise

from gnomon_agents.models.reference.guessing import Option
from gnomon_agents.models.reference.tool_results import Call, Evidence
from gnomon_published.solver.clips.answer import Answer, cheapest, guess
from gnomon_published.solver.clips.observations import FLOOR_CHANGE_M, Survey, distances, survey
from gnomon_published.solver.clips.question import Question

TURN_COST_M = 20.0  # what turning right round between two sightings counts as


def ordered(question: Question, evidence: Evidence) -> Answer:
    """The option whose way from clip to clip is shortest and turns least."""
    index = {clip.camera: i for i, clip in enumerate(question.clips)}
    orders = {option: order for option in question.options if (order := _order(option, index))}
    if len(index) < 2 or not orders:
        return guess(question, "No option orders the cameras that are shown.")
    observed = survey(evidence, question.clips, "I need where the target entered and left each view.")
    metres = _hops(observed, orders, evidence)
    costs = {
        option: sum(metres[hop] + _turn_m(observed, *hop) for hop in pairwise(order))
        for option, order in orders.items()
    }
    ranked = cheapest(costs)
    if not ranked:
        return guess(question, "The ways between the views are not known.")
    why = f"In the order {ranked[0].text} the way is shortest ({costs[ranked[0]]:.0f} m with turns)."
    return Answer(options=(ranked[0],), why=why)


def _hops(
    observed: Survey, orders: Mapping[Option, tuple[int, ...]], evidence: Evidence
) -> dict[tuple[int, int], float]:
    """Metres of every hop that the orders make, asked at once or else one by one."""
    hops = sorted({hop for order in orders.values() for hop in pairwise(order)})
    names = {index: f"clip {index + 1}" for order in orders.values() for index in order}
    sightings = [
        {"name": name, "entry": observed.entry(index), "exit": observed.exit(index)}
        for index, name in sorted(names.items())
    ]
    arguments = {"sightings": sightings, "orders": [[names[i] for i in order] for order in orders.values()]}
    [result] = evidence.ask([Call("order_cost", arguments)], "I compare the ways in each order.")
    if result is None:
        pairs = [(observed.exit(earlier), observed.entry(later)) for earlier, later in hops]
        lengths_m = distances(evidence, pairs, "I measure the way from each view to the others.")
        return dict(zip(hops, lengths_m, strict=True))
    by_ends = {(hop["start"], hop["end"]): hop for order in result["orders"] for hop in order["hops"]}
    return {
        (earlier, later): hop["distance_m"] + FLOOR_CHANGE_M * hop["floor_changes"]
        for earlier, later in hops
        if (hop := by_ends[names[earlier], names[later]])
    }


def _order(option: Option, index: dict[str, int]) -> tuple[int, ...] | None:
    """The clips in the option's order; None if it names another camera or leaves one out."""
    words = [word.strip(" ,.→>-") for word in option.text.replace("->", "→").split("→")]
    return tuple(index[word] for word in words) if sorted(words) == sorted(index) else None


def _turn_m(observed: Survey, earlier: int, later: int) -> float:
    """The cost of the turn from where it headed to where it must go, and from there to how it arrived."""
    before, after = observed.tracks.get(earlier), observed.tracks.get(later)
    if before is None or after is None or before.last_m == after.first_m:
        return 0.0
    way_deg = math.degrees(
        math.atan2(after.first_m[0] - before.last_m[0], after.first_m[1] - before.last_m[1])
    )
    headings = [heading for heading in (before.heading_deg, after.heading_deg) if heading is not None]
    return sum(TURN_COST_M * (1 - math.cos(math.radians(heading - way_deg))) / 2 for heading in headings)
