"""Builds questions of tracking: asks the seven tasks, measures, writes as it goes, and publishes.

`build/questions.ndjson` holds every attempt, a line each, so that a build that was cut off goes on where it
was. The same inputs and seed make the same files, however often they were interrupted.
"""

import hashlib
import json
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from PIL import Image

from gnomon.core.errors import DataError, SpecError
from gnomon.core.ids import stable_hash, stable_seed
from gnomon_analyses.reviews.decisions import Decision
from gnomon_published.benchmarks.gtr_bench.case import TASKS
from gnomon_published.drawn_maps.map_picture import draw_map
from gnomon_tools.scene.format import sound_scene_text, write_scene
from gnomon_worlds.question import BOXES, Question, record
from gnomon_worlds.tracking.asking import Asker
from gnomon_worlds.tracking.calibration import Calibration
from gnomon_worlds.tracking.cleaning import clean
from gnomon_worlds.tracking.look import look_at
from gnomon_worlds.tracking.neutral_form import Array, Tracking
from gnomon_worlds.tracking.report import review_in_markdown, write_report
from gnomon_worlds.tracking.rules import RULES, measured, verdict
from gnomon_worlds.tracking.site_world import Place, RecordedTrip, clip_of, place_of
from gnomon_worlds.tracking.summary import in_words, legs_of
from gnomon_worlds.trajectory import Sighting, Trip
from gnomon_worlds.world import World

VERSION = 3  # part of every seed: a change that changes questions changes it
LIMIT = 30 * len(TASKS)  # as a scene of GTR-Bench has
ATTEMPTS = 6  # of each task with each trip

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a build."""

    tasks: tuple[str, ...] = tuple(TASKS)
    limit: int = LIMIT
    seed: int = 0
    synthetic: int | None = None
    clips: bool = False
    cut_views: bool = False
    pairs: Mapping[str, Array] = field(default_factory=dict)
    decisions: Mapping[str, Decision] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for task in self.tasks:
            if task not in TASKS:
                raise SpecError(f"no task {task!r}; there are: {', '.join(TASKS)}", field="tasks")
        fixed = next((name for name, decision in self.decisions.items() if decision.decision == "fix"), None)
        if fixed is not None:
            raise SpecError(f"{fixed}: the truth is the track's; keep it or drop it", field="decisions")


def build(
    tracking: Tracking,
    out: Path,
    options: Options | None = None,
    *,
    progress: Progress | None = None,
    notice: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Write the questions of a site to `out` and return the report, which is `build/report.json` too.

    What its owner should know of the recording is told by `notice` before a question is made.

    Raises:
        DataError: the tracking cannot be used; the message says why.
        SpecError: `out` holds something else than this build.
    """
    options = options or Options()
    journal = _Journal(out, _fingerprint(tracking, options))
    look = look_at(tracking, options.pairs, cut_views=options.cut_views)
    look.refuse()
    tracking, calibrated = look.tracking, look.calibrated
    notes = [*tracking.notes, *map(str, look.findings)]
    for note in notes:
        notice(note)
    cleaned = clean(tracking, look.ground)
    place = place_of(
        tracking, calibrated, cleaned.walkers, look.seen, seed=options.seed, synthetic=options.synthetic
    )
    journal.begin()
    write_place(out, tracking, place)
    asked = _ask(tracking, place, calibrated, options, journal, out, progress)
    report = {
        "site": tracking.id,
        "kind": tracking.kind,
        "targets": tracking.body,
        "targets_by_kind": look.by_kind,
        "boxes": len(tracking.boxes),
        "notes": notes,
        "calibration": [
            {
                **calibration.document(),
                "published_error": next(c.published_error for c in tracking.cameras if c.id == name),
            }
            for name, calibration in calibrated.items()
        ],
        "cleaning": [asdict(count) for count in cleaned.counts],
        "place": {
            "cameras": len(place.names),
            "synthetic": len(place.synthetic),
            "roads": place.roads_from,
            "trips": len(place.trips),
            "with_two_sightings": sum(len(trip.sightings) > 1 for trip in place.trips),
        },
        **_tallied(asked, tracking, options),
    }
    published = _publish(out, tracking, asked, options.decisions)
    report["published"] = published
    write_report(out / "build", report)
    return report


