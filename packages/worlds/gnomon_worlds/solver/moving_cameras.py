"""Answers questions about cameras that ride or fly: from the log of instruments, by the tools for motion."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise

from gnomon.core.message import Message
from gnomon.core.model import Request
from gnomon_agents.models.reference.tool_results import (
    Call,
    Result,
    read_evidence,
    texts_of,
)
from gnomon_tools.geometry.angles import signed_deg
from gnomon_worlds.solver.sighting_questions import OPTION, lettered

_N = r"-?\d+(?:\.\d+)?"
_NUMBER = re.compile(_N)
_POINT = re.compile(rf"\(({_N}), ({_N}), ({_N})\)")
_ROW = re.compile(rf"^({_N}) s: (?:\(({_N}), ({_N}), ({_N})\)(.*)|start)$", re.MULTILINE)
_AHEAD = re.compile(rf"ahead (?:is )?({_N})°")
_TILT = re.compile(rf"camera ({_N})° (down|up)")
_STEP = re.compile(
    r"(flies forward|turns left|turns right|climbs|descends|tilts the camera (?:up|down)) (\d+)"
)
_KINDS = {  # of what a route's words say, as questions name it
    "flies forward": "flight forward",
    "turns left": "turn to the left",
    "turns right": "turn to the right",
    "climbs": "climb",
    "descends": "descent",
    "tilts the camera up": "tilt of the camera up",
    "tilts the camera down": "tilt of the camera down",
}
_AFTER = re.compile(r"(\d+) s after the clip's start")
_NEXT = re.compile(r"Until (\d+) s, (.*?)\. What")
_PLACE = re.compile(r"(?:distance from|Where is|looks for|until it is above) (.+?)(?: change|, seen|\. )")
_NAMED = re.compile(
    r"its (first|second|third) "
    r"(flight forward|climb|descent|turn to the (?:left|right)|tilt of the camera (?:up|down))"
)
_SPAN = re.compile(r"from (\d+) s to (\d+) s\?")
_ACROSS = re.compile(rf"spans ({_N})°")
_AT = re.compile(r"at (\d+) s\b")
_SAME_END = 1.5  # metres, and degrees by a half: routes whose ends differ by less are told apart step by step
_PATH_TOLERANCE_M = 1.0  # by which such paths are told

Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of a log: where, and which way is ahead (degrees from x) and how far the camera looks up."""

    time_s: float
    at_m: Point
    ahead_deg: float = 0.0
    pitch_deg: float = 0.0

    def pose(self, *, is_tilted: bool = False) -> dict[str, object]:
        """As `compose_poses` takes it."""
        tilt = {"pitch_deg": -self.pitch_deg} if is_tilted else {}
        return {"position_m": list(self.at_m), "yaw_deg": self.ahead_deg, **tilt}


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionQuestion:
    """What is asked, the log that it can be answered from, and the options by letter."""

    text: str
    log: str
    options: Mapping[str, str]

    @property
    def rows(self) -> list[Row]:
        """The lines of a log that goes on in time."""
        return [_row(match) for match in _ROW.finditer(self.log)]

    def nearest(self, numbers: Sequence[float], weights: Sequence[float] = ()) -> str | None:
        """The letter of the option whose numbers are nearest."""
        off: dict[str, float] = {}
        for letter, words in self.options.items():
            offered = [float(number) for number in _NUMBER.findall(_without_names(words))]
            if len(offered) == len(numbers):
                shares = weights or [1.0] * len(numbers)
                off[letter] = sum(
                    share * abs(a - b) for share, a, b in zip(shares, offered, numbers, strict=True)
                )
        return min(off, key=lambda letter: off[letter]) if off else None

    def starting(self, words: str) -> str | None:
        """The letter of the option that begins so."""
        return next((letter for letter, text in self.options.items() if text.startswith(words)), None)


def _without_names(words: str) -> str:
    return re.sub(r'"\w+":', "", words)


def _row(match: re.Match[str]) -> Row:
    if match[2] is None:
        return Row(time_s=float(match[1]), at_m=(0.0, 0.0, 0.0))
    ahead, tilt, turned = _AHEAD.search(match[5]), _TILT.search(match[5]), _NUMBER.search(match[5])
    deg = ahead[1] if ahead else turned[0] if turned else 0.0
    pitch = float(tilt[1]) * (1 if tilt[2] == "up" else -1) if tilt else 0.0
    at_m = (float(match[2]), float(match[3]), float(match[4]))
    return Row(time_s=float(match[1]), at_m=at_m, ahead_deg=float(deg), pitch_deg=pitch)


