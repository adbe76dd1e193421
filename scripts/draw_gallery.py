"""Draws docs/images/gallery: what cameras of generated worlds see, and a question of every task with its map.

    python scripts/draw_gallery.py

Equal bytes on one machine. docs/gallery.md shows the pictures.
"""

import io
import textwrap
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from gnomon_worlds.drawing import Drawn, draw, map_of
from gnomon_worlds.rendering.clip import Clip, Style, clips_of
from gnomon_worlds.rendering.light import Conditions
from gnomon_worlds.sample_numbers import CELLS, Number

OUT = Path(__file__).parents[1] / "docs" / "images" / "gallery"
SEED = 0
SCENES = {  # name: number of the sample, clip, frame with a box, degrees
    "outdoor-vehicle": (14, 0, 1, {}),
    "outdoor-pedestrian": (16, 1, 1, {}),
    "indoor": (5, 0, 1, {}),
    "night": (14, 0, 1, {"night": 0.9}),
    "rain": (28, 0, 3, {"rain": 0.9}),
}
TASKS = (0, 3, 4, 7, 8, 11, 12)  # a sample of each task, towns and buildings in turn
WIDTH, MAP, GAP = 1000, 470, 8
MOST_BYTES = 100_000


def main() -> None:
    """Draw all."""
    OUT.mkdir(parents=True, exist_ok=True)
    for name, (k, clip, frame, degrees) in SCENES.items():
        made = _clips(draw(Number(SEED, k)), Conditions.of(**degrees))[clip]
        _write(name, next(made.pictures([made.box_frames[frame]])))
    for k in TASKS:
        drawn = draw(Number(SEED, k))
        scene, task = CELLS[k % len(CELLS)]
        _write(f"{task}-{scene}", _sheet(drawn))


def _clips(drawn: Drawn, conditions: Conditions) -> tuple[Clip, ...]:
    return clips_of(drawn.question, drawn.world, seed=SEED, style=Style(conditions=conditions))


def _sheet(drawn: Drawn) -> Image.Image:
    """The map beside two frames of each clip, the question and its options below."""
    clips = _clips(drawn, Conditions())
    with Image.open(io.BytesIO(map_of(drawn.world))) as picture:
        plan = picture.convert("RGB")
    frames = [list(clip.pictures([clip.box_frames[1], clip.box_frames[4]])) for clip in clips]
    side = (WIDTH - MAP - 2 * GAP) // 2
    high = side * 9 // 16
    plan.thumbnail((MAP, max(MAP, len(clips) * (high + 24))))
    font = ImageFont.load_default(15)
    lines = _lines(drawn)
    top = max(plan.height, len(clips) * (high + 24)) + 10
    sheet = Image.new("RGB", (WIDTH, top + 20 * len(lines) + 6), "white")
    sheet.paste(plan, (0, 0))
    pen = ImageDraw.Draw(sheet)
    for row, (clip, pair) in enumerate(zip(clips, frames, strict=True)):
        y = row * (high + 24)
        pen.text(
            (MAP + GAP, y + 2), f"Clip {row + 1}, camera {clip.sighting.camera}", fill="black", font=font
        )
        for column, frame in enumerate(pair):
            sheet.paste(
                frame.resize((side, high), Image.Resampling.LANCZOS),
                (MAP + GAP + column * (side + GAP), y + 22),
            )
    for number, line in enumerate(lines):
        pen.text((4, top + 20 * number), line, fill="black", font=font)
    return sheet


def _lines(drawn: Drawn) -> Sequence[str]:
    record = drawn.record
    right = record.get("ground_truth") or " then ".join(
        f"{name}, {time}"
        for name, time in zip(record["correct_cam_name"], record["correct_time_str"], strict=True)
    )
    texts = [record["question"], *record["choices"], f"Right: {right}"]
    return [line.replace("→", ">") for text in texts for line in textwrap.wrap(text, 125)]


def _write(name: str, image: Image.Image) -> None:
    for quality in range(88, 20, -6):
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=quality, optimize=True)
        if buffer.tell() < MOST_BYTES:
            break
    (OUT / f"{name}.jpg").write_bytes(buffer.getvalue())


if __name__ == "__main__":
    main()
