"""Measures frames of 1080p clips, decoded once and reused by every arm, in this process and in another.

    python bench/media.py [--clips 16] [--seconds 10] [--arms 10] [--frames 30] [--folder DIR]

Makes its own clips (H.264, 30 frames a second, 1920 x 1080, panning noise), then asks for the frames of each
as the arms of a job do: all arms of a clip side by side. `--folder` keeps the clips for another run.
"""

import argparse
import multiprocessing
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np

from gnomon.media import MediaStore
from gnomon.media.clips import Clips
from gnomon.media.rules import Uniform

WIDTH, HEIGHT, FPS = 1920, 1080, 30


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (("clips", 16), ("seconds", 10), ("arms", 10), ("frames", 30)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        media = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        paths = [_clip(folder / f"{number:02d}.mp4", number, given.seconds) for number in range(given.clips)]
        each = given.clips * given.frames
        first, later = _ask(paths, media, given.arms, given.frames)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            again, more = pool.apply(_ask, (paths, media, given.arms, given.frames))
        kept = [path for path in media.rglob("*") if path.is_file() and len(path.name) == 64]
        print("who asks | frames asked for | clips decoded | seconds")
        print(f"first arm | {each} | {first.decoded} | {first.seconds:.2f}")
        print(
            f"{given.arms - 1} more arms | {(given.arms - 1) * each} | {later.decoded} | {later.seconds:.2f}"
        )
        decoded, seconds = again.decoded + more.decoded, again.seconds + more.seconds
        print(f"another worker, {given.arms} arms | {given.arms * each} | {decoded} | {seconds:.2f}")
        print(f"{len(kept)} pictures kept, {sum(path.stat().st_size for path in kept) / 1e6:.1f} MB")


@dataclass(slots=True)
class Spent:
    """What asking took: clips that had to be decoded, and seconds."""

    decoded: int = 0
    seconds: float = 0.0


def _ask(paths: list[Path], folder: Path, arms: int, frames: int) -> tuple[Spent, Spent]:
    """What the first arm of each clip took, and all others; the pictures' bytes are read as well."""
    media, first, later = MediaStore(folder), Spent(), Spent()
    clips = Clips(media)
    for path in paths:
        for arm in range(arms):
            spent = later if arm else first
            before, started = clips.decoded, time.perf_counter()
            found = clips.frames(path, Uniform(frames))
            assert len([media.read(image.sha256) for image in found.images]) == frames
            spent.seconds += time.perf_counter() - started
            spent.decoded += clips.decoded - before
    return first, later


def _clip(path: Path, seed: int, seconds: int) -> Path:
    """A clip that pans over smooth noise; kept if it is there."""
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    coarse = np.random.default_rng(seed).integers(
        0, 255, (HEIGHT // 8, WIDTH // 8 + seconds * FPS, 3), np.uint8
    )
    wide = coarse.repeat(8, axis=0).repeat(8, axis=1)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.gop_size = 60
        for number in range(seconds * FPS):
            picture = np.ascontiguousarray(wide[:, 4 * number : 4 * number + WIDTH])
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return path


if __name__ == "__main__":
    main()
