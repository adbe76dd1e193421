"""Floors of GTR-Bench: regularities of the questions that no prompt can guard, as rules without a model."""

from gnomon.benchmarks.gtr_bench.audit.plays import floor_plays
from gnomon.core.errors import DataError
from gnomon.core.sample import Sample


def floors_of(sample: Sample) -> dict[str, float]:
    """What each rule that applies gets right of the sample: the option, the camera, or an overlap in time.

    For forecasts the nearest camera is half the answer: it is scored as the camera alone.
    """
    try:
        return {play.shortcut: play.value for play in floor_plays(sample) if play.applies}
    except DataError:  # a prompt that cannot be read has no floors
        return {}
