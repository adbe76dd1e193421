"""Writes the prompts of both subtasks. The protocols differ in frames, listed nodes and the last sentence."""

import json
import random
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from types import ModuleType

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.ids import stable_hash
from gnomon.core.sample import Part
from gnomon.core.words import JSON_CLOSING, JSON_ONLY
from gnomon.media.clip_samples import labelled_frames
from gnomon.media.clips import Frames
from gnomon_published.benchmarks.vir_bench import english, japanese
from gnomon_published.benchmarks.vir_bench.journey import Journey, Language


@cache
def categories() -> tuple[str, ...]:
    """All of them, in the published order.

    >>> len(categories()), categories()[0]
    (156, 'adventure_sports_center')
    """
    text = (
        files("gnomon_published.benchmarks.vir_bench").joinpath("categories.txt").read_text(encoding="utf-8")
    )
    return tuple(text.split())


SEED = 42  # of the released shuffle, once for the three lists together

_LISTS = ("prefectures", "cities", "points_of_interest")


def nodes_given(journey: Journey, protocol: PromptProtocol) -> dict[str, list[str]]:
    """Names by level. Official: shuffled with the released seed, which a reader can undo. Guarded: in an
    order drawn from the names themselves.
    """
    names = {level: [spot.name(journey.language) for spot in journey.at(level)] for level in _LISTS}
    if protocol == "guarded":
        return {level: sorted(level_names, key=stable_hash) for level, level_names in names.items()}
    shuffle = random.Random(SEED).shuffle
    for level_names in names.values():
        shuffle(level_names)
    return names


def unshuffled(shuffled: dict[str, list[str]]) -> dict[str, list[str]]:
    """The order before the released shuffle: what a reader who knows the seed can see.

    >>> shown = {"prefectures": ["b", "a"], "cities": ["x"], "points_of_interest": ["p", "r", "q"]}
    >>> unshuffled(shown)["cities"]
    ['x']
    """
    shuffle = random.Random(SEED).shuffle
    restored = {}
    for level in _LISTS:
        places = list(range(len(shuffled[level])))
        shuffle(places)
        original = dict(zip(places, shuffled[level], strict=True))
        restored[level] = [original[at] for at in range(len(places))]
    return restored


_KINDS = ("airport", "train_station", "tourist_attraction", "japanese_restaurant")  # of the example's places


def parts_of(
    journey: Journey, subtask: str, protocol: PromptProtocol, frames: Frames | None
) -> tuple[Part, ...]:
    """The prompt: the video's frames, then the question in the journey's language."""
    text = node_text(journey.language, protocol) if subtask == "node" else edge_text(journey, protocol)
    return (*_pictures(frames, protocol), Part(content=text))


def node_text(language: Language = "en", protocol: PromptProtocol = "guarded") -> str:
    """The question for the nodes; it is the same for every video."""
    wording = _wording(language)
    prefecture, first, second, *places = wording.NAMES
    example = {
        "prefectures": [prefecture],
        "cities": [first, second],
        "points_of_interest": [f"{name} ({kind})" for name, kind in zip(places, _KINDS, strict=True)],
    }
    text: str = wording.NODE.format(
        role=wording.ROLE,
        categories=", ".join(categories()),
        node_example=json.dumps(example, ensure_ascii=False, indent=2),
        closing=JSON_CLOSING if protocol == "guarded" else JSON_ONLY,
    )
    return text


def edge_text(journey: Journey, protocol: PromptProtocol) -> str:
    """The question for the edges. Official: the given nodes are printed as Python prints a dictionary."""
    wording = _wording(journey.language)
    nodes = nodes_given(journey, protocol)
    text: str = wording.EDGE.format(
        role=wording.ROLE,
        given=str(nodes) if protocol == "official" else json.dumps(nodes, ensure_ascii=False, indent=1),
        edge_example=json.dumps({"edges": _edges(wording.NAMES)}, ensure_ascii=False, indent=2),
        closing=JSON_CLOSING if protocol == "guarded" else JSON_ONLY,
    )
    return text


def _wording(language: Language) -> ModuleType:
    return japanese if language == "ja" else english


def _edges(names: Sequence[str]) -> list[dict[str, str]]:
    """The example's edges: one place in the first city, then the others in the second, one after another."""
    prefecture, first, second, arrival, *later = names
    inside = [
        (prefecture, first),
        (prefecture, second),
        (first, arrival),
        *((second, name) for name in later),
    ]
    after = [(first, second), *pairwise(later)]
    return [
        {"source": source, "target": target, "type": kind}
        for kind, pairs in (("inclusion", inside), ("transition", after))
        for source, target in pairs
    ]


def _pictures(frames: Frames | None, protocol: PromptProtocol) -> Sequence[Part]:
    if frames is None:
        return [Part(content="Video: not available.", shown="media")]
    if protocol == "official":
        return [Part(content=image, shown="media") for image in frames.images]
    return labelled_frames(frames)
