"""Asks what only views that overlap can tell: who else sees a target, who takes over, whom both see, how far.

Every answer holds for the rows and for the ground: a camera sees a target well within its view that it has
boxes of before and after; it does not see one well outside that it has no box of for a while. Questions come
in fours that offer the same, each with another right answer, so that no option is right more often.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from gnomon.core.clock import clock
from gnomon.core.errors import DataError, SpecError
from gnomon.core.ids import stable_seed
from gnomon_worlds.tracking.asking import meaning_of
from gnomon_worlds.tracking.build import write_place
from gnomon_worlds.tracking.calibration import foot_points, on_ground
from gnomon_worlds.tracking.cleaning import clean
from gnomon_worlds.tracking.look import Look
from gnomon_worlds.tracking.neutral_form import BodyKind, Tracking
from gnomon_worlds.tracking.pictures import cut, edges_of
from gnomon_worlds.tracking.sightings import gap_s_of
from gnomon_worlds.tracking.site_world import Place, place_of
from gnomon_worlds.tracking.synthetic import seen_by

VERSION = 2  # part of every seed: a change that changes questions changes it
LIMIT = 128
FOUR = 4
DRAWN = 1_500  # boxes looked at
MOMENTS = 40  # of every two cameras
PAIRED = 12  # targets of each
SURE_S = 1.0  # before and after, for which a camera has boxes of whom it sees
# Before and after a camera begins or ceases to see a target another one shows it: at the nearest box that is
# at least so long off, and at most so long.
HALF_S, LONGEST_HALF_S = 4.0, 15.0
TICKS_PER_S = 20  # boxes of one tick are of one moment
CLEAR_M: Mapping[BodyKind, float] = {"pedestrian": 0.7, "vehicle": 3.0}  # from the edge of a view
NEAREST_M: Mapping[BodyKind, float] = {"pedestrian": 2.0, "vehicle": 8.0}  # of distances that are asked
FARTHER = 1.5  # from one distance to the next that is offered
KIN_S = 10  # of questions within which others' views may show the same targets
WITHIN = 1.1  # by which a distance may be off its rung of the ladder

UNCLEAR, UNSEEN, SEEN = -1, 0, 1
BECAME: Mapping[tuple[int, int], str] = {
    (SEEN, SEEN): "sees it all the time",
    (UNSEEN, SEEN): "comes to see it",
    (SEEN, UNSEEN): "loses sight of it",
    (UNSEEN, UNSEEN): "does not see it",
}
TASKS: Mapping[str, str] = {
    "WhichCamerasSee": "no two cameras see a target together, apart and not at all, each beyond doubt",
    "HandOver": "no camera takes targets over and hands them on while another sees them, each beyond doubt",
    "InBothViews": "no two cameras see enough of the same targets, and others, at one time",
    "DistanceAcrossViews": "no two cameras see enough pairs of targets at distances of all lengths",
}
STANDS = (
    "Boxes are [left, top, width, height] in pixels; a target stands at the middle of its box's lower edge."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """A question with four options, the place of the right one, and the rows of boxes that it shows."""

    task: str
    text: str
    options: tuple[str, ...]
    right: int
    rows: tuple[int, ...]


Candidates = Sequence[list[Overlap]]  # by the place of the right option; one of each makes four questions


class OverlapAsker:
    """Asks of the boxes that show beyond doubt where a target stands."""

    def __init__(self, look: Look, place: Place, rng: Random) -> None:
        self._boxes, self._seen, self._rng = look.tracking.boxes, look.seen, rng
        self._names, self._floors = place.dealt, [camera.floor for camera in look.tracking.cameras]
        self._views = {index: seen_by(place.world.scene.cameras[name]) for index, name in place.dealt.items()}
        indices = {camera.id: index for index, camera in enumerate(look.tracking.cameras)}
        self._pairs = [tuple(indices[name] for name in pair.cameras) for pair in look.pairs]
        self._clear_m = np.array(
            [CLEAR_M[look.tracking.body_of(at)] for at in range(len(look.tracking.targets))]
        )
        self._meaning = meaning_of(look.tracking)
        self._body, self._gap_s = look.tracking.body, gap_s_of(look.tracking)
        self._xy_m = look.ground.xy_m.copy()
        usable = look.ground.on_floor & np.isin(self._boxes.camera, list(place.dealt))
        for index in place.dealt:
            camera, rows = look.tracking.cameras[index], np.flatnonzero(self._boxes.camera == index)
            below, sides = cut(edges_of(look.tracking, index), self._boxes.ltwh[rows])
            homography = look.calibrated[camera.id].homography
            shown = on_ground(homography, foot_points(self._boxes.ltwh[rows]), camera.image_size)
            off_m = np.linalg.norm(shown.xy_m - look.ground.xy_m[rows], axis=1)
            fits = shown.on_floor & (off_m <= self._clear_m[self._boxes.target[rows]] / 2)
            usable[rows] &= fits & ~below & ~sides
            self._xy_m[rows] = shown.xy_m
        self._usable = np.flatnonzero(usable)
        drawn = rng.sample(self._usable.tolist(), min(DRAWN, len(self._usable)))
        self._drawn, self._states = drawn, self._states_at(np.array(drawn, dtype=np.intp))

    def groups(self, task: str) -> list[Candidates]:
        """Candidates for fours of a task, by what they have in common; each list in an order drawn by lot."""
        groups: dict[Any, Candidates] = defaultdict(lambda: [[] for _ in range(FOUR)])
        for key, overlap in _ASK[task](self):
            groups[key][overlap.right].append(overlap)
        whole = [groups[key] for key in sorted(groups) if all(groups[key])]
        for candidates in whole:
            for questions in candidates:
                self._rng.shuffle(questions)
        return whole

    def _states_at(self, rows: NDArray[np.intp]) -> NDArray[np.int8]:
        """Of each box and camera whether that sees the target then: for sure, for sure not, or unclear."""
        states = np.full((len(rows), len(self._floors)), UNCLEAR, dtype=np.int8)
        points, clear_m = shapely.points(self._xy_m[rows]), self._clear_m[self._boxes.target[rows]]
        floors = np.array(self._floors)
        for index, view in self._views.items():
            inside_m = shapely.distance(view.exterior, points) * np.where(
                shapely.contains(view, points), 1, -1
            )
            same = floors[self._boxes.camera[rows]] == floors[index]
            states[same & (inside_m >= clear_m), index] = SEEN
            states[~same | (inside_m <= -clear_m), index] = UNSEEN
        for at, row in enumerate(rows.tolist()):
            time_s, sure, near = float(self._boxes.time_s[row]), set[int](), set[int]()
            for one in self._seen[int(self._boxes.target[row])]:
                if one.start_s - self._gap_s <= time_s <= one.end_s + self._gap_s:
                    near.add(one.camera)
                    if one.start_s + SURE_S <= time_s <= one.end_s - SURE_S:
                        sure.add(one.camera)
            for index in self._views:
                by_rows = SEEN if index in sure else UNCLEAR if index in near else UNSEEN
                if states[at, index] != by_rows:
                    states[at, index] = UNCLEAR
        return states

    def _shown(self, row: int) -> str:
        return str(self._boxes.ltwh[row].round(1).tolist())

    def _name(self, row: int) -> str:
        return self._names[int(self._boxes.camera[row])]

    def _when(self, row: int) -> str:
        return clock(round(float(self._boxes.time_s[row]), 3))

    def which(self) -> Iterator[tuple[Any, Overlap]]:
        """Which of two cameras see a target that a third shows."""
        for row, states in zip(self._drawn, self._states, strict=True):
            sure = {at for at in self._views if states[at] != UNCLEAR and at != self._boxes.camera[row]}
            for pair in filter(sure.issuperset, self._pairs):
                first, second = (self._names[at] for at in pair)
                text = (
                    f"At {self._when(row)} camera {self._name(row)} shows a target in the box"
                    f" {self._shown(row)}. Which of the cameras {first} and {second} see it at that time?"
                    f" {self._meaning}"
                )
                yield (
                    pair,
                    Overlap(
                        task="WhichCamerasSee",
                        text=text,
                        options=("neither of them", f"only {first}", f"only {second}", "both of them"),
                        right=int(states[pair[0]]) + 2 * int(states[pair[1]]),
                        rows=(row,),
                    ),
                )

    def hand_over(self) -> Iterator[tuple[Any, Overlap]]:
        """Whether another camera comes to see a target, loses it, or neither, while one shows it."""
        ends = np.array(sorted(set(self._windows())), dtype=np.intp).reshape(-1, 2)
        states = (self._states_at(ends[:, at]) for at in (0, 1))
        for (first, last), early, late in zip(ends.tolist(), *states, strict=True):
            start_s, end_s = self._boxes.time_s[[first, last]].tolist()
            looks: dict[int, int] = Counter(
                one.camera
                for one in self._seen[int(self._boxes.target[first])]
                if one.start_s <= end_s and start_s <= one.end_s
            )
            text = (
                f"Camera {self._name(first)} sees a target from {self._when(first)}, in the box"
                f" {self._shown(first)}, to {self._when(last)}, in the box {self._shown(last)}."
            )
            for at, name in self._names.items():
                became = int(early[at]), int(late[at])
                is_once = looks.get(at, 0) == max(became)
                if at != self._boxes.camera[first] and UNCLEAR not in became and is_once:
                    yield (
                        at,
                        Overlap(
                            task="HandOver",
                            text=f"{text} What becomes of it in camera {name} in that time? {self._meaning}",
                            options=tuple(f"{name} {words}" for words in BECAME.values()),
                            right=list(BECAME).index(became),
                            rows=(first, last),
                        ),
                    )

    def _windows(self) -> Iterator[tuple[int, int]]:
        """Two boxes of a camera around the moment at which another begins or ceases to see the target."""
        is_usable = np.zeros(len(self._boxes), dtype=np.bool_)
        is_usable[self._usable] = True
        for looks in self._seen.values():
            for one, other in permutations(looks, 2):
                rows = one.rows[is_usable[one.rows]]
                for moment_s in (other.start_s, other.end_s) if one.camera != other.camera else ():
                    times_s = self._boxes.time_s[rows] - moment_s
                    is_near = np.abs(times_s) <= LONGEST_HALF_S
                    before, after = rows[is_near & (times_s <= -HALF_S)], rows[is_near & (times_s >= HALF_S)]
                    if len(before) and len(after):
                        yield int(before[-1]), int(after[0])

    def _moments(self) -> Iterator[tuple[tuple[int, int], dict[int, int], dict[int, int]]]:
        """Of every two cameras of a floor some moments, each with the boxes by target of either."""
        by_tick: dict[int, dict[int, dict[int, int]]] = defaultdict(lambda: defaultdict(dict))
        for row in self._usable.tolist():
            tick, camera = round(float(self._boxes.time_s[row]) * TICKS_PER_S), int(self._boxes.camera[row])
            by_tick[tick][camera][int(self._boxes.target[row])] = row
        for first, second in self._pairs:
            if self._floors[first] == self._floors[second]:
                ticks = [tick for tick in by_tick if {first, second} <= by_tick[tick].keys()]
                for tick in self._rng.sample(ticks, min(MOMENTS, len(ticks))):
                    yield (first, second), by_tick[tick][first], by_tick[tick][second]

    def _far_m(self, row: int, other: int) -> float:
        return math.dist(self._xy_m[row], self._xy_m[other])

    def in_both(self) -> Iterator[tuple[Any, Overlap]]:
        """How many targets are among four boxes of one camera and among four of another."""
        for pair, mine, theirs in self._moments():
            clear_m = {target: float(self._clear_m[target]) for target in mine.keys() | theirs.keys()}
            common = [
                target for target in mine.keys() & theirs.keys()
                if self._far_m(mine[target], theirs[target]) <= clear_m[target]
            ]  # fmt: skip
            alone = [target for target in mine if target not in theirs or target in common]
            beyond = [target for target in theirs if target not in mine or target in common]
            for count in range(1, FOUR + 1):
                both = self._apart(common, [], count, mine, theirs, clear_m)
                first = self._apart(alone, both, FOUR, mine, theirs, clear_m)
                second = self._apart(beyond, both, FOUR, mine, theirs, clear_m, apart_from=first)
                if len(both) < count or len(first) < FOUR or len(second) < FOUR:
                    continue
                rows = [[mine[target] for target in first], [theirs[target] for target in second]]
                lists = ["; ".join(map(self._shown, self._rng.sample(own, FOUR))) for own in rows]
                text = (
                    f"At {self._when(rows[0][0])} camera {self._name(rows[0][0])} shows targets in the boxes"
                    f" {lists[0]}, and camera {self._name(rows[1][0])} in the boxes {lists[1]}. How many"
                    " targets are in both lists?"
                )
                yield (
                    pair,
                    Overlap(
                        task="InBothViews",
                        text=text,
                        options=tuple(map(str, range(1, FOUR + 1))),
                        right=count - 1,
                        rows=(*rows[0], *rows[1]),
                    ),
                )

    def _apart(
        self, targets: Sequence[int], chosen: Sequence[int], count: int, mine: Mapping[int, int],
        theirs: Mapping[int, int], clear_m: Mapping[int, float], apart_from: Sequence[int] = (),
    ) -> list[int]:  # fmt: skip
        """The chosen targets and others up to a count, none of which could be taken for another."""

        def is_clear(target: int, other: int) -> bool:
            places = ([own[at] for own in (mine, theirs) if at in own] for at in (target, other))
            least_m = 2 * (clear_m[target] + clear_m[other])
            return all(self._far_m(a, b) >= least_m for a, b in product(*places))

        targets_chosen = list(chosen)
        for target in self._rng.sample(list(targets), len(targets)):
            others = (*targets_chosen, *apart_from)
            if (
                len(targets_chosen) < count
                and target not in others
                and all(is_clear(target, at) for at in others)
            ):
                targets_chosen.append(target)
        return targets_chosen

    def distances(self) -> Iterator[tuple[Any, Overlap]]:
        """How far apart two targets stand, one shown by one camera, one by another."""
        nearest_m = NEAREST_M[self._body]
        for pair, mine, theirs in self._moments():
            for target, other in self._rng.sample(
                list(product(mine, theirs)), min(PAIRED, len(mine) * len(theirs))
            ):
                row, other_row = mine[target], theirs[other]
                far_m = self._far_m(row, other_row)
                if target == other or far_m < nearest_m / WITHIN:
                    continue
                rung = round(math.log(far_m / nearest_m, FARTHER))
                if max(ratio := far_m / (nearest_m * FARTHER**rung), 1 / ratio) > WITHIN:
                    continue
                text = (
                    f"At {self._when(row)} camera {self._name(row)} shows a target in the box"
                    f" {self._shown(row)}, and camera {self._name(other_row)} another one in the box"
                    f" {self._shown(other_row)}. How far apart do they stand?"
                )
                for right in range(min(rung, FOUR - 1) + 1):
                    offered_m = [far_m * FARTHER ** (at - right) for at in range(FOUR)]
                    yield (
                        (*pair, rung - right),
                        Overlap(
                            task="DistanceAcrossViews",
                            text=text,
                            options=tuple(f"{value:.1f} m" for value in offered_m),
                            right=right,
                            rows=(row, other_row),
                        ),
                    )


_ASK: Mapping[str, Callable[[OverlapAsker], Iterator[tuple[Any, Overlap]]]] = {
    "WhichCamerasSee": OverlapAsker.which,
    "HandOver": OverlapAsker.hand_over,
    "InBothViews": OverlapAsker.in_both,
    "DistanceAcrossViews": OverlapAsker.distances,
}


def in_fours(groups: Sequence[Candidates], count: int) -> list[Overlap]:
    """Questions of the groups by turns, up to a count: one for each place of each, no box shown twice."""
    taken: list[Overlap] = []
    used: set[int] = set()
    left = list(groups)
    while left and len(taken) + FOUR <= count:
        for group in list(left):
            if len(taken) + FOUR > count:
                break
            four: list[Overlap] = []
            for questions in group:
                while questions:
                    question = questions.pop()
                    rows = {row for one in four for row in one.rows} | used
                    if rows.isdisjoint(question.rows):
                        four.append(question)
                        break
            if len(four) < FOUR:
                left.remove(group)
                continue
            taken += four
            used |= {row for one in four for row in one.rows}
    return taken


def build_overlaps(
    look: Look,
    out: Path,
    *,
    tasks: Sequence[str] = tuple(TASKS),
    limit: int = LIMIT,
    seed: int = 0,
    notice: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Write questions that need views that overlap to `out/questions.jsonl`; returns counts by task.

    Map and scene lie below `out/data`; `build/overlaps.ndjson` says by question whom it is about.

    Raises:
        DataError: the recording cannot be used; the message says why.
        SpecError: `out` holds something, a task has another name, or the limit is below four for each.
    """
    tasks = tuple(dict.fromkeys(tasks))
    for task in tasks:
        if task not in TASKS:
            raise SpecError(f"no task {task!r}; there are: {', '.join(TASKS)}", field="--tasks")
    if limit < FOUR * len(tasks):
        raise SpecError(f"questions come in fours: {FOUR * len(tasks)} or more", field="--limit")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SpecError(f"{out} is there already; name a new or empty folder", field="--out")
    look.refuse()
    tracking = look.tracking
    notes = [*tracking.notes, *(str(finding) for finding in look.findings if finding.kind != "overlap")]
    for note in notes:
        notice(note)
    if not look.pairs:
        raise DataError("no two cameras see a target at one time: views do not overlap", field="recording")
    walkers = clean(tracking, look.ground).walkers
    place = place_of(tracking, look.calibrated, walkers, look.seen, seed=seed, synthetic=0)
    rng = Random(stable_seed("overlaps", VERSION, tracking.id, seed))
    asker = OverlapAsker(look, place, rng)
    share = limit // len(tasks)
    overlaps = [overlap for task in tasks for overlap in in_fours(asker.groups(task), share)]
    rng.shuffle(overlaps)
    kept = Counter(overlap.task for overlap in overlaps)
    reasons = {task: TASKS[task] for task in tasks if not kept[task]}
    if not overlaps:
        raise DataError(f"there is no question: {'; '.join(reasons.values())}", field="recording")
    (out / "build").mkdir(parents=True)
    write_place(out, tracking, place)
    lines = [*_lines(overlaps, tracking, place.world.scene.id)]
    for path, at in ((out / "questions.jsonl", 0), (out / "build" / "overlaps.ndjson", 1)):
        text = "".join(f"{json.dumps(pair[at], ensure_ascii=False)}\n" for pair in lines)
        path.write_text(text, encoding="utf-8")
    return {
        "site": tracking.id,
        "notes": notes,
        "tasks": {task: kept[task] for task in tasks},
        "reasons": reasons,
        "questions": len(overlaps),
    }


def _lines(
    overlaps: Sequence[Overlap], tracking: Tracking, scene: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Of each question its row for the benchmark `questions`, and whom it is about."""
    for number, overlap in enumerate(overlaps, start=1):
        name = f"{tracking.id}-{number:03d}"
        targets = [tracking.targets[target] for target in tracking.boxes.target[list(overlap.rows)].tolist()]
        cameras = sorted(
            {tracking.cameras[at].id for at in tracking.boxes.camera[list(overlap.rows)].tolist()}
        )
        # Those of two cameras share their people; there is no one target that such a question is about.
        kin = f"target {targets[0]}" if len(set(targets)) == 1 else " and ".join(cameras)
        begin_s = KIN_S * int(tracking.boxes.time_s[overlap.rows[0]] // KIN_S)
        row = {
            "id": name,
            "task": overlap.task,
            "question": f"{overlap.text} {STANDS}",
            "options": list(overlap.options),
            "answer": chr(ord("A") + overlap.right),
            "cluster": [kin, f"{KIN_S} s from {clock(begin_s)}"],
            "images": [f"data/{tracking.kind}/map/{scene}.png"],
            "scene": f"data/{tracking.kind}/scenes/{scene}.geojson",
        }
        yield row, {"id": name, "targets": targets}
