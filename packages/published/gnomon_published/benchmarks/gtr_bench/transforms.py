"""Changes a question about cameras, with its map, scene and truth, and maps answers back.

The options are those that the protocol's prompt displayed, and clips keep their order on the page: nothing
but the named change differs from the original.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from random import Random
from typing import Any

from gnomon.core.clock import NOON_S, clock_span
from gnomon.core.derangement import derangement
from gnomon.core.errors import DataError
from gnomon.core.ids import stable_seed
from gnomon.core.sample import ImageRef, Sample, Shown, Transform
from gnomon.media import MediaStore
from gnomon.media.drawn_later import DrawnLater
from gnomon_published.benchmarks.gtr_bench.case import TASKS, Case, Clip, as_displayed, body_of
from gnomon_published.benchmarks.gtr_bench.prompt import guarded_clips, parts_of
from gnomon_published.scene_changes.scene_move import Move, moved_scene
from gnomon_published.scene_changes.scene_names import renamed_scene
from gnomon_published.scene_changes.wording import in_feet, renamed, shifted, turned
from gnomon_tools.core.inputs import held
from gnomon_tools.scene.scene import Scene

ALL_TASKS = frozenset(TASKS)
TRANSFORMS: Mapping[Transform, frozenset[str]] = {
    "rotate": ALL_TASKS,
    "mirror": ALL_TASKS,
    "shift_time": ALL_TASKS - {"CausalReordering"},  # its prompt withholds all times
    "rename": ALL_TASKS,
    "permute_options": ALL_TASKS,
    "change_units": frozenset({"MotionState"}),  # no other task states a length or a speed
}
REDRAWS: frozenset[Transform] = frozenset({"rotate", "mirror", "rename", "change_units"})
LATER_S = (600, 7200)  # by how much a question may be moved: it stays within the day
KEPT_MAPS = 64

_PRINTS_TIMES = "its pictures show the time of day, which cannot be moved"
_FILMED = "its cameras' pictures cannot be mirrored"
_PUBLISHED_MAP = "the published map is a picture that cannot be drawn anew"


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The transform of a question; `letters` maps its option letters to those of the original."""

    transform: Transform
    move: Move = field(default_factory=Move)
    later_s: int = 0
    cameras: Mapping[str, str] = field(default_factory=dict)  # new ids by old ones
    letters: Mapping[str, str] = field(default_factory=dict)


def transformed(
    sample: Sample,
    transform: Transform,
    *,
    seed: int,
    show: Collection[Shown],
    media: MediaStore,
    encode: Callable[[bytes], bytes] = bytes,
) -> Sample:
    """The question after the transform. Questions of one place are moved and renamed alike.

    `encode` makes of a newly drawn map what the prompt holds.

    Raises:
        DataError: the question cannot be changed exactly.
    """
    case, protocol = _as_shown(sample), sample.target["protocol"]
    frames = _frames(sample, case)
    maps = (part.content for part in sample.parts if part.shown == "map")
    map_image = next((content for content in maps if isinstance(content, ImageRef)), None)
    reason = _obstacle(sample, transform, show, has_map=map_image is not None, is_filmed=bool(frames))
    if reason:
        raise DataError(f"{sample.ref.sample_id} cannot be transformed ({transform}): {reason}")
    applied, scene = _draw(sample, case, transform, seed)
    if map_image is not None and transform in REDRAWS and scene is not None and sample.target["draws_map"]:
        scene = _laid_out(scene, sample.scene)
        draw = partial(_drawn, scene, in_feet=transform == "change_units")
        map_image = DrawnLater(lambda: media.put(encode(draw())))
    changed = _changed(case, applied, sample.scene)
    renewed = list(zip(case.clips, changed.clips, strict=True))
    pictures = {new: frames[old] for old, new in renewed if old in frames}
    films = {new: film for old, new in renewed if (film := sample.target.get("films", {}).get(old))}
    return replace(
        sample,
        parts=parts_of(changed, protocol, map_image, pictures, films),
        target={**sample.target, "case": changed, "applied": applied, **({"films": films} if films else {})},
        inputs={**sample.inputs, **held(scene)},
    )


