"""Questions about bodies out of sight: their truth, computed another way, and what gives nothing away."""

import asyncio
import math
import re
from collections import Counter
from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest
import shapely

from agents.models.reference.hidden_questions import read_hidden_question
from agents.models.reference.model import ReferenceModel
from gnomon.benchmarks.gtr_bench.clock import day_second
from gnomon.core.model import Request
from gnomon.spec.job_spec import ModelSpec
from gnomon.worlds.families.drawing import FAMILIES, draw_question
from gnomon.worlds.families.family_numbers import FamilyNumber
from gnomon.worlds.families.permanence import (
    COMES_OUT,
    FEWEST_HIDDEN,
    ORDER_HIDDEN,
    STILL_HIDDEN,
    WHERE_HIDDEN,
)
from tools.geometry.homography import to_ground

HIDING = (WHERE_HIDDEN, STILL_HIDDEN, COMES_OUT, ORDER_HIDDEN, FEWEST_HIDDEN)
SCENES = ("outdoor", "indoor")
COUNT, TOLD = 36, 14
_HEAD = re.compile(r"camera (\S+), a \w+, (\S+)-(\S+)")
_BOX = re.compile(r"box x=(-?[\d.]+) y=(-?[\d.]+) w=([\d.]+) h=([\d.]+)")
_SPEEDS = re.compile(r"at ([\d.]+) to ([\d.]+) m/s")
UNKNOWN = "it cannot be determined"


def sightings_read(drawn):
    """(first place, last place, first second, last second) of each sighting, read off the prompt's text."""
    sightings = []
    for text in drawn.question.evidence:
        camera, start, end = _HEAD.search(text).groups()
        boxes = np.array(_BOX.findall(text), dtype=float)
        feet_px = np.column_stack([boxes[:, 0] + boxes[:, 2] / 2, boxes[:, 1] + boxes[:, 3]])
        places = to_ground(drawn.world.scene.cameras[camera].homography, feet_px)
        sightings.append((tuple(places[0]), tuple(places[1]), day_second(start), day_second(end)))
    return sightings


class Streets:
    """Ways along the streets, on a graph that is built anew: corners, crossings, and the points asked for."""

    def __init__(self, world, points):
        self.graph = nx.Graph()
        lines = [shapely.LineString(road.line.coords) for road in world.scene.roads.values()]
        self.at = {}
        marks = {number: {0.0, line.length} for number, line in enumerate(lines)}
        for number, line in enumerate(lines):
            marks[number] |= {line.project(shapely.Point(corner)) for corner in line.coords}
            for crossing in lines:
                if crossing is not line and crossing.intersects(line):
                    marks[number] |= {
                        line.project(part)
                        for part in shapely.get_parts(line.intersection(crossing))
                        if isinstance(part, shapely.Point)
                    }
        for point in points:
            nearest = min(range(len(lines)), key=lambda number: lines[number].distance(shapely.Point(point)))
            mark = lines[nearest].project(shapely.Point(point))
            marks[nearest].add(mark)
            self.at[point] = self._node(lines[nearest], mark)
        for number, line in enumerate(lines):
            for start, end in pairwise(sorted(marks[number])):
                self.graph.add_edge(self._node(line, start), self._node(line, end), weight=end - start)

    @staticmethod
    def _node(line, mark):
        point = line.interpolate(mark)
        return round(point.x, 3), round(point.y, 3)

    def way_m(self, start, end):
        return nx.shortest_path_length(self.graph, self.at[start], self.at[end], weight="weight")


