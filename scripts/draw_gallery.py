"""Draws the pictures of docs/gallery.md: what cameras of generated places see, and questions with their maps.

    python scripts/draw_gallery.py

Equal bytes on one machine.
"""

import io
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from gnomon_worlds.families.family_numbers import FamilyNumber
from gnomon_worlds.families.sample_making import FAMILIES, DrawnQuestion, draw_question
from gnomon_worlds.motion.flying import Flight
from gnomon_worlds.motion.sample_making import FLYING, MOTION_TASKS, PER_TOWN, RIDING, draw_motion, tour_of
from gnomon_worlds.motion.tour import Tour
from gnomon_worlds.rendering.clip import Clip, Style, clips_of
from gnomon_worlds.rendering.light import Conditions
from gnomon_worlds.rendering.tour_clip import TourClip
from gnomon_worlds.sample_making import Drawn, draw, map_of
from gnomon_worlds.sample_numbers import CELLS, Number
from gnomon_worlds.world import World

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SEED = 0
SCENES = {  # name: number of the sample, clip, frame with a box, degrees
    "outdoor-vehicle": (14, 0, 1, {}),
    "outdoor-pedestrian": (16, 1, 1, {}),
    "indoor": (5, 0, 1, {}),
    "night": (14, 0, 1, {"night": 0.9}),
    "rain": (28, 0, 3, {"rain": 0.9}),
}
TASKS = (0, 3, 4, 7, 8, 11, 12)  # a sample of each task, towns and buildings in turn
TOUR_SEED, TOURS = 5, {RIDING: 12, FLYING: 7}
ACROSS, FRAMES = 3, 9  # pictures of a tour
WIDTH, MAP, GAP, LINE = 1000, 470, 8, 20
MOST_BYTES = 100_000