def obstacle_of_published_map(transform: Transform, show: Collection[Shown]) -> str:
    """Why a question with a published map picture cannot be changed so; empty where it can."""
    if transform in ("rotate", "mirror", "change_units"):
        return _PUBLISHED_MAP
    if transform == "rename" and "map" in show:
        return f"{_PUBLISHED_MAP}, and it prints the cameras' ids; an arm that does not show it can rename"
    return ""


def _obstacle(
    sample: Sample, transform: Transform, show: Collection[Shown], *, has_map: bool, is_filmed: bool
) -> str:
    prints_times = sample.target["protocol"] == "official" or "films" in sample.target
    if transform == "shift_time" and is_filmed and prints_times and "media" in show:
        return _PRINTS_TIMES
    if transform == "mirror" and is_filmed and "media" in show:
        return _FILMED
    if transform in REDRAWS and not sample.target.get("draws_map"):
        return obstacle_of_published_map(transform, show if has_map else ())
    return ""


def _as_shown(sample: Sample) -> Case:
    """The case with the options as displayed, and its clips in the order that the prompt had drawn."""
    published: Case = sample.target["case"]
    places = {id(clip): at for at, clip in enumerate(published.clips)}
    order = tuple(places[id(clip)] for clip in guarded_clips(published))
    return replace(as_displayed(published, sample.target["protocol"]), clip_order=order)


def _frames(sample: Sample, case: Case) -> dict[Clip, list[ImageRef]]:
    shown = case.clips
    if sample.target["protocol"] != "official":
        shown = tuple(case.clips[at] for at in case.clip_order)
    frames: dict[Clip, list[ImageRef]] = {}
    at = -1  # of the clip that the parts are about
    for part in sample.parts:
        if isinstance(part.content, str):
            if sample.target["protocol"] == "official":
                at += part.shown == "camera_data"
            elif part.shown == "media":
                at = int(part.content.removeprefix("Clip ").partition(",")[0]) - 1
        elif isinstance(part.content, ImageRef) and part.shown == "media":
            frames.setdefault(shown[at], []).append(part.content)
    return frames


def _draw(sample: Sample, case: Case, transform: Transform, seed: int) -> tuple[Applied, Scene | None]:
    place = stable_seed("transform", transform, seed, sample.ref.cluster)
    rng = Random(stable_seed("transform", transform, seed, sample.ref.sample_id))
    scene = sample.scene
    if transform == "permute_options":
        letters = derangement([choice[:1] for choice in case.choices], rng)
        return Applied(transform=transform, letters=letters), scene
    if transform == "shift_time":
        return Applied(transform=transform, later_s=rng.randint(*LATER_S)), scene
    if transform == "change_units":
        return Applied(transform=transform), scene
    if scene is None:
        raise DataError(f"{sample.ref.sample_id} has no scene to transform")
    if transform == "rename":
        names = renamed_scene(scene, place)
        return Applied(transform=transform, cameras=names.cameras), names.scene
    quarters = Random(place).randint(1, 3) if transform == "rotate" else 0
    move = Move(quarters, mirrored=transform == "mirror")
    return Applied(transform=transform, move=move), moved_scene(scene, move)


@lru_cache(KEPT_MAPS)
def _laid_out(scene: Scene, original: Scene) -> Scene:
    from gnomon_published.drawn_maps.map_sheet import with_map

    return with_map(scene, file=original.map_image.file if original.map_image else "")


@lru_cache(KEPT_MAPS)
def _drawn(laid_out: Scene, *, in_feet: bool) -> bytes:
    from gnomon_published.drawn_maps.map_picture import (
        draw_map,  # late: Pillow, and most jobs transform nothing
    )

    return draw_map(laid_out, in_feet=in_feet)


