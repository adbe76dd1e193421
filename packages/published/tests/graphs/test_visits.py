"""Visiting-order graphs: built by the rules, checked, compared and drawn."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_published.benchmarks.vir_bench.benchmark import _graph_of
from gnomon_published.benchmarks.vir_bench.drawing import (
    graph_record,
    named_edges,
    read_nodes,
    read_record,
    visit_graph,
)
from gnomon_published.benchmarks.vir_bench.exhibit import figures
from gnomon_published.benchmarks.vir_bench.journey import journey_from_json
from gnomon_published.visit_graphs.compare import compared
from gnomon_published.visit_graphs.draw import all_boxes, boxes, svg
from gnomon_published.visit_graphs.graph import (
    LEVELS,
    Edge,
    Node,
    VisitGraph,
    problems,
    visiting_order,
)
from tests.published_graphs import KANSAI, KANTO

Path = tuple[str, ...]  # prefecture, city, place, place inside that …


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A place that was visited, with the areas it is in; `inside` names the places it is part of."""

    prefecture: str
    city: str
    place: str
    inside: tuple[str, ...] = ()
    category: str = ""

    @property
    def path(self) -> Path:
        """Names from the largest to the smallest."""
        return (self.prefecture, self.city, *self.inside, self.place)


def graph_of(visits: Sequence[Visit]) -> VisitGraph:
    """Inclusions of every visited place, and one transition for each step from a visit to the next.

    A step that leaves an area is drawn between the areas: at the highest level at which the two visits
    differ. A step into or out of a part of the same place is no transition, and a step made twice is one.
    """
    nodes: dict[str, Node] = {}
    edges: dict[Edge, None] = {}
    for visit in visits:
        for depth in range(1, len(visit.path) + 1):
            path = visit.path[:depth]
            category = visit.category if path == visit.path else ""
            level = LEVELS[min(depth, len(LEVELS)) - 1]
            nodes.setdefault(_id(path), Node(id=_id(path), level=level, name=path[-1], category=category))
            if depth > 1:
                edges[Edge(source=_id(path[:-1]), target=_id(path), kind="inclusion")] = None
    for before, after in pairwise(visits):
        step = _step(before.path, after.path)
        if step:
            edges[Edge(source=_id(step[0]), target=_id(step[1]), kind="transition")] = None
    return VisitGraph(nodes=nodes, edges=tuple(edges))


def _step(before: Path, after: Path) -> tuple[Path, Path] | None:
    """The ends of the transition: the two paths, cut after the first name in which they differ."""
    for depth, (left, right) in enumerate(zip(before, after, strict=False), start=1):
        if left != right:
            return before[:depth], after[:depth]
    return None


def _id(path: Path) -> str:
    return " / ".join(path)


DAY = [
    Visit(prefecture="Osaka", city="Osaka", place="Namba Station", category="train_station"),
    Visit(prefecture="Osaka", city="Osaka", place="Glico Sign"),
    Visit(prefecture="Osaka", city="Izumisano", place="Airport"),
    Visit(prefecture="Nara", city="Nara", place="Hall", inside=("Todai-ji",)),
    Visit(prefecture="Nara", city="Nara", place="Deer Park"),
]
TRANSITIONS = {
    ("Namba Station", "Glico Sign"),
    ("Osaka", "Izumisano"),
    ("Osaka", "Nara"),
    ("Todai-ji", "Deer Park"),
}

names = st.sampled_from("abc")
visits = st.lists(
    st.builds(Visit, prefecture=names, city=names, place=names, inside=st.tuples() | st.tuples(names)),
    min_size=1,
    max_size=12,
)


def test_a_step_is_drawn_at_the_level_at_which_two_visits_differ() -> None:
    graph = graph_of(DAY)
    named = [
        (graph.nodes[edge.source].name, graph.nodes[edge.target].name, edge.kind) for edge in graph.edges
    ]
    assert {(one, other) for one, other, kind in named if kind == "transition"} == TRANSITIONS
    assert ("Todai-ji", "Hall", "inclusion") in named
    assert [node.name for node in graph.at("prefecture")] == ["Osaka", "Nara"]