def read_motion_question(messages: Sequence[Message]) -> MotionQuestion | None:
    """The question of such messages; None where they ask something else."""
    texts = texts_of(messages)
    log = next((text for text in texts if text.startswith("Log of ")), None)
    question = next(
        (text for text in texts if text.startswith("Question: ") and "\nOptions:\n" in text), None
    )
    if log is None or question is None:
        return None
    return MotionQuestion(
        text=question.partition("\nOptions:")[0], log=log, options=dict(OPTION.findall(question))
    )


def answer_motion_question(question: MotionQuestion, request: Request) -> str:
    """The reply, as far as the evidence goes.

    Raises:
        Need: tools that are offered must be called first.
    """
    evidence = read_evidence(request)

    def ask(calls: Sequence[Call], why: str) -> list[Result]:
        results = [result for result in evidence.ask(calls, why) if result]
        if len(results) < len(calls):
            raise LookupError("a tool is not offered, or told nothing")
        return results

    solve = next((solver for words, solver in _SOLVERS if words in question.text), None)
    try:
        letter = solve(question, ask) if solve else None
    except (LookupError, ArithmeticError, StopIteration, TypeError, ValueError):
        letter = None
    words = None if letter is None else question.options[letter]
    return lettered(words, question.options, "So the tools measure.", seed=(question.text, question.log))


Ask = Callable[[Sequence[Call], str], list[Result]]
Solver = Callable[[MotionQuestion, Ask], str | None]


def _motion(ask: Ask, points: Sequence[Sequence[float]], times_s: Sequence[float] = ()) -> Result:
    call = Call(
        "measure_motion",
        {"positions_m": [list(point) for point in points], "times_s": list(times_s or range(len(points)))},
    )
    return ask([call], "I measure it.")[0]


def _composed(start: Mapping[str, object], moves: Sequence[Mapping[str, object]], frame: str) -> Call:
    return Call("compose_poses", {"start": start, "moves": moves, "frame": frame, "forward": "x"})


def _of_track(name: str) -> Solver:
    """The option next to a result of `measure_motion` on the whole log."""

    def solve(question: MotionQuestion, ask: Ask) -> str | None:
        rows = question.rows
        motion = _motion(ask, [row.at_m for row in rows], [row.time_s for row in rows])
        return question.nearest([float(motion[name])])

    return solve


def _path(question: MotionQuestion, ask: Ask) -> str | None:
    points = [list(row.at_m) for row in question.rows]
    call = Call("describe_path", {"positions_m": points, "tolerance_m": _PATH_TOLERANCE_M})
    words = str(ask([call], "I put the path into words.")[0]["words"])
    return question.nearest([float(number) for number in _NUMBER.findall(words)])


def _turned(question: MotionQuestion, ask: Ask) -> str | None:
    moves = [row.pose() for row in question.rows[1:]]
    end = ask([_composed({"position_m": [0, 0, 0]}, moves, "own")], "I add up the moves.")[0]
    return question.nearest([float(end["azimuth_change_deg"])])


def _posed(question: MotionQuestion, ask: Ask) -> str | None:
    pose = json.loads(question.text[question.text.index("{") : question.text.index("}") + 1])
    rotation = [[pose[f"r{row}{column}"] for column in (1, 2, 3)] for row in (1, 2, 3)]
    start = {"position_m": [pose["tx"], pose["ty"], pose["tz"]], "rotation": rotation}
    moves = [row.pose() for row in question.rows[1:]]
    end = ask([_composed(start, moves, "own")], "I go on from the first pose.")[0]
    turned = [float(number) for row in end["rotation"] for number in row]
    numbers = {
        letter: [float(number) for number in json.loads(words).values()]
        for letter, words in question.options.items()
    }
    place = [float(metres) for metres in end["position_m"]]

    def off(letter: str) -> float:
        return math.dist(numbers[letter][:3], place) + 5 * math.dist(numbers[letter][3:], turned)

    return min(numbers, key=off)