def _fingerprint(tracking: Tracking, options: Options) -> str:
    """A hash that is equal for equal inputs and options; decisions are left out."""
    boxes, digest = tracking.boxes, hashlib.sha256()
    for column in (boxes.camera, boxes.target, boxes.frame, boxes.time_s, boxes.ltwh):
        digest.update(column.tobytes())
    for track in tracking.tracks.values():
        digest.update(track.times_s.tobytes())
        digest.update(track.xy_m.tobytes())
    cameras = json.dumps([asdict(camera) for camera in tracking.cameras], default=_plain)
    scene = sound_scene_text(tracking.scene) if tracking.scene else asdict(tracking.frame)
    pairs = {name: pairs.tolist() for name, pairs in options.pairs.items()}
    return stable_hash(
        VERSION, digest.hexdigest(), tracking.id, tracking.kind, tracking.body, tracking.bodies,
        tracking.sees, tracking.signs, tracking.targets, list(tracking.tracks), cameras, scene,
        list(options.tasks), options.limit, options.seed, options.synthetic, options.clips,
        options.cut_views, pairs,
    )  # fmt: skip


def _plain(value: object) -> object:
    """A part of a camera as JSON holds it; of a clip its name, as folders are moved."""
    if isinstance(value, Path):
        return value.name
    return value.tolist() if isinstance(value, np.ndarray) else str(value)