def main() -> None:
    """Draw all."""
    for name, (k, clip, frame, degrees) in SCENES.items():
        made = _clips(draw(Number(SEED, k)), Conditions.of(**degrees))[clip]
        _write(f"gallery/{name}", next(made.pictures([made.box_frames[frame]])))
    for k in TASKS:
        scene, task = CELLS[k % len(CELLS)]
        _write(f"gallery/{task}-{scene}", _task_sheet(draw(Number(SEED, k))))
    for number, family in enumerate(FAMILIES):
        scene = family.scenes[number % len(family.scenes)]
        drawn = draw_question(FamilyNumber(family, scene, SEED, 0))
        _write(f"families/{family.task}-{scene}", _family_sheet(drawn))
    for camera, k in TOURS.items():
        tour = tour_of(camera, TOUR_SEED, k // PER_TOWN, k, 0)
        if tour is not None:
            sheet = _below(_tour_frames(tour), _tour_questions(camera, k, tour))
            _write(f"tours/{camera}", sheet, most_bytes=3 * MOST_BYTES)


def _clips(drawn: Drawn, conditions: Conditions) -> tuple[Clip, ...]:
    return clips_of(drawn.question, drawn.world, seed=SEED, style=Style(conditions=conditions))


def _task_sheet(drawn: Drawn) -> Image.Image:
    """The map beside two frames of each clip, the question, its options and the truth below."""
    clips = _clips(drawn, Conditions())
    side = (WIDTH - MAP - 2 * GAP) // 2
    high = side * 9 // 16
    sheet, pen = _with_map(drawn.world, len(clips) * (high + 24))
    for row, clip in enumerate(clips):
        y = row * (high + 24)
        pen.text((MAP + GAP, y + 2), f"Clip {row + 1}, camera {clip.sighting.camera}", "black", _font())
        for column, frame in enumerate(clip.pictures([clip.box_frames[1], clip.box_frames[4]])):
            at = (MAP + GAP + column * (side + GAP), y + 22)
            sheet.paste(frame.resize((side, high), Image.Resampling.LANCZOS), at)
    record = drawn.record
    right = record.get("ground_truth") or " then ".join(
        f"{name}, {time}"
        for name, time in zip(record["correct_cam_name"], record["correct_time_str"], strict=True)
    )
    return _below(sheet, [record["question"], *record["choices"], f"Right: {right}"])


def _family_sheet(drawn: DrawnQuestion) -> Image.Image:
    """The map, what cameras tell beside it, and below the question, its options and the truth."""
    question = drawn.question
    told = [line for text in question.evidence for line in text.splitlines()]
    options = [f"{letter}. {words}" for letter, words in question.by_letter.items()]
    facts = [f"{name}: {value}" for name, value in question.facts.items()]
    sheet, pen = _with_map(drawn.world, LINE * len(told))
    for number, line in enumerate(told):
        pen.text((MAP + GAP, LINE * number), line, "black", _font())
    return _below(sheet, [question.text, *options, f"Right: {question.gold}", *facts])


def _tour_frames(tour: Tour) -> Image.Image:
    """Frames of the clip, evenly over it, with their times."""
    last = len(tour.times_s) - 1
    frames = [round(number * last / (FRAMES - 1)) for number in range(FRAMES)]
    pictures = list(TourClip(tour=tour).pictures(frames))
    width, height = pictures[0].size
    sheet = Image.new("RGB", (width * ACROSS, height * (FRAMES // ACROSS) + GAP), "white")
    pen = ImageDraw.Draw(sheet)
    for number, (frame, picture) in enumerate(zip(frames, pictures, strict=True)):
        x, y = width * (number % ACROSS), height * (number // ACROSS)
        sheet.paste(picture, (x, y))
        pen.text((x + 6, y + 4), f"{tour.times_s[frame]:g} s", "black", _font())
    return sheet


def _tour_questions(camera: str, k: int, tour: Tour) -> Iterator[str]:
    """Every question that is about this tour, or about a part of it."""
    for task in MOTION_TASKS:
        if camera not in task.scenes:
            continue
        drawn = draw_motion(FamilyNumber(task, camera, TOUR_SEED, k))
        is_part = isinstance(tour, Flight) and tour.manoeuvres == getattr(drawn.tour, "manoeuvres", None)
        if drawn.tour.id != tour.id and not is_part:
            continue
        question = drawn.question
        options = "   ".join(f"{letter}. {words}" for letter, words in question.by_letter.items())
        start = f" (its clip starts at {drawn.tour.clock_s:g} s)" if drawn.tour.id != tour.id else ""
        yield f"{task.task}{start}:"
        yield f"{question.whole_text}  {options}  Right: {question.gold}"
        yield ""


def _with_map(world: World, beside: int) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """A sheet with the map at its left, so high that as many pixels fit beside it, and a pen for it."""
    with Image.open(io.BytesIO(map_of(world))) as picture:
        plan = picture.convert("RGB")
    plan.thumbnail((MAP, max(MAP, beside)))
    sheet = Image.new("RGB", (WIDTH, max(plan.height, beside) + 10), "white")
    sheet.paste(plan, (0, 0))
    return sheet, ImageDraw.Draw(sheet)


def _below(picture: Image.Image, texts: Iterable[str]) -> Image.Image:
    """The picture with texts below it."""
    written = (text.replace("→", ">").replace("²", "^2") for text in texts)  # which the font lacks
    lines = [line for text in written for line in textwrap.wrap(text, picture.width // 8) or [""]]
    sheet = Image.new("RGB", (picture.width, picture.height + LINE * len(lines) + 6), "white")
    sheet.paste(picture, (0, 0))
    pen = ImageDraw.Draw(sheet)
    for number, line in enumerate(lines):
        pen.text((4, picture.height + LINE * number), line, "black", _font())
    return sheet


def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(15)


def _write(name: str, image: Image.Image, *, most_bytes: int = MOST_BYTES) -> None:
    """Write a picture as JPEG, as well as so many bytes can show it."""
    for quality in range(88, 20, -6):
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=quality, optimize=True)
        if buffer.tell() < most_bytes:
            break
    (IMAGES / f"{name}.jpg").write_bytes(buffer.getvalue())


if __name__ == "__main__":
    main()