def _far(question: MotionQuestion, ask: Ask) -> str | None:
    points = _points(question.log)
    return question.nearest([float(_motion(ask, points[:2])["displacement_m"])])


def _side_of_box(number: int) -> Solver:
    """The distance of two corners: the first and the one of that number."""

    def solve(question: MotionQuestion, ask: Ask) -> str | None:
        points = _points(question.log)
        return question.nearest([float(_motion(ask, [points[0], points[number]])["displacement_m"])])

    return solve


def _points(log: str) -> list[Point]:
    return [(float(x), float(y), float(z)) for x, y, z in _POINT.findall(log)]


def _relation(question: MotionQuestion, ask: Ask) -> str | None:
    _, own, reference = _points(question.log)
    start = {"position_m": list(reference), "yaw_deg": _ahead(question)}
    call = _composed(start, [{"position_m": list(own)}], "world")
    off = [
        float(metres)
        for metres in ask([call], "I take the difference as the camera sees it.")[0]["moved_own_m"]
    ]
    axis = max(range(3), key=lambda index: abs(off[index]))
    sides = (("Back", "Front"), ("Left", "Right"), ("Up", "Down"))[axis]
    return question.starting(sides[0] if off[axis] > 0 else sides[1])


def _ahead(question: MotionQuestion) -> float:
    match = _AHEAD.search(question.log)
    return float(match[1]) if match else 0.0


def _grounded(question: MotionQuestion, ask: Ask) -> str | None:
    camera, rear, front, left, above = _points(question.log)
    middle = [(f + b) / 2 + (u - r) / 2 for f, b, u, r in zip(front, left, above, rear, strict=True)]
    heading_deg = math.degrees(math.atan2(front[1] - rear[1], front[0] - rear[0]))
    start = {"position_m": list(camera), "yaw_deg": _ahead(question)}
    box = {"position_m": middle, "yaw_deg": heading_deg}
    from_camera = ask([_composed(start, [box], "world")], "I see the box from the camera.")[0]
    sizes = [math.dist(rear, corner) for corner in (front, left, above)]
    return question.nearest(
        [*sizes, *from_camera["moved_own_m"], from_camera["azimuth_change_deg"]], [1, 1, 1, 1, 1, 1, 0.1]
    )


def _moves(words: str) -> tuple[list[dict[str, object]], float]:
    """What a route in words does, as moves, and by how much it tilts the camera up."""
    moves: list[dict[str, object]] = []
    tilt_deg = 0.0
    for does, number in _STEP.findall(words):
        amount = float(number)
        if does == "flies forward":
            moves.append({"position_m": [amount, 0, 0]})
        elif does.startswith("turns"):
            moves.append({"position_m": [0, 0, 0], "yaw_deg": amount if does == "turns left" else -amount})
        elif does in ("climbs", "descends"):
            moves.append({"position_m": [0, 0, amount if does == "climbs" else -amount]})
        else:
            tilt_deg += amount if does.endswith("up") else -amount
    return moves or [{"position_m": [0, 0, 0]}], tilt_deg


def _off(row: Row, end: Result, start: Row, tilt_deg: float) -> float:
    """How far a row is from where a route leads: metres, and degrees by a half."""
    turned_deg = signed_deg(row.ahead_deg - start.ahead_deg - float(end["azimuth_change_deg"]))
    tilted_deg = row.pitch_deg - start.pitch_deg - tilt_deg
    return math.dist(row.at_m, end["position_m"]) + 0.5 * abs(turned_deg) + 0.5 * abs(tilted_deg)


def _captioned(question: MotionQuestion, ask: Ask) -> str | None:
    first, last = question.rows[0], question.rows[-1]
    routes = {letter: _moves(words) for letter, words in question.options.items()}
    calls = [_composed(first.pose(), moves, "own") for moves, _ in routes.values()]
    ends = ask(calls, "Where does each of these flights end?")
    off = {
        letter: _off(last, end, first, tilt_deg)
        for (letter, (_, tilt_deg)), end in zip(routes.items(), ends, strict=True)
    }
    nearest, second = sorted(off.values())[:2]
    if second - nearest < _SAME_END:
        off = _amounts_off(question, ask)
    return min(off, key=lambda letter: off[letter])


