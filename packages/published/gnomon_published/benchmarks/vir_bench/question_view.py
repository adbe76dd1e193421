"""Shows a person a question about a travel video: its places on the Earth and in time, and an answer's."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gnomon.core.question_view import NO_ANSWER, QuestionView, missing_fact
from gnomon.core.sample import Sample
from gnomon.media.clip_views import clip_spans, shown_clips
from gnomon_published.benchmarks.vir_bench.journey import ROOT, Journey, Spot
from gnomon_published.benchmarks.vir_bench.official import NODE_LEVELS, split_place
from gnomon_published.benchmarks.vir_bench.strict import read_object, texts_by_level, triples
from gnomon_published.gazetteer.place import GazetteerPlace, Kind
from gnomon_published.gazetteer.search import resolve
from gnomon_tools.core.json_text import json_value
from gnomon_tools.core.sketch import XY, Dot, Line, Sketch, Span

ASKED = {
    "node": "Which prefectures, cities and places does the video show?",
    "edge": "Which of the given places lie in which, and which was visited after which?",
}
SURE = 0.9  # a name of the gazetteer that fits less is not drawn
STATION = "train_station"
LEVELS = {"prefectures": "Prefectures", "cities": "Cities", "points_of_interest": "Places"}


def question_view(sample: Sample) -> QuestionView:
    """The subtask in words, the video, and the graph: areas and stations on the Earth, places in time."""
    journey, subtask = sample.target["journey"], sample.target["subtask"]
    at = positions(journey)
    return QuestionView(
        question=ASKED[subtask],
        truth_text="\n".join(_nodes(journey) if subtask == "node" else _edges(journey)),
        clips=shown_clips(sample),
        seen=Sketch(spans=tuple(clip_spans(sample))),
        truth=Sketch(
            plane="earth",
            marks=(*_dots(journey, at), *(_ways(journey, at) if subtask == "edge" else ())),
            spans=tuple(_spans(journey)),
        ),
        facts=missing_fact(sample),
    )


def _nodes(journey: Journey) -> Iterator[str]:
    for level, spots in journey.gold_nodes().items():
        names = ", ".join(_with_time(spot, journey) for spot in spots)
        yield f"{LEVELS[level]}: {names or 'none'}"


def _with_time(spot: Spot, journey: Journey) -> str:
    name = spot.name(journey.language)
    is_timed = spot.level == "points_of_interest" and spot.end_s > spot.start_s
    return f"{name} ({spot.start_s:g} to {spot.end_s:g} s)" if is_timed else name


def _edges(journey: Journey) -> Iterator[str]:
    for edge in journey.gold_edges():
        words = "holds" if edge["type"] == "inclusion" else "is followed by"
        yield f"{edge['source']} {words} {edge['target']}"


def _spans(journey: Journey) -> Iterator[Span]:
    for spot in journey.at("points_of_interest"):
        if spot.end_s >= spot.start_s and spot.end_s > 0:
            yield Span(start_s=spot.start_s, end_s=spot.end_s, label=spot.name(journey.language))


def positions(journey: Journey) -> dict[str, XY]:
    """Where areas and stations of the graph are, by the id of their spot, as the gazetteer knows them."""
    parents = {link.target: link.source for link in journey.links if link.kind == "inclusion"}
    areas: dict[str, GazetteerPlace] = {}
    at: dict[str, XY] = {}
    for level in NODE_LEVELS:  # from the outside in: an area tells names within it apart
        for spot in journey.at(level):
            within = areas.get(parents.get(spot.id, ROOT))
            kind = _kind_of(level, [spot.category, *spot.types])
            place = _place_of([spot.ja, spot.en], kind, within) if kind else None
            if place is not None:
                areas[spot.id] = place
                at[spot.id] = (place.lon_deg, place.lat_deg)
    return at


def _kind_of(level: str, categories: Iterable[str]) -> Kind | None:
    if level == "prefectures":
        return "prefecture"
    if level == "cities":
        return "municipality"
    return "station" if STATION in categories else None


def _place_of(names: Iterable[str], kind: Kind, within: GazetteerPlace | None) -> GazetteerPlace | None:
    for name in names:
        hits = resolve(name, kinds=[kind], within=within.id if within else None, limit=1) if name else []
        if hits and hits[0].score >= SURE:
            return hits[0].place
    return None


def _dots(journey: Journey, at: Mapping[str, XY]) -> Iterator[Dot]:
    for spot_id, position in at.items():
        yield Dot(at=position, label=journey.spots[spot_id].name(journey.language))


def _ways(journey: Journey, at: Mapping[str, XY]) -> Iterator[Line]:
    for link in journey.gold_links():
        if link.kind == "transition" and link.source in at and link.target in at:
            yield Line(points=(at[link.source], at[link.target]), has_arrow=True)


def answer_sketch(sample: Sample, answer: str) -> Sketch:
    """The areas, stations and transitions of an answer, as far as their positions are known."""
    journey = sample.target["journey"]
    marks: list[Dot | Line] = []
    if sample.target["subtask"] == "node":
        marks = list(_named_dots(_read(answer, NODE_LEVELS)))
    else:
        at = positions(journey)
        by_name = {
            journey.spots[spot_id].name(journey.language).casefold(): position
            for spot_id, position in at.items()
        }
        for source, target, kind in triples(_read(answer, ("edges",)).get("edges")):
            if kind == "transition" and source in by_name and target in by_name:
                marks.append(Line(points=(by_name[source], by_name[target]), has_arrow=True))
    return Sketch(plane="earth", marks=tuple(marks))


def _named_dots(reply: Mapping[str, Any]) -> Iterator[Dot]:
    for level, texts in texts_by_level(reply).items():
        for text in dict.fromkeys(texts):
            name, category = split_place(text)
            kind = _kind_of(level, [category or ""])
            place = _place_of([name], kind, None) if kind else None
            if place is not None:
                yield Dot(at=(place.lon_deg, place.lat_deg), label=text)


def _read(answer: str, names: tuple[str, ...]) -> Mapping[str, Any]:
    """A reply, or what a row stores of it: an object of lists, or the list of edges alone."""
    stored = json_value(answer)
    if isinstance(stored, list):
        return {"edges": stored}
    return read_object(answer, names) or {}


def verdict_in_words(sample: Sample, answer: str, metrics: Mapping[str, float | str | None]) -> str:
    """The scorer's overall precision and recall."""
    precision, recall = (metrics.get(f"overall.{name}") for name in ("precision", "recall"))
    if not answer or not isinstance(precision, int | float) or not isinstance(recall, int | float):
        return NO_ANSWER
    what = "Locations" if sample.target["subtask"] == "node" else "Edges"
    return f"{what}: precision {100 * precision:.0f} %, recall {100 * recall:.0f} %."