def _changed(case: Case, applied: Applied, scene: Scene | None) -> Case:
    """The case after the change: its words, times, cameras, boxes, options and gold."""
    change = _change_of_words(applied)
    choices = tuple(f"{choice[:1]}. {change(body_of(choice))}" for choice in case.choices)
    by_old = dict(zip(case.choices, choices, strict=True))
    if applied.letters:
        bodies = {choice[:1]: body_of(choice) for choice in choices}
        choices = tuple(f"{new}. {bodies[old]}" for new, old in applied.letters.items())
        by_body = {body_of(choice): choice for choice in reversed(choices)}
        by_old = {old: by_body[body_of(new)] for old, new in by_old.items()}
    return replace(
        case,
        choices=choices,
        clips=tuple(_changed_clip(clip, applied, scene) for clip in case.clips),
        question=change(case.question),
        ground_truth=by_old.get(case.ground_truth, ""),
        correct_cam_name=tuple(by_old.get(name, "") for name in case.correct_cam_name),
        correct_time_str=tuple(change(text) for text in case.correct_time_str),
        raw=_changed_raw(case.raw, change),
    )


def _change_of_words(applied: Applied) -> Callable[[str], str]:
    if applied.transform in ("rotate", "mirror"):
        return partial(turned, quarters=applied.move.quarters, mirrored=applied.move.mirrored)
    if applied.transform == "shift_time":
        return partial(shifted, seconds=applied.later_s)
    if applied.transform == "rename":
        return partial(renamed, names=applied.cameras)
    return in_feet if applied.transform == "change_units" else str


def _changed_clip(clip: Clip, applied: Applied, scene: Scene | None) -> Clip:
    boxes = clip.bboxes
    if applied.move.mirrored:
        camera = scene.cameras.get(clip.camera_id) if scene else None
        if camera is None or camera.image_size is None:
            raise DataError(f"the picture of camera {clip.camera_id} has no known width to be mirrored by")
        boxes = tuple(applied.move.box(box, camera.image_size[0]) for box in boxes)
    return replace(
        clip,
        camera_id=applied.cameras.get(clip.camera_id, clip.camera_id),
        bboxes=boxes,
        start_s=clip.start_s + applied.later_s,
        end_s=clip.end_s + applied.later_s,
        direction=turned(clip.direction, applied.move.quarters, mirrored=applied.move.mirrored),
    )


def _changed_raw(raw: Mapping[str, Any], change: Callable[[str], str]) -> Mapping[str, Any]:
    """Of the unread fields those that people are shown: the points with their cameras and times."""
    points = {name: raw[name] for name in ("start_point", "end_point", "middle_point") if name in raw}
    return {
        name: {key: change(value) if isinstance(value, str) else value for key, value in point.items()}
        for name, point in points.items()
        if isinstance(point, Mapping)
    }


def answer_in_original(sample: Sample, response: str) -> Mapping[str, str | None]:
    """The option letters of a response, and its times where they are asked for, in the original's terms."""
    from gnomon_published.benchmarks.gtr_bench.question_view import case_of, read  # late: NumPy

    case = case_of(sample)
    applied: Applied | None = sample.target.get("applied")
    try:
        reading = read(case, response)
    except (ValueError, TypeError, LookupError):  # as the released parser does at some replies
        reading = None
    is_timed = case.task.metric == "ST-IoU"
    if reading is None:
        return {"original_answer": None} | ({"original_times": None} if is_timed else {})
    letters = applied.letters if applied else {}
    answer: dict[str, str | None] = {
        "original_answer": ", ".join(letters.get(letter, letter) for letter in reading.letters)
    }
    if is_timed:
        later_s = NOON_S + (applied.later_s if applied else 0)
        spans = [
            None if span is None else clock_span(span[0] - later_s, span[1] - later_s)
            for span in reading.intervals
        ]
        answer["original_times"] = None if None in spans or not spans else ", ".join(filter(None, spans))
    return answer
