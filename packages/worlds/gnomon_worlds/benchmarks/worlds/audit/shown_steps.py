"""Reads the true steps back from their text, beside the question as its prompt shows it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import networkx as nx

from gnomon.core.errors import DataError
from gnomon.core.sample import Sample
from gnomon_published.benchmarks.gtr_bench.audit.shown_question import Seen, seen_in_prompt
from gnomon_worlds.oracle_steps import ONE_WAY

_NUMBER = r"(\d+(?:\.\d+)?)"
_PLACE = rf"{_NUMBER} m along (w\d+)"
_CROSSING = re.compile(
    rf"^- camera (\S+): the \w+ came into view {_PLACE} and left it {_PLACE}, {_NUMBER} s later,"
    rf" at {_NUMBER} m/s on average$",
    re.MULTILINE,
)
_VIEW = re.compile(r"^- view of (\S+): (.*)$", re.MULTILINE)
_SPOT = re.compile(_PLACE)
_WAY = re.compile(
    rf"^- (w\d+): {_NUMBER} m, running to {_NUMBER} deg, from (j\d+) to (j\d+)({ONE_WAY})?$", re.MULTILINE
)
_CLIMB = re.compile(rf"^- (?:stairs|lift): {_NUMBER} m, from (j\d+) to (j\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Place:
    """A position along a way, in metres from where the way begins."""

    along_m: float
    way: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """How a target crossed a camera's view."""

    camera: str
    entry: Place
    exit: Place
    stay_s: float
    speed_mps: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way from one junction to another, as the text lists it."""

    name: str
    length_m: float
    bearing_deg: float
    ends: tuple[str, str]
    is_oneway: bool


@dataclass(frozen=True, kw_only=True)
class ShownSteps:
    """A question and its true steps, both read from words alone; `clips` are in the prompt's order."""

    question: Seen
    text: str
    clips: tuple[Crossing, ...]
    views: Mapping[str, tuple[Place, ...]]
    ways: Mapping[str, Way]
    climbs: tuple[tuple[str, str, float], ...]

    @property
    def task(self) -> str:
        return self.question.task

    @property
    def options(self) -> tuple[str, ...]:
        return self.question.options

    @cached_property
    def joined(self) -> "nx.DiGraph[Place | str]":
        """All junctions and positions that the text names, with lengths along the ways."""
        graph: nx.DiGraph[Place | str] = nx.DiGraph()
        on_way: dict[str, dict[Place | str, float]] = {
            way.name: {way.ends[0]: 0.0, way.ends[1]: way.length_m} for way in self.ways.values()
        }
        spots = [spot for spots in self.views.values() for spot in spots]
        for spot in (*spots, *(end for clip in self.clips for end in (clip.entry, clip.exit))):
            on_way[spot.way][spot] = spot.along_m
        for way, positions in on_way.items():
            for (here, here_m), (there, there_m) in permutations(positions.items(), 2):
                if here_m <= there_m or not self.ways[way].is_oneway:
                    graph.add_edge(here, there, weight=abs(here_m - there_m))
        for low, high, length_m in self.climbs:
            graph.add_edge(low, high, weight=length_m)
            graph.add_edge(high, low, weight=length_m)
        return graph


def shown_steps(sample: Sample, text: str) -> ShownSteps:
    """The guarded prompt of a sample and its true steps `text`, as a reader gets them.

    Raises:
        DataError: the words cannot be read, so nothing may be concluded from them.
    """
    question = seen_in_prompt(sample, "guarded")
    crossings = {match[1]: _crossing(match) for match in _CROSSING.finditer(text)}
    views = {
        match[1]: tuple(_place(*spot) for spot in _SPOT.findall(match[2])) for match in _VIEW.finditer(text)
    }
    ways = {match[1]: _way(match) for match in _WAY.finditer(text)}
    if crossings.keys() != {clip.camera for clip in question.clips} or not ways or not all(views.values()):
        raise DataError(f"the true steps of {question.sample_id} cannot be read")
    return ShownSteps(
        question=question,
        text=text,
        clips=tuple(crossings[clip.camera] for clip in question.clips),
        views=views,
        ways=ways,
        climbs=tuple((low, high, float(length_m)) for length_m, low, high in _CLIMB.findall(text)),
    )


def _place(along_m: str, way: str) -> Place:
    return Place(float(along_m), way)


def _crossing(match: re.Match[str]) -> Crossing:
    return Crossing(
        camera=match[1],
        entry=_place(match[2], match[3]),
        exit=_place(match[4], match[5]),
        stay_s=float(match[6]),
        speed_mps=float(match[7]),
    )


def _way(match: re.Match[str]) -> Way:
    return Way(
        name=match[1],
        length_m=float(match[2]),
        bearing_deg=float(match[3]),
        ends=(match[4], match[5]),
        is_oneway=bool(match[6]),
    )
