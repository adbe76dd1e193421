"""Draws docs/images/families: a question of every further family on generated worlds, with its map.

    python scripts/draw_families.py

Equal bytes on one machine. docs/gallery.md shows the pictures.
"""

import io
import textwrap
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from gnomon_worlds.drawing import map_of
from gnomon_worlds.families.drawing import FAMILIES, DrawnQuestion, draw_question
from gnomon_worlds.families.family_numbers import FamilyNumber

OUT = Path(__file__).parents[1] / "docs" / "images" / "families"
SEED = 0
WIDTH, MAP, LINE = 1000, 440, 20
QUALITY = 70


def main() -> None:
    """Draw all, towns and buildings in turn."""
    OUT.mkdir(parents=True, exist_ok=True)
    for number, family in enumerate(FAMILIES):
        scene = family.scenes[number % len(family.scenes)]
        drawn = draw_question(FamilyNumber(family, scene, SEED, 0))
        _sheet(drawn).save(OUT / f"{family.task}-{scene}.jpg", quality=QUALITY, optimize=True)


def _sheet(drawn: DrawnQuestion) -> Image.Image:
    """The map, what cameras tell beside it, and below the question, its options and the truth."""
    with Image.open(io.BytesIO(map_of(drawn.world))) as picture:
        plan = picture.convert("RGB")
    plan.thumbnail((MAP, 3 * MAP))
    font = ImageFont.load_default(15)
    question = drawn.question
    told = [line for text in question.evidence for line in text.splitlines()]
    options = [f"{letter}. {words}" for letter, words in question.by_letter.items()]
    facts = [f"{name}: {value}" for name, value in question.facts.items()]
    below = _wrapped([question.text, *options, f"Right: {question.gold}", *facts], 125)
    top = max(plan.height, LINE * len(told)) + 10
    sheet = Image.new("RGB", (WIDTH, top + LINE * len(below) + 6), "white")
    sheet.paste(plan, (0, 0))
    pen = ImageDraw.Draw(sheet)
    for number, line in enumerate(told):
        pen.text((MAP + 10, LINE * number), line, fill="black", font=font)
    for number, line in enumerate(below):
        pen.text((4, top + LINE * number), line, fill="black", font=font)
    return sheet


def _wrapped(texts: Sequence[str], columns: int) -> list[str]:
    return [line for text in texts for line in textwrap.wrap(text, columns)]


if __name__ == "__main__":
    main()
