"""Draws docs/images/tours: a ride and a flight over generated towns, each with questions about it.

    python scripts/draw_tours.py

Equal bytes on one machine. docs/gallery.md shows the pictures.
"""

import textwrap
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from gnomon_worlds.families.family_numbers import FamilyNumber
from gnomon_worlds.motion.drawing import FLYING, MOTION_TASKS, PER_TOWN, RIDING, draw_motion, tour_of
from gnomon_worlds.motion.flying import Flight
from gnomon_worlds.motion.tour import Tour
from gnomon_worlds.rendering.tour_clip import TourClip

OUT = Path(__file__).parents[1] / "docs" / "images" / "tours"
SEED = 5
NUMBERS = {RIDING: 12, FLYING: 7}
ACROSS, FRAMES, LINE, COLUMNS = 3, 9, 19, 165
QUALITY = 75


def main() -> None:
    """Draw a sheet a camera: frames of the clip, below them every question that is about it."""
    OUT.mkdir(parents=True, exist_ok=True)
    for camera, k in NUMBERS.items():
        tour = tour_of(camera, SEED, k // PER_TOWN, k, 0)
        if tour is not None:
            _sheet(camera, k, tour).save(OUT / f"{camera}.jpg", quality=QUALITY, optimize=True)


def _sheet(camera: str, k: int, tour: Tour) -> Image.Image:
    lines = []
    for task in MOTION_TASKS:
        if camera not in task.scenes:
            continue
        drawn = draw_motion(FamilyNumber(task, camera, SEED, k))
        is_part = isinstance(tour, Flight) and tour.manoeuvres == getattr(drawn.tour, "manoeuvres", None)
        if drawn.tour.id != tour.id and not is_part:
            continue
        question = drawn.question
        options = "   ".join(f"{letter}. {words}" for letter, words in question.by_letter.items())
        asked = f"{question.whole_text}  {options}  Right: {question.gold}".replace("²", "^2")  # for the font
        start = f" (its clip starts at {drawn.tour.clock_s:g} s)" if drawn.tour.id != tour.id else ""
        lines += [f"{task.task}{start}:", *_wrapped(asked), ""]
    last = len(tour.times_s) - 1
    frames = [round(number * last / (FRAMES - 1)) for number in range(FRAMES)]
    pictures = list(TourClip(tour=tour).pictures(frames))
    width, height = pictures[0].size
    top = height * (FRAMES // ACROSS) + 8
    sheet = Image.new("RGB", (width * ACROSS, top + LINE * len(lines)), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(14)
    for number, (frame, picture) in enumerate(zip(frames, pictures, strict=True)):
        corner = (width * (number % ACROSS), height * (number // ACROSS))
        sheet.paste(picture, corner)
        pen.text((corner[0] + 6, corner[1] + 4), f"{tour.times_s[frame]:g} s", fill="black", font=font)
    for number, line in enumerate(lines):
        pen.text((6, top + LINE * number), line, fill="black", font=font)
    return sheet


def _wrapped(text: str) -> Sequence[str]:
    return textwrap.wrap(text, COLUMNS)


if __name__ == "__main__":
    main()
