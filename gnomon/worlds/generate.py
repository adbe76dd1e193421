"""Writes worlds to a folder in GTR-Bench's published layout, with maps and scene files."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import SpecError
from gnomon.worlds.drawing import Drawn, draw, map_of
from gnomon.worlds.sample_numbers import CELLS, Number
from gnomon.worlds.world import World
from tools.scene.format import write_scene

if TYPE_CHECKING:
    from gnomon.worlds.rendering.clip import Style

Progress = Callable[[int, int], None]  # samples done, samples in all


def generate(
    out: Path,
    *,
    seed: int = 0,
    scenes: int | None = None,
    samples: int | None = None,
    clips: "Style | None" = None,
    progress: Progress | None = None,
) -> int:
    """Write the first `samples` questions of `seed` and return how many they are.

    `scenes` is the number of towns and likewise of buildings; questions go round them. Without it every 14
    questions have a town and a building of their own, and then the questions are those of the benchmark.
    Without `samples` there are 14 for each of `scenes`. The folder gets
    `data/{outdoor,indoor}/{scene}_{Task}_{count}.json` and `data/…/map/*.png` as GTR-Bench publishes them,
    and beside each map its scene, `data/…/scenes/*.geojson`, so that `benchmark: gtr-bench` reads it all.
    With `clips` every clip is drawn in that style, as `data/…/clips/*.mp4`.

    Raises:
        SpecError: `out` holds something already, or a number is out of bounds.
    """
    for field, count in (("scenes", scenes), ("samples", samples)):
        if count is not None and count < 1:
            raise SpecError(f"at least 1, got {count}", field=field)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SpecError(f"{out} is there already; name a new or empty folder", field="out")
    total = samples or len(CELLS) * (scenes or 1)
    cases: defaultdict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    written: set[str] = set()
    for k in range(total):
        number = Number(seed, k)
        drawn = draw(number, place=number.round % scenes if scenes else None)
        published = drawn.record if clips is None else _with_clips(out, drawn, number, clips)
        cases[number.scene, number.task_id].append(published)
        if drawn.world.scene.id not in written:
            written.add(drawn.world.scene.id)
            _write_place(out, drawn.world)
        if progress is not None:
            progress(k + 1, total)
    for (scene, task_id), records in cases.items():
        path = out / "data" / scene / f"{scene}_{task_id}_{len(records)}.json"
        path.write_text(json.dumps({"cases": records}, indent=1, ensure_ascii=False), encoding="utf-8")
    return total


def _with_clips(out: Path, drawn: Drawn, number: Number, style: "Style") -> Mapping[str, Any]:
    """Write a question's clips; its record with their paths, as seen from the folder that holds `data`."""
    from gnomon.worlds.rendering.clip import clips_of
    from gnomon.worlds.rendering.film import film

    folder = Path("data") / number.scene / "clips"
    (out / folder).mkdir(parents=True, exist_ok=True)
    images = []
    made = clips_of(drawn.question, drawn.world, seed=number.seed, style=style)
    for order, (clip, image) in enumerate(zip(made, drawn.record["camera_images"], strict=True), start=1):
        path = folder / f"{number.sample_id}-{order}.mp4"
        (out / path).write_bytes(film(clip.pictures(), clip.times_s))
        images.append({**image, "video_path": f"./{path.as_posix()}"})
    return {**drawn.record, "camera_images": images}


def _write_place(out: Path, world: World) -> None:
    scene = world.scene
    folder = out / "data" / scene.kind
    for kind in ("map", "scenes"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    (folder / "map" / f"{scene.id}.png").write_bytes(map_of(world))
    write_scene(scene, folder / "scenes" / f"{scene.id}.geojson")
