"""Kinship: what other questions about the same target tell, once something tells that it is the same."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

import networkx as nx

from gnomon.benchmarks.gtr_bench.audit.rules import Left, same_interval
from gnomon.benchmarks.gtr_bench.audit.seen import Seen, SeenClip, Span

KIN_TASKS = ("GL", "ATI", "NSF", "TF", "MTTF")
MOST_VIEWS = 4  # one target is in no more views at once

Label = Callable[[Seen, SeenClip], Hashable | None]
Sighting = tuple[str, SeenClip, Span]  # sample id, clip and its time

_MAP_TARGET = re.compile(r"_map_(\d+)_")


class Kinship:
    """Every timed clip of one view's questions, by a label that should tell targets apart.

    A label names a target unless it is in more than MOST_VIEWS views at once, or in every question of its
    scene, which tells nothing.
    """

    def __init__(self, questions: Sequence[Seen], label: Label) -> None:
        self._label = label
        found: dict[Hashable, list[Sighting]] = defaultdict(list)
        shared: dict[str, set[Hashable]] = {}
        for seen in questions:
            names = {label(seen, clip) for clip in seen.clips}
            shared[seen.scene] = shared.get(seen.scene, names) & names
            for clip in seen.clips:
                if clip.span_s:
                    found[label(seen, clip)].append((seen.sample_id, clip, clip.span_s))
        nobody = set().union({None}, *shared.values())
        self._found = {
            name: sightings
            for name, sightings in found.items()
            if name not in nobody and _is_one_target(sightings)
        }

    def left(self, seen: Seen) -> Left:
        """The options that other questions' clips of the same target leave; None where they tell nothing."""
        names = list(dict.fromkeys(self._label(seen, clip) for clip in seen.clips))
        if not all(name in self._found for name in names):
            return None
        first, *more = ([one for one in self._found[name] if one[0] != seen.sample_id] for name in names)
        return _left(seen, first, more[0] if more else None)


def by_target(seen: Seen, clip: SeenClip) -> Hashable:
    """The target's name as shown."""
    return seen.scene, clip.target


def by_map_file(seen: Seen, clip: SeenClip) -> Hashable | None:  # noqa: ARG001 (a Label)
    """The target's id in the name of the map file."""
    match = _MAP_TARGET.search(seen.map_file)
    return (seen.scene, match[1]) if match else None


def by_repeated_clip(questions: Sequence[Seen]) -> Label:
    """A label for targets that are tied by showing the very same boxes in several questions."""
    graph: nx.Graph[Hashable] = nx.Graph()
    for seen in questions:
        for clip in seen.clips:
            graph.add_edge((seen.sample_id, clip.target), (seen.scene, clip.boxes))
    component = {node: index for index, tied in enumerate(nx.connected_components(graph)) for node in tied}
    return lambda seen, clip: component.get((seen.scene, clip.boxes))


def _is_one_target(sightings: Sequence[Sighting]) -> bool:
    views = {(clip.boxes, span_s) for _, clip, span_s in sightings}
    return all(sum(start <= at < end for _, (start, end) in views) <= MOST_VIEWS for _, (at, _) in views)


def _left(seen: Seen, one: Sequence[Sighting], other: Sequence[Sighting] | None) -> Left:
    spans = [clip.span_s for clip in seen.clips if clip.span_s]
    if seen.task == "ATI":
        return same_interval(seen, [span_s for _, _, span_s in one])
    if len(spans) < len(seen.clips):
        return None
    if seen.task == "GL":
        cameras = {clip.camera for _, clip, span_s in one if spans[0][0] < span_s[0] < spans[-1][0]}
    elif seen.task == "MTTF":
        cameras = _meetings(one, other or ())
    else:
        cameras = _next(seen, one, spans[-1][0])
    return [index for index, option in enumerate(seen.options) if option in cameras]


def _meetings(one: Sequence[Sighting], other: Sequence[Sighting]) -> set[str]:
    return {
        mine.camera
        for _, mine, (start, end) in one
        for _, theirs, (their_start, their_end) in other
        if mine.camera == theirs.camera and max(start, their_start) <= min(end, their_end)
    }


def _next(seen: Seen, one: Sequence[Sighting], after_s: float) -> set[str]:
    """The camera, among the options, of the first clip that starts later."""
    coming = [
        (span_s[0], clip.camera)
        for _, clip, span_s in one
        if span_s[0] > after_s and clip.camera in seen.options
    ]
    return {min(coming)[1]} if coming else set()
