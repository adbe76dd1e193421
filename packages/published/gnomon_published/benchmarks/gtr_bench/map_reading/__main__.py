"""Measures the reader of maps on a published folder: `python -m` this package, with the folder."""

import sys
import time
from collections import Counter
from pathlib import Path
from typing import TextIO

import numpy as np
from PIL import Image

from gnomon.core.errors import DataError
from gnomon_published.benchmarks.gtr_bench.case import Case
from gnomon_published.benchmarks.gtr_bench.layout import Layout, find_layout, read_cases
from gnomon_published.benchmarks.gtr_bench.map_reading.agreement import Agreement, agreements, sightings
from gnomon_published.benchmarks.gtr_bench.map_reading.reading import MapReading, read_map, read_map_blind
from gnomon_published.benchmarks.gtr_bench.scenes import outdoor_scene


def measure(data: Path, out: TextIO) -> None:
    """Print counts with their denominators, and every failure by its case.

    Raises:
        DataError: `data` does not have the published layout.
    """
    layout = find_layout(data)
    readings: list[tuple[Case, MapReading]] = []
    blind: list[MapReading] = []
    seconds = []
    for case in read_cases(layout)[0]:
        if case.scene == "outdoor" and (picture := _picture(layout, case)) is not None:
            started = time.perf_counter()
            readings.append((case, read_map(picture, outdoor_scene(case).cameras)))
            seconds.append(time.perf_counter() - started)
            blind.append(read_map_blind(picture))
    if not readings:
        print("no outdoor maps", file=out)
        return
    _print_known(readings, seconds, out)
    _print_blind([reading for _, reading in readings], blind, out)
    _print_agreement(
        agreements([sighting for case, reading in readings for sighting in sightings(case, reading)]), out
    )


def _picture(layout: Layout, case: Case) -> Image.Image | None:
    path = layout.map_of(case)
    if path is None:
        return None
    with Image.open(path) as image:
        return image.convert("RGB")


def _print_known(readings: list[tuple[Case, MapReading]], seconds: list[float], out: TextIO) -> None:
    ids = sum(len(reading.cameras) + len(reading.unread) for _, reading in readings)
    print(f"maps: {len(readings)}, {np.median(seconds):.2f} s each (median)", file=out)
    scales = Counter(reading.scale for _, reading in readings)
    for scale, maps in scales.most_common():
        print(f"  {f'{scale.metres_per_pixel:.4f} m/px' if scale else 'no scale bar'}: {maps} maps", file=out)
    print(f"ids named: {ids}, read: {sum(len(reading.cameras) for _, reading in readings)}", file=out)
    for case, reading in readings:
        if reading.unread:
            print(f"  not read: {case.task.short} {case.case_id} {', '.join(reading.unread)}", file=out)


def _print_blind(readings: list[MapReading], blind_readings: list[MapReading], out: TextIO) -> None:
    true_ids = [{camera.camera_id for camera in reading.cameras} for reading in readings]
    blind_ids = [{camera.camera_id for camera in reading.cameras} for reading in blind_readings]
    hits = sum(len(a & b) for a, b in zip(true_ids, blind_ids, strict=True))
    perfect = sum(a == b for a, b in zip(true_ids, blind_ids, strict=True))
    print(
        f"blind: recall {hits} of {sum(map(len, true_ids))}, precision {hits} of {sum(map(len, blind_ids))},"
        f" perfect maps {perfect} of {len(true_ids)}",
        file=out,
    )


def _print_agreement(tied: list[Agreement], out: TextIO) -> None:
    for limit_m in (0.1, 0.5, 1.0):
        near = sum(agreement.residual_m <= limit_m for agreement in tied)
        print(f"same place within {limit_m} m: {near} of {len(tied)} sightings", file=out)
    for limit_deg in (0.5, 2.0):
        near = sum(abs(agreement.turn_deg) <= limit_deg for agreement in tied)
        print(f"same heading within {limit_deg} deg: {near} of {len(tied)} sightings", file=out)
    within = sum(agreement.residual_m <= agreement.sighting.error_m for agreement in tied)
    print(f"within the stated error: {within} of {len(tied)} sightings", file=out)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m gnomon_published.benchmarks.gtr_bench.map_reading DATA")
    try:
        measure(Path(sys.argv[1]), sys.stdout)
    except DataError as error:
        sys.exit(str(error))