class _Journal:
    """The attempts of a build by their keys, read from its file and added to it."""

    def __init__(self, out: Path, fingerprint: str) -> None:
        self._path = out / "build" / "questions.ndjson"
        self.lines: dict[str, dict[str, Any]] = {}
        self._head = ""
        if self._path.is_file():
            self._read(fingerprint)
            return
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise SpecError(f"{out} is there already; name a new or empty folder", field="--out")
        self._head = json.dumps({"build": fingerprint}) + "\n"

    def begin(self) -> None:
        """Make the file, if it is not there. Nothing is written before the data have proved usable."""
        if self._head:
            self._path.parent.mkdir(parents=True)
            self._path.write_text(self._head, encoding="utf-8")

    def _read(self, fingerprint: str) -> None:
        head, *lines = self._path.read_text(encoding="utf-8").split("\n")
        try:
            same = json.loads(head) == {"build": fingerprint}
        except ValueError:
            same = False
        if not same:
            raise SpecError(
                f"{self._path.parent.parent} holds questions of other data or options; name a new folder",
                field="--out",
            )
        if lines and lines[-1]:  # cut off in the middle of a line: it is made again
            whole = "\n".join([head, *lines[:-1], ""])
            self._path.write_text(whole, encoding="utf-8")
        for line in lines[:-1]:
            entry = json.loads(line)
            self.lines[entry["key"]] = entry

    def add(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Write an attempt down."""
        self.lines[entry["key"]] = entry
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        return entry


def _ask(
    tracking: Tracking,
    place: Place,
    calibrated: Mapping[str, Calibration],
    options: Options,
    journal: _Journal,
    out: Path,
    progress: Progress | None,
) -> list[dict[str, Any]]:
    """All attempts, task by task in turn, until every task has its share of the limit."""
    share = -(-options.limit // len(options.tasks))
    order = list(range(len(place.trips)))
    Random(stable_seed("order", VERSION, tracking.id, options.seed)).shuffle(order)
    asker = Asker(tracking, place)
    kept: Counter[str] = Counter()
    contents: set[str] = set()
    entries = []
    keys = [(n, trip, task) for n in range(ATTEMPTS) for trip in order for task in options.tasks]
    for done, (attempt, number, task) in enumerate(keys, start=1):
        if progress is not None:
            progress(done, len(keys))
        if kept[task] >= share or kept.total() >= options.limit:
            continue
        key = f"{TASKS[task].short}-{number:04d}-{attempt}"
        entry = journal.lines.get(key)
        if entry is None:
            rng = Random(stable_seed("question", VERSION, tracking.id, options.seed, key))
            question = asker.ask(task, rng, place.trips[number])
            entry = journal.add(
                _entry(tracking, place, calibrated, question, rng, key, task, contents, options, out)
            )
        if "content" in entry:
            contents.add(entry["content"])
        kept[task] += entry["status"] == "kept"
        entries.append(entry)
    return entries


def _entry(
    tracking: Tracking,
    place: Place,
    calibrated: Mapping[str, Calibration],
    question: Question | str,
    rng: Random,
    key: str,
    task: str,
    contents: set[str],
    options: Options,
    out: Path,
) -> dict[str, Any]:
    entry: dict[str, Any] = {"key": key, "task": task}
    if isinstance(question, str):
        return {**entry, "status": "none", "why": question}
    content = stable_hash(
        task, question.text, sorted(question.right),
        sorted((trip.target, seen.camera, seen.start_s) for trip, seen in question.clip_sightings),
    )  # fmt: skip
    if content in contents:
        return {**entry, "status": "repeated"}
    values = measured(place, calibrated, question)
    broken, near = verdict(values, tracking.scale)
    rounded = {name: round(value, 4) for name, value in values.items()}
    entry |= {"content": content, "measured": rounded, "broken": broken, "near": near}
    if broken:
        return {**entry, "status": "dropped"}
    published = record(
        question,
        place.world,
        rng,
        case_id=f"{tracking.id}-{key}",
        map_file=f"{place.world.scene.id}.png",
        clip=partial(_clip, tracking, options.clips, out),
    )
    sources = [
        {
            "target": trip.walker.target,
            "part": trip.walker.part,
            "sightings": [
                [place.names[seen.camera], seen.camera, round(seen.start_s, 4), round(seen.end_s, 4)]
                for seen in trip.sightings
            ],
        }
        for trip in dict.fromkeys(trip for trip, _ in question.clip_sightings)
        if isinstance(trip, RecordedTrip)
    ]
    rows = {"rows": _rows(tracking, place, question)} if near else {}
    return {**entry, "status": "kept", "record": published, "sources": sources, **rows}


def _clip(
    tracking: Tracking, bring: bool, out: Path, _world: World, trip: Trip, sighting: Sighting
) -> dict[str, Any]:
    if not isinstance(trip, RecordedTrip):
        raise TypeError("a clip is read of a recorded trip")
    tracked = tracking.cameras[trip.stay_of(sighting).camera]
    source = tracked.clip if bring else None
    path = f"./data/{tracking.kind}/clips/{sighting.camera}{source.suffix}" if source else ""
    clip = clip_of(tracking, trip, sighting, boxes=BOXES, path=path)
    if source is not None:
        _bring(source, out / path, clip["frame_ids"])
    return clip


def _bring(source: Path, copy: Path, frames: Sequence[int]) -> None:
    """Link a video, or the pictures of some frames, into the folder; copy where links are impossible.

    Pictures are found by the number that their names are, and named as GTR-Bench's are.
    """
    if source.is_dir():
        numbered = {int(path.stem): path for path in source.iterdir() if path.stem.isdecimal()}
        pairs = [(numbered[frame], copy / f"{frame:06d}.jpg") for frame in frames if frame in numbered]
    else:
        pairs = [(source, copy)] if source.is_file() else []
    if not pairs:
        example = f"{frames[0]:06d}.jpg"
        lacks = (
            f"holds no picture of frame {frames[0]}, such as {example}" if source.is_dir() else "is no file"
        )
        raise DataError(f"{source} {lacks}", field="--clips")
    for here, there in pairs:
        if there.exists():
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir() and here.suffix.lower() not in (".jpg", ".jpeg"):
            with Image.open(here) as picture:
                picture.convert("RGB").save(there, quality=95)
            continue
        try:
            os.link(here, there)
        except OSError:
            shutil.copyfile(here, there)


def write_place(out: Path, tracking: Tracking, place: Place) -> None:
    """The map, the scene, and of every trip its summary in words."""
    scene = place.world.scene
    for kind in ("map", "scenes"):
        (out / "data" / tracking.kind / kind).mkdir(parents=True, exist_ok=True)
    (out / "data" / tracking.kind / "map" / f"{scene.id}.png").write_bytes(draw_map(scene))
    write_scene(scene, out / "data" / tracking.kind / "scenes" / f"{scene.id}.geojson")
    lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in _summaries(tracking, place))
    (out / "build" / "trips.ndjson").write_text("".join(lines), encoding="utf-8")
    names = {"cameras": dict(place.names), "synthetic": list(place.synthetic)}
    (out / "build" / "cameras.json").write_text(json.dumps(names, indent=1) + "\n", encoding="utf-8")


def _summaries(tracking: Tracking, place: Place) -> Iterator[dict[str, Any]]:
    for trip in place.trips:
        body = tracking.body_of(tracking.targets.index(trip.walker.target))
        yield {
            "target": trip.walker.target,
            "part": trip.walker.part,
            "number": trip.target,
            "stays": [
                {
                    "camera": sighting.camera,
                    "start_s": round(sighting.start_s, 3),
                    "end_s": round(sighting.end_s, 3),
                    "motion": in_words(legs_of(stay.times_s, stay.xy_m, body)),
                }
                for sighting, stay in zip(trip.sightings, trip.stays, strict=True)
            ],
        }


def _tallied(entries: Sequence[Mapping[str, Any]], tracking: Tracking, options: Options) -> dict[str, Any]:
    """How many questions each rule dropped of how many it measured, and what became of every attempt."""
    by_task: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in entries:
        by_task[entry["task"]][entry["status"]] += 1
    drawn = [entry for entry in entries if "measured" in entry]
    rules = [
        {
            "rule": rule.name,
            "what": rule.what,
            "unit": rule.unit,
            "limit": rule.limit(tracking.scale),
            "at_least": rule.at_least,
            "dropped": sum(rule.name in entry["broken"] for entry in drawn),
            "near": sum(rule.name in entry["near"] and entry["status"] == "kept" for entry in drawn),
            "of": sum(rule.name in entry["measured"] for entry in drawn),
        }
        for rule in RULES
    ]
    names = ("kept", "dropped", "repeated", "none")
    tasks = {task: {name: by_task[task][name] for name in names} for task in options.tasks}
    reasons: dict[str, Counter[str]] = {task: Counter() for task in options.tasks}
    for entry in entries:
        if "why" in entry:
            reasons[entry["task"]][entry["why"]] += 1
    return {
        "rules": rules,
        "tasks": tasks,
        "reasons": {task: dict(counts.most_common()) for task, counts in reasons.items()},
        "questions": sum(counts["kept"] for counts in tasks.values()),
        "dropped": sum(counts["dropped"] for counts in tasks.values()),
    }


def _publish(
    out: Path, tracking: Tracking, entries: Iterable[Mapping[str, Any]], decisions: Mapping[str, Decision]
) -> dict[str, int]:
    """Write the questions in GTR-Bench's layout, and those near a limit as a queue for review."""
    folder = out / "data" / tracking.kind
    by_task: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    queue, counts = [], Counter(published=0, dropped_by_review=0, in_review=0)
    for entry in entries:
        if entry["status"] != "kept":
            continue
        published = entry["record"]
        decision = decisions.get(published["case_id"])
        if decision is not None and decision.decision == "drop":
            counts["dropped_by_review"] += 1
            continue
        by_task[entry["task"]].append(published)
        counts["published"] += 1
        if entry["near"] and (decision is None or decision.decision is None):
            queue.append(_in_review(entry, tracking))
    queue.sort(key=_doubt, reverse=True)
    counts["in_review"] = len(queue)
    for stale in folder.glob(f"{tracking.kind}_*.json"):
        stale.unlink()
    for task, records in by_task.items():
        path = folder / f"{tracking.kind}_{task}_{len(records)}.json"
        path.write_text(json.dumps({"cases": records}, indent=1, ensure_ascii=False), encoding="utf-8")
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in queue)
    (out / "build" / "review.ndjson").write_text(lines, encoding="utf-8")
    (out / "build" / "review.md").write_text("\n".join(review_in_markdown(queue)) + "\n", encoding="utf-8")
    return dict(counts)


