"""Scores strictly: names in any usual spelling, one match for each, nothing above 1.

The answer is the last JSON object of the reply that has one of the asked lists. Names are compared without
case, marks on vowels, and the word that says what they are (`Shibuya-ku`, `Shibuya City`, `渋谷区`). Places
match as the paper says (difflib's ratio above 0.7, or above 0.5 in the right category), all together in the
way that matches most. Two places of one placeholder need two predictions. A level without gold is left out.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import networkx as nx

from gnomon.core.score import Score
from gnomon.core.thinking import without_thinking
from gnomon_published.benchmarks.vir_bench.journey import Journey, Spot
from gnomon_published.benchmarks.vir_bench.official import (
    ALIKE,
    EDGE_KINDS,
    NODE_LEVELS,
    Measure,
    flat,
    measure,
    place_categories,
    place_names,
    split_place,
)
from gnomon_published.gazetteer.spelling import spelling

ALIKE_OF_KIND = 0.5
MAX_LISTED = 500  # names or edges of one list; a reply that repeats itself for ever must not hold up others
MAX_RESPONSE = 200_000

Triple = tuple[str, str, str]


def score_nodes(journey: Journey, reply: str | None) -> Score:
    """F1 of the three levels, weighted by their golds; never raises."""
    answer = read_object(reply, NODE_LEVELS)
    gold = {level: spots for level, spots in journey.gold_nodes().items() if spots}
    if not gold:
        return Score(value=None, reason="there is no gold location to ask for")
    if answer is None:
        return Score(value=0.0, flags=("no_answer",))
    lists = texts_by_level(answer)
    levels = {level: _level(gold[level], lists[level], level) for level in gold}
    weights = [len(spots) for spots in gold.values()]
    total = {
        name: sum(w * dict(levels[level].items())[name] for w, level in zip(weights, gold, strict=True))
        / sum(weights)
        for name in ("precision", "recall", "f1")
    }
    metrics = flat({**levels, "overall": Measure(**total)})
    return Score(value=total["f1"], answer=json.dumps(lists, ensure_ascii=False), metrics=metrics)


def _level(gold: Sequence[Spot], predicted: Sequence[str], level: str) -> Measure:
    pairs, names = level_pairs(gold, predicted, level)
    return measure(hits=len(pairs), predicted=len(names), gold=len(gold))


def level_pairs(
    gold: Sequence[Spot], predicted: Sequence[str], level: str
) -> tuple[list[tuple[int, int]], list[str]]:
    """Pairs of gold and of the names that count, and those names: each once, in one language."""
    if level == "points_of_interest":
        places = {split_place(name): name for name in reversed(predicted)}
        names = [(key, places[key]) for key in dict.fromkeys(map(split_place, predicted))]
        fits = [
            (g, p) for g, spot in enumerate(gold) for p, (key, _) in enumerate(names) if _is_place(spot, *key)
        ]
        return _matched(fits), [name for _, name in names]
    keys = [{area_key(name) for name in (spot.ja, spot.en) if name} for spot in gold]
    first = {area_key(name): name for name in reversed(predicted)}
    fits, counted = [], list[str]()
    for key in dict.fromkeys(map(area_key, predicted)):
        if not any(
            key in spot_keys and spot_keys & set(counted) for spot_keys in keys
        ):  # else the other language's name
            fits += [(g, len(counted)) for g, spot_keys in enumerate(keys) if key in spot_keys]
            counted.append(key)
    return _matched(fits), [first[key] for key in counted]


def area_key(name: str) -> str:
    """A prefecture's or city's name without the word that says what it is.

    >>> area_key("Shibuya-ku") == area_key("shibuya City"), area_key("東京都")
    (True, '東京')
    """
    return spelling(name).stem


def _is_place(spot: Spot, name: str, category: str | None) -> bool:
    of_kind = category is not None and category in (place_categories(spot) or ())
    enough = ALIKE_OF_KIND if of_kind else ALIKE
    return any(SequenceMatcher(None, place_name, name).ratio() > enough for place_name in place_names(spot))


def _matched(fits: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pair golds and predictions, each once, so that as many as possible are paired."""
    graph: nx.Graph[tuple[str, int]] = nx.Graph()
    graph.add_edges_from(
        (("gold", gold_index), ("given", predicted_index)) for gold_index, predicted_index in fits
    )
    top = [node for node in graph if node[0] == "gold"]
    matching = nx.bipartite.maximum_matching(graph, top_nodes=top)
    return sorted((node[1], matching[node][1]) for node in top if node in matching)


def score_edges(journey: Journey, reply: str | None) -> Score:
    """F1 of all edges pooled, each gold edge found by a prediction of its own; never raises."""
    answer = read_object(reply, ("edges",))
    gold = Counter(triples(journey.gold_edges()))
    if not gold:
        return Score(value=None, reason="there is no gold edge to ask for")
    if answer is None:
        return Score(value=0.0, flags=("no_answer",))
    predicted = Counter(triples(answer.get("edges")))
    most = Counter({edge: min(count, max(gold[edge], 1)) for edge, count in predicted.items()})
    levels = {kind: _pooled(gold, most, (kind,)) for kind in EDGE_KINDS}
    total = _pooled(gold, most, EDGE_KINDS)
    edges = json.dumps(list(predicted), ensure_ascii=False)
    return Score(value=total.f1, answer=edges, metrics=flat({**levels, "overall": total}))


def _pooled(gold: Counter[Triple], predicted: Counter[Triple], kinds: Sequence[str]) -> Measure:
    gold_of_kinds, predicted_of_kinds = (
        Counter({edge: count for edge, count in edges.items() if edge[2] in kinds})
        for edges in (gold, predicted)
    )
    return measure(
        hits=(gold_of_kinds & predicted_of_kinds).total(),
        predicted=predicted_of_kinds.total(),
        gold=gold_of_kinds.total(),
    )


def triples(edges: object) -> Iterator[Triple]:
    """Edges as (source, target, kind), in plain spelling; anything else is skipped."""
    for edge in edges[:MAX_LISTED] if isinstance(edges, list) else ():
        ends = (
            [edge.get(name) for name in ("source", "target", "type")] if isinstance(edge, Mapping) else edge
        )
        if isinstance(ends, list) and len(ends) == 3 and all(isinstance(end, str) for end in ends):
            source, target, kind = (" ".join(end.casefold().split()) for end in ends)
            if kind in EDGE_KINDS:
                yield source, target, kind


def read_object(reply: str | None, names: Sequence[str]) -> Mapping[str, Any] | None:
    r"""The last JSON object outside thinking sections that has one of these names; None without one.

    >>> read_object('<think>{"edges": []}</think> ```json\n{"edges": [1]}\n```', ("edges",))
    {'edges': [1]}
    """
    if not isinstance(reply, str):
        return None
    text = without_thinking(reply[:MAX_RESPONSE])
    decoder, last_match, end, broken = json.JSONDecoder(), None, 0, 0
    for opening in re.finditer(r"\{\s*\"", text):
        if opening.start() < end or broken >= MAX_LISTED:
            continue
        try:
            item, end = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            broken += 1
            continue
        last_match = item if any(name in item for name in names) else last_match
    return last_match


def texts_by_level(answer: Mapping[Any, Any], *, stripped: bool = True) -> dict[str, list[str]]:
    """The three lists of a node answer, as far as they are lists of texts."""
    lists = {}
    for level in NODE_LEVELS:
        listed = answer.get(level)
        texts = [text for text in listed if isinstance(text, str)] if isinstance(listed, list) else []
        lists[level] = [text.strip() if stripped else text for text in texts if text.strip()][:MAX_LISTED]
    return lists