@given(visits)
def test_what_is_built_keeps_every_rule(made: Sequence[Visit]) -> None:
    assert problems(graph_of(made)) == []


@pytest.mark.parametrize(
    ("source", "target", "kind", "problem"),
    [
        ("Nara", "nowhere", "transition", "unknown_node"),
        ("Nara", "Nara", "transition", "self_loop"),
        ("Nara / Nara", "Osaka", "inclusion", "wrong_inclusion"),
        ("Nara", "Osaka / Osaka", "inclusion", "several_parents"),
        ("Nara", "Osaka / Osaka", "transition", "transition_across_levels"),
        ("Nara / Nara", "Osaka / Osaka", "transition", "transition_across_parents"),
        ("Osaka", "Osaka / Osaka", "inclusion", "repeated_edge"),
    ],
)
def test_a_broken_rule_is_named(source: str, target: str, kind: str, problem: str) -> None:
    graph = graph_of(DAY)
    edge = Edge(source=source, target=target, kind=kind)  # type: ignore[arg-type]
    broken = VisitGraph(nodes=graph.nodes, edges=(*graph.edges, edge))
    found = problems(broken)
    assert problem in {one.kind for one in found}
    assert all(one.detail for one in found)


def test_a_place_in_nothing_is_named() -> None:
    alone = VisitGraph(nodes={"1": Node(id="1", level="city", name="Nara")})
    assert [(one.kind, one.detail) for one in problems(alone)] == [
        ("no_parent", "Nara (city) lies in nothing")
    ]


def test_the_published_graph_is_read_as_one_that_keeps_the_rules() -> None:
    for published in (KANSAI, KANTO):
        assert problems(visit_graph(journey_from_json(published))) == []


def test_a_visit_made_twice_does_not_stop_the_order() -> None:
    edges = [Edge(source=a, target=b, kind="transition") for a, b in ("ab", "ba", "bc")]
    nodes = {name: Node(id=name, level="city", name=name) for name in "abc"}
    assert visiting_order(VisitGraph(nodes=nodes, edges=edges), "abc") == ["a", "b", "c"]


def test_edges_of_a_reply_are_right_wrong_or_missed() -> None:
    journey = journey_from_json(KANSAI)
    reply = [*journey.gold_edges()[:-2], {"source": "Nara", "target": "Kobe", "type": "transition"}]
    found = compared(visit_graph(journey), named_edges([*reply, {"source": 3}, "x", None]))
    assert sorted(found.gold_marks.values()).count("missed") == 2
    assert list(found.answer_marks.values()).count("wrong") == 1
    assert {node.name for node in found.answer.nodes.values()} - {
        node.name for node in found.gold.nodes.values()
    } == {"Kobe"}


def test_one_name_for_two_places_is_each_of_them_once() -> None:
    nodes = {n: Node(id=n, level="place", name="Unknown (cafe)") for n in "12"}
    nodes["c"] = Node(id="c", level="city", name="Nara")
    gold = VisitGraph(nodes=nodes, edges=tuple(Edge(source="c", target=n, kind="inclusion") for n in "12"))
    once = compared(gold, [("Nara", "Unknown (cafe)", "inclusion")])
    assert sorted(once.gold_marks.values()) == ["missed", "right"]
    twice = compared(gold, [("Nara", "Unknown (cafe)", "inclusion")] * 3)
    assert set(twice.gold_marks.values()) == {"right"}


def test_what_stays_with_a_score_is_drawn_as_two_pictures() -> None:
    journey = journey_from_json(KANSAI)
    record = graph_record(journey, named_edges(journey.gold_edges()[:3]))
    graph, given = read_record(record)
    assert list(graph.named_edges()) == list(visit_graph(journey).named_edges())
    assert len(given) == 3
    captions = [caption for caption, _ in figures({"graph": record})]
    assert captions == ["Gold: 3 of 11 edges found", "Model: 3 edges, 0 of them wrong"]
    assert figures({"overall.f1": 1.0}) == []