def _amounts_off(question: MotionQuestion, ask: Ask) -> dict[str, float]:
    """By how much the steps of each route differ from what the log's drone does, one after the other."""
    rows, marks = question.rows, [0, *accumulate(length for _, length in _runs(question.rows, ask))]
    spans = [(rows[start], rows[end]) for start, end in pairwise(marks)]
    calls = [_composed(start.pose(), [end.pose()], "world") for start, end in spans]
    changes = ask(calls, "How much is each of the flight's steps?")
    amounts = [
        math.hypot(*change["moved_own_m"])
        + abs(float(change["azimuth_change_deg"]))
        + abs(end.pitch_deg - start.pitch_deg)
        for change, (start, end) in zip(changes, spans, strict=True)
    ]
    steps_of = {
        letter: [float(by) for _, by in _STEP.findall(words)] for letter, words in question.options.items()
    }
    return {
        letter: sum(abs(a - b) for a, b in zip(amounts, steps, strict=True))
        for letter, steps in steps_of.items()
    }


def _at_step(question: MotionQuestion, ask: Ask) -> str | None:
    """The step of the route that does what the log's middle does, between such neighbours as in the log."""
    rows = question.rows
    middle_s = float(_AFTER.findall(question.text)[0])
    runs = _runs(rows, ask)
    ends_s = list(accumulate(length for _, length in runs))
    at = next(index for index, end_s in enumerate(ends_s) if middle_s < end_s)
    around = [kind for kind, _ in runs[at - 1 : at + 2]]
    route = [_KINDS[does] for does, _ in _STEP.findall(question.text)]
    number = next(number for number in range(1, len(route) - 1) if route[number - 1 : number + 2] == around)
    return question.starting(f"step {number + 1}:")


def _following(question: MotionQuestion, ask: Ask) -> str | None:
    match = _NEXT.search(question.text)
    start_s = float(match[1]) if match else 0.0
    before, after = (
        next(row for row in question.rows if row.time_s == time_s) for time_s in (start_s, start_s + 1)
    )
    step = ask([_composed(before.pose(), [after.pose()], "world")], "What changes in the next second?")[0]
    ahead_m, _, up_m = (float(metres) for metres in step["moved_own_m"])
    turned_deg = float(step["azimuth_change_deg"])
    if abs(up_m) > 0.5:
        return question.starting("it climbs" if up_m > 0 else "it descends")
    if ahead_m > 0.5:
        return question.starting("it flies forward")
    if abs(turned_deg) > 1:
        return question.starting("it turns left" if turned_deg > 0 else "it turns right")
    return question.starting("it tilts")


def _longer(question: MotionQuestion, ask: Ask) -> str | None:
    runs = _runs(question.rows, ask)
    lengths = []
    for ordinal, kind in _NAMED.findall(question.text):
        of_kind = [length for run, length in runs if run == kind]
        lengths.append(of_kind[("first", "second", "third").index(ordinal)])
    first, second = lengths
    if first == second:
        return question.starting("both")
    return question.starting("the first" if first > second else "the second")


def _runs(rows: Sequence[Row], ask: Ask) -> list[tuple[str, int]]:
    """What a drone does, one thing after the other, and for how many seconds each."""
    motion = _motion(ask, [row.at_m for row in rows], [row.time_s for row in rows])
    kinds = [
        _kind(before, after, float(speed))
        for (before, after), speed in zip(pairwise(rows), motion["speeds_mps"], strict=True)
    ]
    return [(kind, len(list(steps))) for kind, steps in groupby(kinds)]


def _kind(before: Row, after: Row, speed_mps: float) -> str:
    """What a drone does from one second to the next, as questions name it."""
    up_m = after.at_m[2] - before.at_m[2]
    turned_deg = signed_deg(after.ahead_deg - before.ahead_deg)
    if speed_mps > 0.5:
        return "flight forward" if abs(up_m) < 0.5 else "climb" if up_m > 0 else "descent"
    if abs(turned_deg) > 1:
        return f"turn to the {'left' if turned_deg > 0 else 'right'}"
    return f"tilt of the camera {'up' if after.pitch_deg > before.pitch_deg else 'down'}"


