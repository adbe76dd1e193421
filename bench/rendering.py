"""Measures what drawing clips costs.

    python -m bench.rendering [--questions 14] [--size 640x360] [--seed 0]

Draws and encodes every clip of the first questions of a seed in this process, and prints CPU seconds by what
they went into, clips a second, and how many questions two cores would do in 120 s.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from gnomon.worlds.drawing import draw
from gnomon.worlds.rendering.clip import Style, clips_of
from gnomon.worlds.rendering.film import film
from gnomon.worlds.sample_numbers import Number

LIMIT_S = 120.0
CORES = 2


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=14)
    parser.add_argument("--size", default="640x360")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    width, height = (int(side) for side in given.size.split("x"))
    spent: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def meter(name: str) -> Iterator[None]:
        started = time.process_time()
        yield
        spent[name] += time.process_time() - started

    clips = frames = size = 0
    for k in range(given.questions):
        with meter("questions"):
            drawn = draw(Number(given.seed, k))
        for clip in clips_of(
            drawn.question, drawn.world, seed=given.seed, style=Style(size_px=(width, height))
        ):
            with meter("others on their way"):
                _ = clip.movers
            with meter("what stands still"):
                next(clip.pictures([0]))
            with meter("frames"):
                pictures = list(clip.pictures())
            with meter("H.264"):
                size += len(film(pictures, clip.times_s))
            clips, frames = clips + 1, frames + len(pictures)
    total_s = sum(spent.values())
    print(f"{given.questions} questions, {clips} clips, {frames} frames of {given.size}, {size / 1e6:.1f} MB")
    print("part | CPU s | CPU ms a clip")
    for name, seconds in spent.items():
        print(f"{name} | {seconds:.2f} | {1000 * seconds / clips:.0f}")
    print(f"all | {total_s:.2f} | {1000 * total_s / clips:.0f}")
    print(f"{clips / total_s:.2f} clips a CPU second, {1000 * spent['frames'] / frames:.1f} ms a frame")
    done = given.questions * CORES * LIMIT_S / total_s
    print(f"{done:.0f} questions with clips in {LIMIT_S:.0f} s on {CORES} cores")


if __name__ == "__main__":
    main()
