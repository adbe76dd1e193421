"""Audits VIR-Bench: whether the order of the given nodes, or a gazetteer, gives edges."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from gnomon.core.audit_plugin import AnswerOptions, ShortcutGuess, View
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import DataFault, Sample
from gnomon_published.benchmarks.vir_bench.drawing import visit_graph
from gnomon_published.benchmarks.vir_bench.journey import Journey, Spot
from gnomon_published.benchmarks.vir_bench.official import measure
from gnomon_published.benchmarks.vir_bench.prompt import nodes_given, unshuffled
from gnomon_published.gazetteer.place import GazetteerPlace
from gnomon_published.gazetteer.search import lies_in, resolve
from gnomon_published.visit_graphs.graph import problems

_SURE = 0.9  # of a gazetteer's hit


def answer_options(sample: Sample) -> AnswerOptions | None:  # noqa: ARG001  nothing is asked for by options
    """Nothing: no question of this benchmark has options."""
    return None


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """Join each given node to the next, in the listed order or in the order before the released shuffle; and
    put each city into the prefecture that the gazetteer knows. No video is used.
    """
    for protocol, protocol_samples in samples.items():
        for sample in protocol_samples:
            if sample.ref.task != "edge":
                continue
            journey, name = sample.target["journey"], sample.ref.sample_id
            listed = nodes_given(journey, protocol)
            yield _in_order("nodes joined as listed", protocol, name, journey, listed)
            yield _in_order("nodes joined as before the shuffle", protocol, name, journey, unshuffled(listed))
            cities = _by_gazetteer(journey)
            if cities:
                right = sum(hit for hit in cities if hit is not None)
                yield ShortcutGuess(
                    shortcut="cities placed by the gazetteer",
                    kind="floor",
                    view=protocol,
                    sample_id=name,
                    value=right / len(cities),
                    chance=1 / max(len(journey.at("prefectures")), 1),
                    applies=any(hit is not None for hit in cities),
                )


def _in_order(
    shortcut: str, view: View, name: str, journey: Journey, listed: Mapping[str, Sequence[str]]
) -> ShortcutGuess:
    """F1 of the transitions that join neighbours in the lists; chance is that of lists in random order."""
    gold = [edge for edge in journey.gold_edges() if edge["type"] == "transition"]
    pairs = {level: list(pairwise(names)) for level, names in listed.items()}
    joined = [pair for level in pairs.values() for pair in level]
    gold_pairs = {(edge["source"], edge["target"]) for edge in gold}
    value = measure(hits=len(gold_pairs & set(joined)), predicted=len(joined), gold=len(gold)).f1
    by_chance = sum(
        sum(edge["source"] in names and edge["target"] in names for edge in gold) / len(names)
        for names in listed.values()
        if names
    )
    chance = min(2 * by_chance / (len(joined) + len(gold)), 1.0) if joined and gold else 0.0
    applies = bool(joined and gold)
    return ShortcutGuess(
        shortcut=shortcut,
        kind="leak",
        view=view,
        sample_id=name,
        value=min(value, 1.0) if applies else chance,
        chance=chance,
        applies=applies,
    )


def case_faults(samples: Sequence[Sample]) -> Iterable[DataFault]:
    """Graphs that break the rules of such graphs, and cities that the gazetteer knows elsewhere."""
    for sample in samples:
        if sample.ref.task != "edge":
            continue
        journey, name = sample.target["journey"], sample.ref.sample_id
        broken = problems(visit_graph(journey))
        if broken:
            first = re.sub(r"\s+", " ", broken[0].detail)
            detail = f"{len(broken)} broken rules, first {broken[0].kind}: {first}"
            yield DataFault(sample_id=name, kind="graph", detail=detail)
        wrong = sum(hit is False for hit in _by_gazetteer(journey))
        if wrong:
            detail = f"{wrong} cities lie in another prefecture by the gazetteer"
            yield DataFault(sample_id=name, kind="gazetteer", detail=detail)


def _by_gazetteer(journey: Journey) -> list[bool | None]:
    """For each gold inclusion of a city: whether the gazetteer agrees; None where it lacks the city."""
    answers = []
    for link in journey.gold_links():
        prefecture, city = journey.spots[link.source], journey.spots[link.target]
        if link.kind == "inclusion" and (prefecture.level, city.level) == ("prefectures", "cities"):
            areas, towns = _known(prefecture, "prefecture"), _known(city, "municipality")
            inside = any(lies_in(town, area) for town in towns for area in areas)
            answers.append(inside if areas and towns else None)
    return answers


def _known(spot: Spot, kind: str) -> list[GazetteerPlace]:
    names = [name for name in (spot.ja, spot.en) if name]
    hits = [hit for name in names for hit in resolve(name, kinds=("prefecture", "municipality"), limit=20)]
    return [hit.place for hit in hits if hit.place.kind == kind and hit.score >= _SURE]