def _ended(question: MotionQuestion, ask: Ask) -> str | None:
    first, last = question.rows[0], question.rows[-1]
    moved = ask([_composed(first.pose(), [last.pose()], "world")], "Where is the end from the start?")[0]
    off = {}
    for letter, words in question.options.items():
        told_m, told_deg = (float(number) for number in _NUMBER.findall(words))
        turn = math.radians(told_deg if "left" in words else -told_deg)
        there = (told_m * math.cos(turn), told_m * math.sin(turn))
        off[letter] = math.dist(there, moved["moved_own_m"][:2])
    return min(off, key=lambda letter: off[letter])


def _place(question: MotionQuestion, ask: Ask) -> list[float]:
    """Where the place is that the question names, on the ground."""
    match = _PLACE.search(question.text)
    places = ask([Call("lookup", {"name": match[1] if match else ""})], "Where is that place?")[0]
    place = next(match for match in places["matches"] if match["kind"] == "place")
    return [float(place["x_m"]), float(place["y_m"]), 0.0]


def _nearing(question: MotionQuestion, ask: Ask) -> str | None:
    place = _place(question, ask)
    match = _SPAN.search(question.text)
    times_s = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    rows = [next(row for row in question.rows if row.time_s == time_s) for time_s in times_s]
    before_m, after_m = (float(_motion(ask, [row.at_m, place])["displacement_m"]) for row in rows)
    if abs(after_m - before_m) < 0.5:
        return question.starting("it stays")
    return question.starting("it grows" if after_m > before_m else "it shrinks")


def _seen(question: MotionQuestion, ask: Ask, *, is_tilted: bool = False) -> list[float]:
    """Where the place is in the drone's own axes at the moment that is asked about."""
    place, moment = _place(question, ask), float(_AT.findall(question.text)[0])
    row = next(row for row in question.rows if row.time_s == moment)
    call = _composed(row.pose(is_tilted=is_tilted), [{"position_m": place}], "world")
    return [float(metres) for metres in ask([call], "Where is it, seen from the drone?")[0]["moved_own_m"]]


def _quarter(question: MotionQuestion, ask: Ask) -> str | None:
    ahead_m, left_m, _ = _seen(question, ask)
    return question.starting(
        f"{'ahead' if ahead_m > 0 else 'behind'} and to the {'left' if left_m > 0 else 'right'}"
    )


def _in_picture(question: MotionQuestion, ask: Ask) -> str | None:
    ahead_m, left_m, up_m = _seen(question, ask, is_tilted=True)
    half = math.tan(math.radians(float(_ACROSS.findall(question.text)[0]) / 2))
    if ahead_m <= 0 or abs(left_m / ahead_m) > half or abs(up_m / ahead_m) > half * 9 / 16:
        return question.starting("it is not")
    third = int(3 * (0.5 - left_m / ahead_m / half / 2))
    return question.starting(f"in the {('left', 'middle', 'right')[third]}")


def _aimed(question: MotionQuestion, ask: Ask) -> str | None:
    ahead_m, left_m, _ = _seen(question, ask)
    off = {}
    for letter, words in question.options.items():
        turn_deg, away_m = (float(number) for number in _NUMBER.findall(words))
        turn = math.radians(turn_deg if "left" in words else -turn_deg)
        off[letter] = math.dist((away_m * math.cos(turn), away_m * math.sin(turn)), (ahead_m, left_m))
    return min(off, key=lambda letter: off[letter])


_SOLVERS: tuple[tuple[str, Solver], ...] = (
    ("average speed", _of_track("average_speed_mps")),
    ("average acceleration", _of_track("average_acceleration_mps2")),
    ("displacement", _of_track("displacement_m")),
    ("path length", _of_track("path_length_m")),
    ("path best", _path),
    ("camera's direction", _turned),
    ("camera's pose", _posed),
    ("How far is", _far),
    ("the length of", _side_of_box(1)),
    ("the width of", _side_of_box(2)),
    ("the height of", _side_of_box(3)),
    ("on which side of", _relation),
    ("3D box", _grounded),
    ("sums up the drone's flight", _captioned),
    ("flies this route", _at_step),
    ("What does the drone do next", _following),
    ("takes the drone longer", _longer),
    ("flight end, as seen", _ended),
    ("the drone's distance from", _nearing),
    ("seen from the drone at", _quarter),
    ("The drone looks for", _in_picture),
    ("What must it do next", _aimed),
)