def _in_review(entry: Mapping[str, Any], tracking: Tracking) -> dict[str, Any]:
    limits = {rule.name: rule.limit(tracking.scale) for rule in RULES}
    published = entry["record"]
    return {
        "sample_id": published["case_id"],
        "near": {name: {"value": entry["measured"][name], "limit": limits[name]} for name in entry["near"]},
        "question": published["question"],
        "choices": published["choices"],
        "truth": published.get("ground_truth") or published.get("correct_cam_name"),
        "rows": entry["rows"],
        "decision": None,
        "answer": None,
        "note": "",
    }


def _doubt(line: Mapping[str, Any]) -> float:
    """How near a question in review comes to a limit, at most: 1 is on it."""
    ratios = [near["value"] / near["limit"] for near in line["near"].values()]
    return max(min(ratio, 1 / ratio) if ratio > 0 else 0.0 for ratio in ratios)


def _rows(tracking: Tracking, place: Place, question: Question) -> list[dict[str, Any]]:
    """The raw rows that a question stands on: the first and the last of each sighting of its targets."""
    boxes, told = tracking.boxes, []
    for trip in dict.fromkeys(trip for trip, _ in question.clip_sightings):
        if not isinstance(trip, RecordedTrip):
            raise TypeError("a recorded question is of recorded trips")
        for seen in trip.everyone:
            ends = {
                name: [float(boxes.time_s[row]), int(boxes.frame[row]), *boxes.ltwh[row].round(1).tolist()]
                for name, row in zip(
                    ("first", "last"), (*seen.rows[:1], *seen.rows[-1:]), strict=False
                )  # none where it was only passed
            }
            camera = tracking.cameras[seen.camera].id
            shown = place.dealt.get(seen.camera)
            told.append(
                {"target": trip.walker.target, "camera": camera, "shown_as": shown, "rows": len(seen.rows)}
                | ends
            )
    return told
