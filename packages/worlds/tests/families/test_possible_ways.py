"""Questions about who can have been where are true by another computation and give nothing away."""

import math
import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, pairwise
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import shapely

from gnomon.core.clock import day_second
from gnomon.core.errors import DataError, NotFound
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.homography import to_ground
from gnomon_worlds.benchmarks.worlds_families import worlds_families
from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.families import sample_making
from gnomon_worlds.families.family_numbers import FamilyNumber, family_number_of
from gnomon_worlds.families.fewest_targets import fewest
from gnomon_worlds.families.possible_ways import are_in_one_room
from gnomon_worlds.families.sample_making import FAMILIES, draw_question
from packages.worlds.tests.families.drawn import question as question_of

SAME, WHICH, FEWEST = FAMILIES[:3]
TEXT_FAMILIES = (SAME, WHICH, FEWEST)
COUNT, TOLD = 24, 6
_HEAD = re.compile(r"camera (\S+), a \w+, (\S+)-(\S+)")
_BOX = re.compile(r"box x=(-?[\d.]+) y=(-?[\d.]+) w=([\d.]+) h=([\d.]+)")


def sightings_told(drawn):
    """(first place, last place, first second, last second) of each sighting, read off the prompt's text."""
    told = []
    for text in drawn.question.evidence:
        camera, start, end = _HEAD.search(text).groups()
        boxes = np.array(_BOX.findall(text), dtype=float)
        feet_px = np.column_stack([boxes[:, 0] + boxes[:, 2] / 2, boxes[:, 1] + boxes[:, 3]])
        places = to_ground(drawn.world.scene.cameras[camera].homography, feet_px)
        told.append((tuple(places[0]), tuple(places[1]), day_second(start), day_second(end)))
    return told


@lru_cache(32)
def street_graph(world):
    """Streets as a graph of points: every bend, every crossing, cut by hand."""
    graph = nx.DiGraph()
    lines = [(shapely.LineString(road.line.coords), road.oneway) for road in world.scene.roads.values()]
    for line, is_oneway in lines:
        marks = {0.0, line.length} | {line.project(shapely.Point(c)) for c in line.coords}
        for other, _ in lines:
            if other is not line and line.intersects(other):
                marks |= {line.project(point) for point in _points(line.intersection(other))}
        nodes = [line.interpolate(mark) for mark in sorted(marks)]
        for start, end in pairwise(nodes):
            ends = [(round(p.x, 3), round(p.y, 3)) for p in (start, end)]
            graph.add_edge(*ends, weight=start.distance(end))
            if not is_oneway:
                graph.add_edge(*ends[::-1], weight=start.distance(end))
    return graph


def _points(shape):
    return [part for part in shapely.get_parts(shape) if isinstance(part, shapely.Point)]


def way_m(graph, start, end):
    """Dijkstra from a point on an edge to one on an edge; streets have two directions."""
    lines = list(graph.edges)
    shapes = shapely.linestrings(lines)
    first, last = (
        lines[int(np.argmin(shapely.distance(shapes, shapely.Point(place))))] for place in (start, end)
    )
    if set(first) == set(last):
        return math.dist(start, end)
    lengths = nx.single_source_dijkstra_path_length
    best = math.inf
    for node in first:
        far = lengths(graph, node)
        for goal in last:
            best = min(best, math.dist(start, node) + far[goal] + math.dist(goal, end))
    return best