def test_a_picture_holds_every_name_and_arrow_and_no_markup_from_outside() -> None:
    graph = graph_of([*DAY, Visit(prefecture="<script>", city="&\"'", place="x" * 300)])
    picture = svg(graph, title="a <b> & c")
    root = ET.fromstring(picture)
    texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert len(texts) == len(graph.nodes) + 1
    assert {"<script>", "&\"'"} <= set(texts)
    assert max(map(len, texts)) < 40
    paths = list(root.iter("{http://www.w3.org/2000/svg}path"))
    assert len(paths) == 2 * len(graph.of("transition"))
    assert "<script>" not in picture


node_ids = st.sampled_from("abcdef")
any_graph = st.builds(
    lambda levels, edges: VisitGraph(
        nodes={n: Node(id=n, level=level, name=n) for n, level in zip("abcdef", levels, strict=False)},
        edges=tuple(Edge(source=a, target=b, kind=kind) for a, b, kind in edges),
    ),
    st.lists(st.sampled_from(["prefecture", "city", "place"]), min_size=1, max_size=6),
    st.lists(st.tuples(node_ids, node_ids, st.sampled_from(["inclusion", "transition"])), max_size=14),
)


@given(any_graph)
def test_any_graph_is_drawn_with_each_node_once_and_boxes_that_do_not_cross(graph: VisitGraph) -> None:
    ET.fromstring(svg(graph, title="t", marks=dict.fromkeys(graph.edges, "wrong")))
    assert isinstance(problems(graph), list)
    outermost = boxes(graph)
    assert sorted(box.node.id for box in all_boxes(outermost)) == sorted(graph.nodes)
    for box in all_boxes(outermost):
        for inner in box.inside:
            assert box.x <= inner.x
            assert inner.x + inner.width <= box.x + box.width
            assert inner.y + inner.height <= box.y + box.height
        for one, other in pairwise(box.inside):
            assert one.y + one.height <= other.y
    for one, other in pairwise(outermost):
        assert one.x + one.width < other.x


@given(
    any_graph,
    st.lists(
        st.tuples(
            st.sampled_from([*"abcdef", "made up"]), node_ids, st.sampled_from(["inclusion", "transition"])
        ),
        max_size=10,
    ),
)
def test_marks_count_every_edge(gold: VisitGraph, given_edges: list[tuple[str, str, str]]) -> None:
    known = tuple(e for e in gold.edges if e.source in gold.nodes and e.target in gold.nodes)
    found = compared(VisitGraph(nodes=gold.nodes, edges=known), given_edges)  # type: ignore[arg-type]
    assert set(found.gold_marks) == set(known)
    assert set(found.answer_marks) == set(found.answer.edges)
    right = [edge for edge, mark in found.answer_marks.items() if mark == "right"]
    assert set(right) <= set(known)
    assert all(
        edge.source in found.answer.nodes and edge.target in found.answer.nodes for edge in found.answer.edges
    )


@pytest.mark.parametrize("scoring", ["official", "strict"])
def test_a_node_answer_is_drawn_with_what_it_found_and_made_up(scoring: str) -> None:
    journey = journey_from_json(KANSAI)
    reply = {
        "prefectures": ["Osaka", "Kyoto"],
        "cities": ["Osaka"],
        "points_of_interest": ["Namba Station (train_station)", "Gion (tourist_attraction)"],
    }
    text = _graph_of(journey, "node", json.dumps(reply), scoring)  # type: ignore[arg-type]
    nodes = read_nodes(text)
    assert nodes is not None
    found = {nodes.answer.nodes[node].name for node, mark in nodes.answer_marks.items() if mark == "right"}
    assert found == {"Osaka", "Namba Station"}
    wrong = {nodes.answer.nodes[node].name for node, mark in nodes.answer_marks.items() if mark == "wrong"}
    assert wrong == {"Kyoto", "Gion (tourist_attraction)"}
    assert [caption for caption, _ in figures({"graph": text})] == [
        "Gold: 3 of 8 locations found",
        "Model: 5 locations, 2 of them wrong",
    ]
    assert ("Osaka", "Namba Station", "inclusion") in list(nodes.answer.named_edges())
