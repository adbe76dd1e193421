"""Shows a film: whole to models that take videos, as frames to others; and what it is known to show."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnomon.core.errors import DataError, SpecError
from gnomon.core.sample import Part
from gnomon.media import MediaStore
from gnomon.media.clip_samples import labelled_frames
from gnomon.media.clips import Clips
from gnomon.media.frame_rules import Uniform
from gnomon_published.benchmarks.vir_bench.journey import journey_from_json
from gnomon_tools.core.name_match import GOOD_NAME, likeness

FRAMES = Uniform(24)
MOST_BYTES = 15_000_000
"""A request with the video in base64 stays below 20 MB, which is the most that providers take inline."""
TYPES: Mapping[str, str] = {
    ".mp4": "video/mp4", ".m4v": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm",
    ".avi": "video/x-msvideo", ".mpeg": "video/mpeg", ".mpg": "video/mpeg", ".mkv": "video/x-matroska",
}  # fmt: skip
"""The media types of files that are sent whole, by their endings."""


def film_parts(film: Path, media: MediaStore) -> tuple[Part, ...]:
    """The film for models that take videos, and its frames with their times for all others.

    A file of another kind, or above MOST_BYTES, is shown to every model as frames.

    Raises:
        DataError: the film cannot be read.
    """
    clips = Clips(media)
    frames = labelled_frames(clips.frames(film, FRAMES))
    media_type, size = TYPES.get(film.suffix.lower()), film.stat().st_size
    if media_type is None or size > MOST_BYTES:
        return frames
    seconds = clips.video(film).seconds
    video = media.put_clip(film, media_type=media_type, seconds=seconds)
    whole = (
        Part(content=f"The whole clip, {seconds:.1f} s:", shown="media", only_for="videos"),
        Part(content=video, shown="media", only_for="videos"),
    )
    return (*whole, *(Part(content=part.content, shown="media", only_for="frames") for part in frames))


def plain_graph(graph: object) -> dict[str, Any]:
    """A graph as VIR-Bench publishes it, as the field `graph` of a request: places with their seconds.

    Raises:
        SpecError: it is malformed.
    """
    try:
        journey = journey_from_json(graph)
    except DataError as error:
        raise SpecError(error.message, field="request.graph") from None
    kinds = {"prefectures": "prefecture", "cities": "city", "points_of_interest": "poi"}
    held_by = {link.target: link.source for link in journey.links if link.kind == "inclusion"}
    spots = {
        spot.id: spot
        for spot in journey.spots.values()
        if spot.level in kinds and spot.name() and not (spot.is_unknown or spot.is_nameless)
    }
    nodes = [
        {
            "id": spot.id,
            "name": spot.name(),
            "kind": kinds[spot.level],
            **({"parent": held_by[spot.id]} if held_by.get(spot.id) in spots else {}),
            **({"from_s": spot.start_s, "to_s": spot.end_s} if spot.level == "points_of_interest" else {}),
        }
        for spot in spots.values()
    ]
    transitions = [
        [link.source, link.target]
        for link in journey.links
        if link.kind == "transition" and link.source in spots and link.target in spots
    ]
    return {"nodes": nodes, "transitions": transitions}


def is_published(graph: object) -> bool:
    """Whether a graph is in VIR-Bench's form, where nodes and edges are columns."""
    return isinstance(graph, Mapping) and "edges" in graph


def names_shown(truth: object) -> tuple[str, ...]:
    """The names of the places that a film shows: a list of them, or VIR-Bench's graph of the film.

    Raises:
        SpecError: it is neither.
    """
    if isinstance(truth, Mapping):
        graph = plain_graph(truth) if is_published(truth) else truth
        nodes = graph.get("nodes", ())
        if not isinstance(nodes, list) or not all(isinstance(node, dict) for node in nodes):
            raise SpecError("must be names of places, or a graph of them", field="request.truth")
        return tuple(str(node.get("name")) for node in nodes if node.get("kind", "poi") == "poi")
    if not isinstance(truth, list) or not all(isinstance(name, str) for name in truth):
        raise SpecError("must be names of places, or a graph of them", field="request.truth")
    return tuple(truth)


def seen_rates(named: Mapping[str, str], shown: Mapping[str, str]) -> dict[str, float | None]:
    """Precision and recall of the places named in a film; each name with the id of its place, or nothing.

    A place is right by its id, and where one of the two has none, by its name.

    >>> seen_rates({"Tokyo Tower": "a", "Atlantis": ""}, {"東京タワー": "a", "Senso-ji": "b"})
    {'video_precision': 0.5, 'video_recall': 0.5}
    """
    places = {place_id or name: name for name, place_id in named.items()}
    left = {place_id or name: name for name, place_id in shown.items()}
    count, right = len(left), 0
    for key, name in places.items():
        fitting = (
            key
            if key in left
            else next(
                (
                    other
                    for other, truth in left.items()
                    if not (named[name] and shown[truth]) and likeness(name, truth) >= GOOD_NAME
                ),
                None,
            )
        )
        if fitting is not None:
            del left[fitting]
            right += 1
    return {
        "video_precision": right / len(places) if places else None,
        "video_recall": right / count if count else None,
    }