def right_words(family, told, ways, top_mps):
    going = [(a, b) for (a, b), metres in ways.items() if metres / top_mps <= told[b][2] - told[a][3]]
    if family is SAME:
        return "yes" if going else "no"
    if family is WHICH:
        return f"sighting {going[0][1] + 1}" if len(going) == 1 else "it cannot be determined"
    graph = nx.Graph()
    graph.add_nodes_from(("from", k) for k in range(4))
    graph.add_edges_from((("from", a), ("to", b)) for a, b in going)
    matched = nx.bipartite.maximum_matching(graph, top_nodes=[("from", k) for k in range(4)])
    return str(4 - len(matched) // 2)


@pytest.mark.parametrize("family", TEXT_FAMILIES, ids=lambda family: family.short)
def test_in_towns_the_truth_follows_from_the_text_and_a_graph_of_streets_built_anew(family):
    for k in range(TOLD):
        drawn = draw_question(FamilyNumber(family, "outdoor", 3, k))
        told, graph = sightings_told(drawn), street_graph(drawn.world)
        pairs = combinations(range(4), 2) if family is FEWEST else [(0, b) for b in range(1, len(told))]
        ways = {(a, b): way_m(graph, told[a][1], told[b][0]) for a, b in pairs}
        words = drawn.question.options[drawn.question.right]
        assert words.startswith(right_words(family, told, ways, 14.0))


@pytest.mark.parametrize("family", TEXT_FAMILIES, ids=lambda family: family.short)
@pytest.mark.parametrize("scene", ["outdoor", "indoor"])
def test_every_option_and_every_letter_is_right_as_often(family, scene):
    words, letters = Counter(), Counter()
    for k in range(COUNT):
        question = question_of(FamilyNumber(family, scene, 5, k))
        words[question.options[question.right]] += 1
        letters[question.gold] += 1
    options = len(question.options)
    deviation = math.sqrt(COUNT * (1 / options) * (1 - 1 / options))
    for counts in (words, letters):
        assert len(counts) == options
        assert all(abs(count - COUNT / options) < 3.5 * deviation for count in counts.values())


def test_times_are_drawn_before_it_is_settled_which_option_is_right():
    for family, rule in ((SAME, "long gap"), (WHICH, "earliest"), (WHICH, "latest"), (FEWEST, "long gaps")):
        questions = [
            question_of(FamilyNumber(family, scene, 5, k)) for scene in family.scenes for k in range(COUNT)
        ]
        hits = sum(question.right in question.rules[rule] for question in questions)
        chance = 1 / len(questions[0].options)
        assert abs(hits - len(questions) * chance) < 3.5 * math.sqrt(len(questions) * chance * (1 - chance))


def test_a_sighting_that_ends_on_a_wall_is_kept_only_at_a_door_of_its_own_floor():
    area = shapely.box(0, 0, 10, 10)
    zones = {"lower": SimpleNamespace(floor=0, area=area), "upper": SimpleNamespace(floor=1, area=area)}
    stairs = SimpleNamespace(zones=("lower", "upper"), ends_m=((0.0, 5.0), (10.0, 5.0)))
    world = SimpleNamespace(scene=SimpleNamespace(zones=zones, portals={"stairs": stairs}))

    def sighting(xy_m, floor):
        middle = SimpleNamespace(xy_m=(5.0, 5.0), floor=floor)
        return SimpleNamespace(entry=middle, exit=SimpleNamespace(xy_m=xy_m, floor=floor))

    ends = [((0.0, 5.0), 0), ((0.0, 5.0), 1), ((10.0, 5.0), 0), ((10.0, 5.0), 1), ((0.0, 8.0), 0)]
    assert are_in_one_room(world, [sighting(*end) for end in ends]) == [True, False, False, True, False]
    assert are_in_one_room(world, []) == []


def test_the_fewest_bodies_by_trying_all_shares_are_those_of_a_matching():
    pairs = list(combinations(range(4), 2))
    for subset in range(2 ** len(pairs)):
        going = {pair for place, pair in enumerate(pairs) if subset >> place & 1}
        is_transitive = all((a, c) in going for a, b in going for first, c in going if first == b)
        if is_transitive:  # as it is for bodies: who reaches a view can cross it and go on
            graph = nx.Graph()
            graph.add_nodes_from(("from", k) for k in range(4))
            graph.add_edges_from((("from", a), ("to", b)) for a, b in going)
            matched = nx.bipartite.maximum_matching(graph, top_nodes=[("from", k) for k in range(4)])
            assert fewest(4, sorted(going)) == 4 - len(matched) // 2


def test_an_id_says_all_that_determines_a_question(tmp_path):
    samples = worlds_families.open(
        data=None, select=Select(limit=6, seed=9), protocol="guarded", media=MediaStore(tmp_path)
    )
    for ref in samples.refs:
        number = family_number_of(ref.sample_id, FAMILIES)
        assert number.ref() == ref
        assert draw_question.__wrapped__(number).question == draw_question(number).question


def test_a_larger_limit_extends_a_smaller_and_filters_pick_the_same_samples(tmp_path):
    media = MediaStore(tmp_path)

    def ids(**select):
        opened = worlds_families.open(
            data=None, select=Select(seed=9, **select), protocol="guarded", media=media
        )
        return [ref.sample_id for ref in opened.refs]

    assert ids(limit=30)[:12] == ids(limit=12)
    assert set(ids(limit=4, tasks=("SameTarget",))) <= set(ids(limit=40))


@pytest.mark.parametrize("name", ["same2-outdoor-7-12", "same9-outdoor-7-00012", "none1-outdoor-7-00012", ""])
def test_an_id_of_no_sample_is_refused(name):
    with pytest.raises(NotFound):
        family_number_of(name, FAMILIES)


@pytest.mark.parametrize(
    ("difficulty", "field"), [(None, "select.tasks"), (Difficulty(level="hard"), "select.difficulty")]
)
def test_where_no_place_holds_a_question_the_error_names_what_was_chosen(difficulty, field, monkeypatch):
    monkeypatch.setattr(sample_making, "WORLDS", 1)
    barren = replace(SAME, draw=lambda *_: None)
    with pytest.raises(DataError, match="places holds the question same2-indoor") as caught:
        draw_question(FamilyNumber(barren, "indoor", 5, 0, difficulty))
    assert caught.value.field == field
