"""Scores sanely: names in any usual spelling, one match for each, nothing above 1.

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

from gnomon.benchmarks.vir_bench.journey import Journey, Spot
from gnomon.benchmarks.vir_bench.official import (
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
from gnomon.core.score import Score
from tools.gazetteer.spelling import spelling

ALIKE_OF_KIND = 0.5
MAX_LISTED = 500  # names or edges of one list; a reply that repeats itself for ever must not hold up others
MAX_RESPONSE = 200_000

_THINKING = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)

Triple = tuple[str, str, str]


def score_nodes(journey: Journey, reply: str | None) -> Score:
    """F1 of the three levels, weighted by their golds; never raises."""
    given = read_object(reply, NODE_LEVELS)
    gold = {level: found for level, found in journey.gold_nodes().items() if found}
    if not gold:
        return Score(value=None, reason="there is no gold location to ask for")
    if given is None:
        return Score(value=0.0, flags=("no_answer",))
    lists = texts_by_level(given)
    levels = {level: _level(gold[level], lists[level], level) for level in gold}
    weights = [len(found) for found in gold.values()]
    total = {
        name: sum(w * dict(levels[level].items())[name] for w, level in zip(weights, gold, strict=True))
        / sum(weights)
        for name in ("precision", "recall", "f1")
    }
    told = flat({**levels, "overall": Measure(**total)})
    return Score(value=total["f1"], answer=json.dumps(lists, ensure_ascii=False), metrics=told)


def _level(gold: Sequence[Spot], given: Sequence[str], level: str) -> Measure:
    pairs, names = level_pairs(gold, given, level)
    return measure(hits=len(pairs), predicted=len(names), gold=len(gold))


def level_pairs(
    gold: Sequence[Spot], given: Sequence[str], level: str
) -> tuple[list[tuple[int, int]], list[str]]:
    """Which gold is given which of the names that count, and those names: each once, in one language."""
    if level == "points_of_interest":
        places = {split_place(name): name for name in reversed(given)}
        names = [(key, places[key]) for key in dict.fromkeys(map(split_place, given))]
        fits = [
            (g, p) for g, spot in enumerate(gold) for p, (key, _) in enumerate(names) if _is_place(spot, *key)
        ]
        return _matched(fits), [name for _, name in names]
    keys = [{area_key(name) for name in (spot.ja, spot.en) if name} for spot in gold]
    first = {area_key(name): name for name in reversed(given)}
    fits, counted = [], list[str]()
    for key in dict.fromkeys(map(area_key, given)):
        if not any(key in known and known & set(counted) for known in keys):  # else the other language's name
            fits += [(g, len(counted)) for g, known in enumerate(keys) if key in known]
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
    """Golds and predictions, each once, so that as many as can be are paired."""
    graph: nx.Graph[tuple[str, int]] = nx.Graph()
    graph.add_edges_from((("gold", one), ("given", other)) for one, other in fits)
    top = [node for node in graph if node[0] == "gold"]
    found = nx.bipartite.maximum_matching(graph, top_nodes=top)
    return sorted((node[1], found[node][1]) for node in top if node in found)


def score_edges(journey: Journey, reply: str | None) -> Score:
    """F1 of all edges pooled, each gold edge found by a prediction of its own; never raises."""
    given = read_object(reply, ("edges",))
    gold = Counter(triples(journey.gold_edges()))
    if not gold:
        return Score(value=None, reason="there is no gold edge to ask for")
    if given is None:
        return Score(value=0.0, flags=("no_answer",))
    found = Counter(triples(given.get("edges")))
    most = Counter({edge: min(count, max(gold[edge], 1)) for edge, count in found.items()})
    levels = {kind: _pooled(gold, most, (kind,)) for kind in EDGE_KINDS}
    total = _pooled(gold, most, EDGE_KINDS)
    answer = json.dumps(list(found), ensure_ascii=False)
    return Score(value=total.f1, answer=answer, metrics=flat({**levels, "overall": total}))


def _pooled(gold: Counter[Triple], given: Counter[Triple], kinds: Sequence[str]) -> Measure:
    one, other = (
        Counter({edge: count for edge, count in edges.items() if edge[2] in kinds}) for edges in (gold, given)
    )
    return measure(hits=(one & other).total(), predicted=other.total(), gold=one.total())


def triples(edges: object) -> Iterator[Triple]:
    """Edges as (source, target, kind), in plain spelling; what is none is passed over."""
    for edge in edges[:MAX_LISTED] if isinstance(edges, list) else ():
        ends = (
            [edge.get(name) for name in ("source", "target", "type")] if isinstance(edge, Mapping) else edge
        )
        if isinstance(ends, list) and len(ends) == 3 and all(isinstance(end, str) for end in ends):
            source, target, kind = (" ".join(end.casefold().split()) for end in ends)
            if kind in EDGE_KINDS:
                yield source, target, kind


def read_object(reply: str | None, names: Sequence[str]) -> Mapping[str, Any] | None:
    r"""The last JSON object outside thinking sections that has one of these names; None if there is none.

    >>> read_object('<think>{"edges": []}</think> ```json\n{"edges": [1]}\n```', ("edges",))
    {'edges': [1]}
    """
    if not isinstance(reply, str):
        return None
    text = _THINKING.sub("", reply[:MAX_RESPONSE])
    decoder, found, end, broken = json.JSONDecoder(), None, 0, 0
    for opening in re.finditer(r"\{\s*\"", text):
        if opening.start() < end or broken >= MAX_LISTED:
            continue
        try:
            item, end = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            broken += 1
            continue
        found = item if any(name in item for name in names) else found
    return found


def texts_by_level(given: Mapping[Any, Any], *, stripped: bool = True) -> dict[str, list[str]]:
    """The three lists of a node answer, as far as they are lists of texts."""
    lists = {}
    for level in NODE_LEVELS:
        listed = given.get(level)
        texts = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
        lists[level] = [text.strip() if stripped else text for text in texts if text.strip()][:MAX_LISTED]
    return lists