def right_words(drawn):
    """The right option's words, from the prompt's text and a graph of streets built anew."""
    question, seen = drawn.question, sightings_read(drawn)
    slow_mps, fast_mps = map(float, _SPEEDS.search(question.text).groups())
    places = {place.name: place.xy_m for place in drawn.world.scene.places.values()}
    streets = Streets(
        drawn.world, [*(each[0] for each in seen), *(each[1] for each in seen), *places.values()]
    )

    def can_go(start, end, seconds):
        return slow_mps * seconds <= streets.way_m(start, end) <= fast_mps * seconds

    if moment := re.search(r"At (\S+) it was", question.text):
        at_s = day_second(moment[1])
        can = [
            name
            for name in question.options
            if name in places
            and can_go(seen[0][1], places[name], at_s - seen[0][3])
            and can_go(places[name], seen[1][0], seen[1][2] - at_s)
        ]
        return can[0] if len(can) == 1 else UNKNOWN
    went = len(re.findall(r"\d", re.search(r"After sightings ([\d, and]+) t", question.text)[1]))
    before, after = range(went), range(went, len(seen))
    going = {
        (a, b) for a, b in product(before, after) if can_go(seen[a][1], seen[b][0], seen[b][2] - seen[a][3])
    }
    if "How many" in question.text:
        graph = nx.Graph([(("in", a), ("out", b)) for a, b in going])
        matched = (
            nx.bipartite.maximum_matching(graph, [node for node in graph if node[0] == "in"]) if going else {}
        )
        return str(went - len(matched) // 2)
    # every word that tells who came out where: each body's sighting, or None while it is hidden
    stories = [
        story
        for story in product([None, *after], repeat=went)
        if all(b is None or (a, b) in going for a, b in enumerate(story))
        and len({b for b in story if b is not None})
        == sum(b is not None for b in story)
        == min(went, len(after))
    ]
    assert stories
    if "came into sight first" in question.text:
        words = {f"that of sighting {1 + int(story[0] > story[1])}" for story in stories}
    elif "still out of sight then" in question.text:
        body = int(re.search(r"Is the \w+ of sighting (\d)", question.text)[1]) - 1
        words = {
            "yes, it is still out of sight" if story[body] is None else "no, it has come into sight"
            for story in stories
        }
    else:
        body = int(re.search(r"is of the \w+ of sighting (\d)", question.text)[1]) - 1
        words = {f"sighting {story[body] + 1}" for story in stories}
    return words.pop() if len(words) == 1 else UNKNOWN


@pytest.mark.parametrize("family", HIDING, ids=lambda family: family.short)
def test_in_towns_the_truth_follows_from_the_text_and_a_graph_of_streets_built_anew(family):
    for k in range(TOLD):
        drawn = draw_question(FamilyNumber(family, "outdoor", 3, k))
        assert right_words(drawn) == drawn.question.options[drawn.question.right]


@pytest.mark.parametrize("family", HIDING, ids=lambda family: family.short)
@pytest.mark.parametrize("scene", SCENES)
def test_every_option_and_every_letter_is_right_as_often(family, scene):
    words, letters = Counter(), Counter()
    for k in range(COUNT):
        question = draw_question(FamilyNumber(family, scene, 5, k)).question
        named = question.options[question.right]
        words[named if named == UNKNOWN or family is not WHERE_HIDDEN else "a place"] += 1
        letters[question.gold] += 1
    options = len(question.options)
    deviation = math.sqrt(COUNT * (1 / options) * (1 - 1 / options))
    for counts in (letters,) if family is WHERE_HIDDEN else (letters, words):
        assert len(counts) == options
        assert all(abs(count - COUNT / options) < 3.5 * deviation for count in counts.values())
    if UNKNOWN in question.options:
        assert abs(words[UNKNOWN] - COUNT / options) < 3.5 * deviation


@pytest.mark.parametrize("family", HIDING, ids=lambda family: family.short)
def test_rules_of_thumb_find_the_answer_no_more_often_than_a_guess(family):
    questions = [draw_question(FamilyNumber(family, s, 5, k)).question for s in SCENES for k in range(COUNT)]
    chance = 1 / len(questions[0].options)
    deviation = math.sqrt(len(questions) * chance * (1 - chance))
    for rule in questions[0].rules:
        hits = sum(question.right in question.rules[rule] for question in questions)
        assert hits < len(questions) * chance + 3.5 * deviation, rule


def test_bodies_go_out_of_sight_before_any_comes_and_by_different_cameras():
    for family in HIDING[1:]:
        for k in range(8):
            drawn = draw_question(FamilyNumber(family, "outdoor", 5, k))
            went = 3 if family in (STILL_HIDDEN, FEWEST_HIDDEN) else 2
            seen = sightings_read(drawn)
            assert max(each[3] for each in seen[:went]) < min(each[2] for each in seen[went:])
            cameras = [_HEAD.search(text)[1] for text in drawn.question.evidence]
            assert len(set(cameras)) == len(cameras) == 5


def test_families_of_hidden_bodies_come_after_those_that_were_there():
    assert [family.short for family in FAMILIES[:3]] == ["same", "which", "fewest"]
    assert FAMILIES[3:] == HIDING
    ref = FamilyNumber(COMES_OUT, "outdoor", 7, 12).ref()
    assert (ref.sample_id, ref.cluster) == ("out1-outdoor-7-00012", "w7-with~occluded-outdoor-3")


def messages_of(drawn):
    question = drawn.question
    options = "\n".join(f"{letter}. {words}" for letter, words in question.by_letter.items())
    texts = [*question.evidence, f"Question: {question.text}\nOptions:\n{options}"]
    return [{"role": "user", "content": [{"type": "text", "text": text} for text in texts]}]


def test_the_reference_reads_these_questions_and_guesses_without_tools():
    for family in HIDING:
        messages = messages_of(draw_question(FamilyNumber(family, "indoor", 5, 0)))
        read = read_hidden_question(messages)
        assert read is not None
        assert (read.slow_mps, read.top_mps) == (0.9, 2.0)
        assert len(read.sightings) == (2 if family is WHERE_HIDDEN else 5)
        reply = asyncio.run(
            ReferenceModel(ModelSpec(id="reference")).reply(Request(messages=messages, tools=()))
        )
        assert '"answer"' in reply.text
